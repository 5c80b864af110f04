//! Arguments: what can be typed.

use crate::model::Offset;
use crate::protocol::reset::Target;
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Runs one pipeline around the clock: Kafka topics, XML to event, database, XML, Kafka topic.
///
/// Events of one key stay in order, nothing is lost, nothing happens twice. When the database or the broker is out, the
/// job holds its place and goes on by itself.
#[derive(Debug, Parser)]
#[command(
    name = "tidegate",
    version,
    max_term_width = 100,
    arg_required_else_help = true,
    after_help = "Begin with `tidegate demo`: a whole job on embedded parts, with a database outage and a proof.\n\
                  Exit codes: 0 done, 64 usage, 65 reject, 69 outage limit, 70 internal fault, 75 peer lost,\n\
                  76 fenced or positions gone, 77 rights, 78 job file or schema."
)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) verb: Verb,
    /// How log lines look on standard error.
    #[arg(long, value_enum, default_value_t = LogFormat::Text, global = true)]
    pub(super) log_format: LogFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Runs a job until it is told to stop (SIGTERM or Ctrl-C: finish, commit, exit 0).
    Run(RunArgs),
    /// Says everything that is wrong with a job file, and with the topics and tables it meets; with --sample, shows what
    /// becomes of documents.
    Check(CheckArgs),
    /// Writes a first job file from sample documents: what is one event, its key, fields with types, child tables, statements.
    New(NewArgs),
    /// Runs a whole job on an embedded broker and SQLite, with a database outage in the middle and a proof at the end.
    Demo(DemoArgs),
    /// Shows a job's effective settings and where each comes from; or, with ERROR, what an error means to it.
    Explain(ExplainArgs),
    /// Shows where a job stands, or moves its positions.
    Offsets(OffsetsArgs),
    /// Shows what is set aside because it cannot be handled, and has it tried again or dropped.
    Parked(ParkedArgs),
    /// Finds what is lost, doubled or out of order, from the topics and the ledger; also while the job runs.
    Verify(VerifyArgs),
    /// Shows what a job has rejected, and sends it back to where it came from.
    DeadLetters(DeadLettersArgs),
}

#[derive(Args, Debug)]
pub(super) struct RunArgs {
    /// The job file.
    pub(super) job: PathBuf,
    /// Worker threads of this process.
    #[arg(short = 'w', long, default_value_t = 1, value_name = "WORKERS", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) workers: u16,
    /// Processes of the cluster.
    #[arg(short = 'n', long, default_value_t = 1, value_name = "PROCESSES", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) processes: u16,
    /// This process's number, from 0.
    #[arg(short = 'p', long, default_value_t = 0, value_name = "INDEX", requires = "hosts")]
    pub(super) process: u16,
    /// A file with one `host:port` a line, one for each process.
    #[arg(long, value_name = "FILE")]
    pub(super) hosts: Option<PathBuf>,
    /// Stop with 0 when everything is handled that the topics held at the start.
    #[arg(long)]
    pub(super) until_end: bool,
    /// Where a halt leaves its `incident-<job>.json` (`incident-<job>-p<INDEX>.json` of processes behind the first).
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub(super) incident_dir: PathBuf,
}

#[derive(Args, Debug)]
pub(super) struct CheckArgs {
    /// The job file.
    pub(super) job: PathBuf,
    /// Ask neither the broker nor the database.
    #[arg(long)]
    pub(super) offline: bool,
    /// Show what becomes of these documents: events, keys, fields, statements with their values, outputs. Payload is shown;
    /// nothing is stored or sent.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(super) sample: Vec<PathBuf>,
    /// The Kafka key that the samples' records have.
    #[arg(long, value_name = "TEXT", requires = "sample")]
    pub(super) key: Option<String>,
    /// A header that the samples' records have; may be given several times.
    #[arg(long, value_name = "NAME=VALUE", requires = "sample", value_parser = super::sample::header)]
    pub(super) header: Vec<(String, String)>,
}

#[derive(Args, Debug)]
pub(super) struct NewArgs {
    /// The job file to write. The schema of its tables is written beside it, with the ending `.sql`.
    pub(super) job: PathBuf,
    /// Documents as the topic has them; the more differ, the better.
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub(super) sample: Vec<PathBuf>,
    /// Match fields with the tables of this database: mysql://, mariadb:// or sqlite:, as `database.url`; `${VAR}` is filled in.
    /// A password is never written into the job file.
    #[arg(long, value_name = "URL")]
    pub(super) database: Option<String>,
    /// Overwrite files that are there.
    #[arg(long)]
    pub(super) force: bool,
}

#[derive(Args, Debug)]
pub(super) struct DemoArgs {
    /// How many events go through.
    #[arg(long, default_value_t = 20_000, value_parser = clap::value_parser!(u64).range(100..=10_000_000))]
    pub(super) events: u64,
    /// End after the proof; without it, and on a terminal, the job stays up until Ctrl-C.
    #[arg(long)]
    pub(super) exit: bool,
}

