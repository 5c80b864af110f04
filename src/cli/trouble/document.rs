//! `docs/trouble.md`: written from the tables. A test fails when it is not what they say, and writes it anew where
//! `TIDEGATE_WRITE_DOCS` is set.

use super::exits::EXITS;
use super::{Class, Engine, Entry};
use crate::database::ErrorClass;
use crate::kafka::LogErrorClass;
use std::fmt::Write;
use std::path::Path;

const INTRODUCTION: &str = "\
# Trouble

<!-- Written from the tables of codes by a test: TIDEGATE_WRITE_DOCS=1 cargo test --lib cli::trouble::document -->

What a job does when a database or a broker gives an error: first by class, then by code. `tidegate explain JOB ERROR` says the
same of one code (a number, or a name in any spelling) with the settings of one job. A job that holds or halts names the code
in its message. Why it is so: [decision 0008](decisions/0008-classes-of-errors.md).

## Classes

| class | means | what the job does | exit code |
| --- | --- | --- | --- |
";

/// Class, meaning, what the job does, exit code.
const CLASSES: [(Class, &str, &str, &str); 9] = [
    (
        Class::Database(ErrorClass::Outage),
        "the server is not there, or cannot do it now",
        "holds: keeps its place with flat memory, asks again, goes on by itself from the event that met it",
        "69 after `outage.limit_s`",
    ),
    (
        Class::Database(ErrorClass::Contention),
        "somebody else was in the way",
        "rolls the transaction back and runs it again: at once, then in smaller ones and with pauses of up to 100 ms; a lock that somebody keeps for 10 s is shown as an outage with the record that needs it",
        "",
    ),
    (
        Class::Database(ErrorClass::Reject),
        "this event can never be stored as it is",
        "by `rejects.refused`: parks it with every later one of its key (the default), sends it to the dead letters, discards it, or halts; all other events of its transaction go through",
        "65",
    ),
    (
        Class::Log(LogErrorClass::TooLarge),
        "this output is over a limit of Kafka's",
        "by `rejects.too_large`, the same four, before anything of it is stored; where the limit was lowered while the job ran, it halts, and sends it at the next start",
        "65",
    ),
    (
        Class::Database(ErrorClass::Misconfigured),
        "the job does not fit the schema, the topics or the servers",
        "halts as soon as it meets it, at a start or with the first event that needs what is missing (`check` finds that before). Where it is not let in at all, after 10 s of nothing else",
        "78",
    ),
    (
        Class::Database(ErrorClass::Rights),
        "the account may not do this",
        "halts as soon as it meets it, at a start or with the first event that needs what is missing (`check` finds that before). Where it is not let in at all, or may not send to Kafka any more, after 10 s of nothing else",
        "77",
    ),
    (
        Class::Log(LogErrorClass::Fenced),
        "a newer producer has the transactional id",
        "asks the ledger: another instance's: halts; its own still: builds a new producer and goes on",
        "76",
    ),
    (
        Class::Log(LogErrorClass::PositionGone),
        "the log does not have a position that is needed",
        "halts: it never jumps to another one by itself",
        "76",
    ),
    (
        Class::Database(ErrorClass::Unknown),
        "no table knows the code",
        "as an outage, and an alarm in the log: it may be something that never passes by itself",
        "69 after `outage.limit_s`",
    ),
];

const RIGHTS_THAT_FLAP: &str = "
A server that comes back may refuse for a moment: a replica whose accounts are not there yet, a proxy that is being configured.
So a job that runs and cannot log in any more holds, and halts only when it was refused for 10 s without a break. A statement
or record that is refused on a connection that works halts at once.

## Exit codes, and what a supervisor does

| exit code | means | start it again by itself? |
| --- | --- | --- |
";