#[derive(Args, Debug)]
pub(super) struct ExplainArgs {
    /// The job file.
    pub(super) job: PathBuf,
    /// An error code, as a number (1406, -185) or a name (ER_DATA_TOO_LONG, NOT_ENOUGH_REPLICAS, SQLITE_FULL), or an exit code.
    #[arg(allow_negative_numbers = true)]
    pub(super) error: Option<String>,
    /// Give what is known of the error as one JSON object.
    #[arg(long, requires = "error")]
    pub(super) json: bool,
}

#[derive(Args, Debug)]
#[command(arg_required_else_help = true)]
pub(super) struct OffsetsArgs {
    #[command(subcommand)]
    pub(super) what: OffsetsVerb,
}

#[derive(Debug, Subcommand)]
pub(super) enum OffsetsVerb {
    /// Per partition: the ledger's position, the consumer group's, the topic's first and last offset, and the lag.
    Show {
        /// The job file.
        job: PathBuf,
        /// Give the table as one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Moves a job's positions, in the ledger and in the consumer group together. Without --execute it only shows what it
    /// would do.
    Reset(ResetArgs),
}

#[derive(Args, Debug)]
pub(super) struct ResetArgs {
    /// The job file.
    pub(super) job: PathBuf,
    /// Where to: `ledger` (the group follows the ledger), `group` (the ledger follows the group), `earliest`, `latest`,
    /// `time:2026-01-31T12:00:00Z`, or `TOPIC/PARTITION=OFFSET[,...]`.
    #[arg(long, value_name = "WHERE", value_parser = super::offsets::target)]
    pub(super) to: Target,
    /// Only these topics and partitions: `TOPIC[/PARTITION][,...]`.
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = super::offsets::chosen)]
    pub(super) only: Vec<(String, Option<i32>)>,
    /// What becomes of stored outputs of which nobody can say whether Kafka has them: `send` (twice, where it has) or `drop`
    /// (lost, where it has not).
    #[arg(long, value_name = "RULE", value_enum)]
    pub(super) outbox: Option<OutboxRule>,
    /// Do it. An instance of the job that runs is ended (76).
    #[arg(long)]
    pub(super) execute: bool,
    /// Give the result as one JSON object.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum OutboxRule {
    /// They are sent, perhaps a second time.
    Send,
    /// They count as sent.
    Drop,
}

#[derive(Args, Debug)]
#[command(arg_required_else_help = true)]
pub(super) struct ParkedArgs {
    #[command(subcommand)]
    pub(super) what: ParkedVerb,
}

#[derive(Debug, Subcommand)]
pub(super) enum ParkedVerb {
    /// One line per parked key: how many of its events wait, where the first came from and why it is parked.
    List(ParkedListArgs),
    /// Everything about parked events, with headers and payload.
    Show(ParkedShowArgs),
    /// Has keys tried again: their events in order, until one is refused. Without --execute it only shows what it would do.
    Retry(ParkedMarkArgs),
    /// Has events dropped: neither stored nor sent, ever. Without --execute it only shows what it would do.
    Drop(ParkedMarkArgs),
}

/// Which parked events are meant. Each filter narrows.
#[derive(Args, Debug, Default)]
pub(super) struct ParkedFilter {
    /// Of this ordering key. Of a key of several parts: once for each part, in the job file's order; or once, as `list` shows it.
    #[arg(long, value_name = "PART", conflicts_with = "key_hex")]
    pub(super) key: Vec<String>,
    /// Of this ordering key, in hexadecimal digits: for one that is not UTF-8.
    #[arg(long, value_name = "HEX", value_parser = super::parked::hex_bytes)]
    pub(super) key_hex: Option<HexBytes>,
    /// With this reason, as `list` shows it. `behind`: those that only wait for others of their key.
    #[arg(long, value_name = "CODE")]
    pub(super) reason: Option<String>,
    /// Parked at this moment or later: 2026-01-31T12:00:00Z.
    #[arg(long, value_name = "TIME", value_parser = super::parked::moment)]
    pub(super) since: Option<String>,
    /// Parked before this moment.
    #[arg(long, value_name = "TIME", value_parser = super::parked::moment)]
    pub(super) until: Option<String>,
    /// From this record: TOPIC/PARTITION/OFFSET.
    #[arg(long, value_name = "RECORD", value_parser = super::parked::source)]
    pub(super) source: Option<(String, i32, Offset)>,
}

/// Bytes that were typed in hexadecimal digits. (A `Vec<u8>` would be an option that is given several times.)
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HexBytes(pub(super) Vec<u8>);