const SUPERVISORS: &str = "
A job that is started again after a code that says no ends with the same code at once, or, with 76, ends the instance that took
over. What a person does about each code: [operating](operating.md#a-halt).

### systemd

    [Unit]
    Description=Tidegate job orders
    After=network-online.target
    Wants=network-online.target
    StartLimitIntervalSec=0

    [Service]
    ExecStart=/usr/local/bin/tidegate --log-format json run orders/job.toml -w 2
    WorkingDirectory=/var/lib/tidegate
    User=tidegate
    Restart=on-failure
    RestartSec=5
    RestartPreventExitStatus=NO_RESTART
    SuccessExitStatus=0
    KillSignal=SIGTERM
    TimeoutStopSec=120
    LimitNOFILE=65536

    [Install]
    WantedBy=multi-user.target

`KillSignal=SIGTERM` drains; what is not drained after `TimeoutStopSec` is killed, and looked up at the next start. The incident
file of a halt lies in `WorkingDirectory`.

### Kubernetes

A `Deployment` starts its container again whatever its exit code; set `replicas: 1` and `strategy: {type: Recreate}`, or the new
pod ends the old one with 76. Let `--incident-dir` name a volume (an `emptyDir` will do): a container that is started again has a new
file system, and would not know [which record ended it](operating.md#a-record-that-ends-the-process). Codes that say no show as `CrashLoopBackOff`, with the cause in the log. Where they must stay down,
run it as a `Job` with this policy:

    spec:
      backoffLimit: 1000000
      podFailurePolicy:
        rules:
          - action: FailJob
            onExitCodes:
              operator: In
              values: [NO_RESTART_LIST]
      template:
        spec:
          restartPolicy: Never
          terminationGracePeriodSeconds: 120
";

const CODES: &str = "
## Codes

**Bold** codes are provoked on a real MariaDB, SQLite or Kafka by a test, which sees the class that stands here. The others
are believed, by the servers' own documents. A code that stands nowhere is *unknown*.
";

fn render() -> String {
    let mut out = INTRODUCTION.to_owned();
    for (class, means, does, exit) in CLASSES {
        writeln!(out, "| {} | {means} | {does} | {exit} |", class.as_str()).unwrap();
    }
    out.push_str(RIGHTS_THAT_FLAP);
    for exit in EXITS {
        let restart = if exit.restart { "yes" } else { "no" };
        writeln!(out, "| {} | {} | {restart}: {} |", exit.code, exit.means, exit.why).unwrap();
    }
    let stay_down = EXITS.iter().filter(|exit| !exit.restart && exit.code != 0);
    let stay_down: Vec<String> = stay_down.map(|exit| exit.code.to_string()).collect();
    out.push_str(
        &SUPERVISORS
            .replace("NO_RESTART_LIST", &stay_down.join(", "))
            .replace("NO_RESTART", &stay_down.join(" ")),
    );
    out.push_str(CODES);
    for engine in Engine::ALL {
        writeln!(
            out,
            "\n### {engine}\n\n| code | class | means | what a person does |\n| --- | --- | --- | --- |"
        )
        .unwrap();
        for row in rows(engine) {
            let [first, ..] = &row[..] else { continue };
            let codes: Vec<String> = row.iter().map(code).collect();
            let (class, means, advice) = (first.class.as_str(), cell(first.sentence), cell(first.advice));
            writeln!(out, "| {} | {class} | {means} | {advice} |", codes.join(", ")).unwrap();
        }
    }
    out
}

/// Codes that mean the same, together, in the order in which they first stand there.
fn rows(engine: Engine) -> Vec<Vec<Entry>> {
    let mut rows: Vec<Vec<Entry>> = Vec::new();
    for entry in engine.entries() {
        let alike = |row: &&mut Vec<Entry>| {
            row.iter().any(|of| {
                (of.sentence, of.advice, of.class.as_str())
                    == (entry.sentence, entry.advice, entry.class.as_str())
            })
        };
        match rows.iter_mut().find(alike) {
            Some(row) => row.push(entry),
            None => rows.push(vec![entry]),
        }
    }
    rows
}

fn code(entry: &Entry) -> String {
    let bold = if entry.seen { "**" } else { "" };
    format!("{bold}{}{bold} {}", entry.number, entry.name)
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[test]
fn the_document_says_what_the_tables_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/trouble.md");
    let rendered = render();
    if std::env::var_os("TIDEGATE_WRITE_DOCS").is_some() {
        std::fs::write(&path, &rendered).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = written.lines().zip(rendered.lines()).find(|(is, should)| is != should);
    assert!(
        written == rendered,
        "docs/trouble.md is not what the tables say (first difference: {differs:?}): set TIDEGATE_WRITE_DOCS=1 and run \
         this test again"
    );
}

#[test]
fn every_class_of_the_tables_is_explained() {
    for entry in Engine::ALL.iter().flat_map(|engine| engine.entries()) {
        let explained = CLASSES.iter().any(|(class, ..)| class.as_str() == entry.class.as_str());
        assert!(explained, "{}", entry.class.as_str());
    }
}