#[derive(Args, Debug)]
pub(super) struct ParkedListArgs {
    /// The job file.
    pub(super) job: PathBuf,
    #[command(flatten)]
    pub(super) filter: ParkedFilter,
    /// One line per event, in the order in which they were parked.
    #[arg(long)]
    pub(super) events: bool,
    /// The events that were dropped, instead of those that wait.
    #[arg(long)]
    pub(super) dropped: bool,
    /// One JSON object a line.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Args, Debug)]
pub(super) struct ParkedShowArgs {
    /// The job file.
    pub(super) job: PathBuf,
    #[command(flatten)]
    pub(super) filter: ParkedFilter,
    /// Write the record's value into this file, as it was read. Exactly one event must be meant.
    #[arg(long, value_name = "FILE")]
    pub(super) payload_to: Option<PathBuf>,
    /// One JSON object a line.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Args, Debug)]
pub(super) struct ParkedMarkArgs {
    /// The job file.
    pub(super) job: PathBuf,
    #[command(flatten)]
    pub(super) filter: ParkedFilter,
    /// Everything that is parked.
    #[arg(long, conflicts_with_all = ["key", "key_hex", "reason", "since", "until", "source"])]
    pub(super) all: bool,
    /// Do it. The command marks; the running job does the work.
    #[arg(long)]
    pub(super) execute: bool,
    /// Wait until the job has done it, and say how it went: so many seconds at the most.
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_value_t = 0, default_missing_value = "60", requires = "execute")]
    pub(super) wait: u32,
    /// Give the result as one JSON object.
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Args, Debug)]
pub(super) struct VerifyArgs {
    /// The job file.
    pub(super) job: PathBuf,
    /// Give the result as one JSON object.
    #[arg(long)]
    pub(super) json: bool,
    /// How much memory to sort in; what is over it goes to a file in TMPDIR, some 80 bytes an event.
    #[arg(long, value_name = "MIB", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=1_048_576))]
    pub(super) memory: u32,
}

#[derive(Args, Debug)]
#[command(arg_required_else_help = true)]
pub(super) struct DeadLettersArgs {
    #[command(subcommand)]
    pub(super) what: DeadLettersVerb,
}

#[derive(Debug, Subcommand)]
pub(super) enum DeadLettersVerb {
    /// One line for each dead letter, and how many there are of which reason. No payload.
    List {
        /// The job file.
        job: PathBuf,
        #[command(flatten)]
        filter: LetterFilter,
        /// Give one JSON object a line; the last one has the totals.
        #[arg(long)]
        json: bool,
    },
    /// Dead letters in full: the record's headers and its payload.
    Show {
        /// The job file.
        job: PathBuf,
        #[command(flatten)]
        filter: LetterFilter,
        /// Write the payload of the one letter that is meant to this file, as it is.
        #[arg(long, value_name = "FILE", conflicts_with = "json")]
        payload_to: Option<PathBuf>,
        /// Give one JSON object a line.
        #[arg(long)]
        json: bool,
    },
    /// Sends the records of dead letters back to the partitions that they came from, each once, however often it is asked
    /// for or killed. Without --execute it only shows what it would do.
    Replay(ReplayArgs),
}

/// Which dead letters are meant: those that fit everything that is given; all, where nothing is.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct LetterFilter {
    /// Letters of records with this Kafka key.
    #[arg(long, value_name = "KEY")]
    pub(super) key: Option<String>,
    /// Letters with this reason: its stable code, as `field_type`.
    #[arg(long, value_name = "CODE")]
    pub(super) reason: Option<String>,
    /// The letter of the record that lies there.
    #[arg(long, value_name = "TOPIC/PARTITION/OFFSET")]
    pub(super) source: Option<String>,
    /// The letter that lies there in the dead-letter topic.
    #[arg(long, value_name = "PARTITION/OFFSET", value_parser = super::dead_letters::letter_at)]
    pub(super) at: Option<(i32, Offset)>,
    /// Letters of records with this timestamp or a later one: 2026-01-31T12:00:00Z.
    #[arg(long, value_name = "TIME", value_parser = super::dead_letters::moment)]
    pub(super) since: Option<i64>,
    /// Letters of records with a timestamp before this one.
    #[arg(long, value_name = "TIME", value_parser = super::dead_letters::moment)]
    pub(super) until: Option<i64>,
}

#[derive(Args, Debug)]
pub(super) struct ReplayArgs {
    /// The job file.
    pub(super) job: PathBuf,
    #[command(flatten)]
    pub(super) filter: LetterFilter,
    /// Replay no more letters than this. Those that were replayed before do not count, nor those that cannot be.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) at_most: Option<u64>,
    /// Do it. A replay of the same job that runs is ended (76); the job itself is not.
    #[arg(long)]
    pub(super) execute: bool,
    /// Give the result as one JSON object.
    #[arg(long)]
    pub(super) json: bool,
}
