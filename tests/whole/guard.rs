//! A record that ends the process, for real, in whatever way: the next starts find it, set it aside with its reason, and go
//! on. And kills at random moments set nobody aside. The processes are children of this one: this very binary, which runs
//! the command line, with a fault that is planted in what reads a record.

use rdkafka::ClientConfig;
use rdkafka::consumer::{BaseConsumer, Consumer};
use rdkafka::message::{Headers, Message};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tidegate::cli;
use tidegate::cluster;
use tidegate::kafka::mock::MockLogServer;
use tidegate::model::{Coordinates, Offset, TopicPartition};
use tidegate::operator::planted::Planted;
use tidegate::testing::Random;

/// The arguments of a child, one a line.
const ARGUMENTS: &str = "TIDEGATE_TEST_GUARD_CHILD";
/// How a child ends when it reads the culprit; none: it has no fault.
const ENDS: &str = "TIDEGATE_TEST_GUARD_ENDS";
/// What a child that hangs leaves in its folder.
const HANGS: &str = "hangs";
const TOPIC: &str = "guard";
const DEAD: &str = "guard_dead";
/// The culprit: of partition 1.
const OFFSET: i64 = 17;
const DEADLINE: Duration = Duration::from_secs(30);
/// No dead letter.
const NOBODY: [[String; 4]; 0] = [];
const SIGKILL: i32 = 9;
const SIGABRT: i32 = 6;

/// What a child does. In the other tests' process it has nothing to do.
#[test]
#[allow(clippy::disallowed_methods, reason = "the child ends as the binary does")]
fn child() {
    let Ok(arguments) = std::env::var(ARGUMENTS) else { return };
    let mut process = cli::Process::new(|code| std::process::exit(i32::from(code)));
    if std::env::var_os(ENDS).is_some() {
        process.run = |job, cluster, signals| {
            let at = TopicPartition { topic: 0, partition: 1 };
            let event = Coordinates { at, offset: Offset(OFFSET), index: 0 };
            let call = match std::env::var(ENDS).as_deref() {
                Ok("panic") => || panic!("planted"),
                Ok("abort") => || std::process::abort(),
                Ok("overflow") => || assert_ne!(overflow(0), 1),
                Ok("hang") => hang,
                other => panic!("{other:?}"),
            };
            cluster::run_planted(job, Planted::in_hand(event, call), cluster, signals)
        };
    }
    cli::end_on_panic(&process);
    let code = cli::main_with(arguments.lines().map(Into::into), &process);
    std::process::exit(i32::from(code));
}

/// Takes stack until there is none.
#[allow(unconditional_recursion, reason = "the fault that is planted")]
fn overflow(depth: u64) -> u64 {
    let taken = std::hint::black_box([depth; 64]);
    overflow(depth + 1) + taken[63]
}

fn hang() {
    File::create(HANGS).expect("a file in the child's folder");
    loop {
        std::thread::park();
    }
}

/// A child, that is not left behind.
struct Life(Child);

impl Life {
    fn kill(&mut self) -> ExitStatus {
        self.0.kill().unwrap();
        self.0.wait().unwrap()
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        // Ended already, or a test has failed.
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

/// A broker with records, and a job for it.
struct Bench {
    folder: TempDir,
    broker: MockLogServer,
    records: u32,
    lives: usize,
}

impl Bench {
    /// So many records, each of its own key, every other one in partition 1.
    fn new(records: u32) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let broker = MockLogServer::start().unwrap();
        broker.create_topic(TOPIC, 2).unwrap();
        for topic in [DEAD, "tidegate-guard-progress"] {
            broker.create_topic(topic, 1).unwrap();
        }
        let bench = Bench { folder, broker, records, lives: 0 };
        let sqlite = bench.sqlite();
        sqlite.execute_batch("CREATE TABLE journal (n INTEGER NOT NULL, part INTEGER NOT NULL)").unwrap();
        let job = format!(
            r#"[job]
name = "guard"
key_groups = 4
[source]
bootstrap_servers = "{}"
topics = ["{TOPIC}"]
[event]
key = ["@k"]
[event.fields]
n = {{ path = "@n", type = "int64" }}
[database]
url = "sqlite:{}"
[[database.steps]]
store = "INSERT INTO journal (n, part) VALUES (:n, :_partition)"
[rejects]
dead_letter_topic = "{DEAD}"
"#,
            bench.broker.bootstrap_servers(),
            bench.database().display()
        );
        fs::write(bench.folder.path().join("job.toml"), job).unwrap();
        bench.produce();
        bench
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("shop.sqlite")
    }

    fn sqlite(&self) -> rusqlite::Connection {
        let sqlite = rusqlite::Connection::open(self.database()).unwrap();
        sqlite.busy_timeout(DEADLINE).unwrap();
        sqlite
    }

    /// One key a partition: all of it has one order.
    #[allow(clippy::disallowed_methods, reason = "who sends the records is no client of Tidegate")]
    fn produce(&self) {
        let servers = self.broker.bootstrap_servers();
        let producer: BaseProducer =
            ClientConfig::new().set("bootstrap.servers", servers).create().expect("a producer");
        for n in 0..self.records {
            let value = document(n);
            let partition = i32::try_from(n % 2).unwrap();
            let record = BaseRecord::<[u8], str>::to(TOPIC).partition(partition).payload(&value);
            producer.send(record).map_err(|(error, _)| error).unwrap();
            producer.poll(Duration::ZERO);
        }
        producer.flush(DEADLINE).unwrap();
    }

    fn start(&mut self, ends: Option<&str>) -> Life {
        self.lives += 1;
        let log = File::create(self.folder.path().join(format!("log-{}", self.lives))).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "guard::child", "--nocapture"]).env_remove(ENDS);
        command.current_dir(self.folder.path()).env(ARGUMENTS, "tidegate\nrun\njob.toml\n-w\n2\n--until-end");
        command.envs(ends.map(|ends| (ENDS, ends)));
        Life(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap())
    }

    /// A life up to its end by itself.
    fn live(&mut self, ends: Option<&str>) -> ExitStatus {
        let mut child = self.start(ends);
        let begun = Instant::now();
        loop {
            match child.0.try_wait().unwrap() {
                Some(status) => return status,
                None if begun.elapsed() < DEADLINE => std::thread::sleep(Duration::from_millis(5)),
                None => panic!("the process did not end:\n{}", self.log(self.lives)),
            }
        }
    }

    /// A life up to the moment in which the culprit hangs in it; killed there.
    fn live_and_kill(&mut self) -> ExitStatus {
        let marker = self.folder.path().join(HANGS);
        let mut child = self.start(Some("hang"));
        wait_for("the record to hang", || marker.exists().then_some(()));
        fs::remove_file(marker).unwrap();
        child.kill()
    }

    fn log(&self, life: usize) -> String {
        fs::read_to_string(self.folder.path().join(format!("log-{life}"))).unwrap()
    }

    fn note(&self) -> PathBuf {
        self.folder.path().join("guard-guard-0")
    }

    /// The numbers that were stored, by partition, in the order in which they were.
    fn stored(&self, partition: u32) -> Vec<u32> {
        let sqlite = self.sqlite();
        let mut query = sqlite.prepare("SELECT n FROM journal WHERE part = ? ORDER BY rowid").unwrap();
        let rows = query.query_map([partition], |row| row.get(0)).unwrap();
        rows.map(Result::unwrap).collect()
    }

    /// All but these are stored, each once and in order, and the frontier lies behind the last.
    fn assert_all_but(&self, missing: &[u32]) {
        for partition in 0..2 {
            let all = (0..self.records).filter(|n| n % 2 == partition && !missing.contains(n));
            let stored = self.stored(partition);
            let wrong = stored.iter().copied().zip(all.clone()).find(|(found, expected)| found != expected);
            assert_eq!(wrong, None, "the first of partition {partition} that is another one than it must be");
            assert_eq!(stored.len(), all.count(), "partition {partition}");
        }
        let sqlite = self.sqlite();
        let mut query =
            sqlite.prepare("SELECT next_offset FROM tidegate_frontier ORDER BY partition_id").unwrap();
        let frontier: Vec<u32> = query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        assert_eq!(frontier, [self.records.div_ceil(2), self.records / 2]);
    }

    /// Source, reason, detail and value of every dead letter.
    #[allow(clippy::disallowed_methods, reason = "who looks is no client of Tidegate")]
    fn dead_letters(&self) -> Vec<[String; 4]> {
        let consumer: BaseConsumer = ClientConfig::new()
            .set("bootstrap.servers", self.broker.bootstrap_servers())
            .set("group.id", "tests")
            .create()
            .unwrap();
        let (low, high) = consumer.fetch_watermarks(DEAD, 0, DEADLINE).unwrap();
        let mut list = rdkafka::TopicPartitionList::new();
        list.add_partition_offset(DEAD, 0, rdkafka::Offset::Offset(low)).unwrap();
        consumer.assign(&list).unwrap();
        let text = |bytes: Option<&[u8]>| String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned();
        let one = |_| {
            let message = wait_for("a dead letter", || consumer.poll(Duration::from_millis(100))).unwrap();
            let headers = message.headers().unwrap();
            let header = |name| text(headers.iter().find(|header| header.key == name).and_then(|h| h.value));
            [
                header("tidegate-source"),
                header("tidegate-reason"),
                header("tidegate-detail"),
                text(message.payload()),
            ]
        };
        (low..high).map(one).collect()
    }
}

fn document(n: u32) -> String {
    format!("<e k=\"k{}\" n=\"{n}\"/>", n % 2)
}

fn wait_for<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(begun.elapsed() < DEADLINE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Behind these ends the last life goes through: the culprit is set aside with this detail, and all else is stored.
fn assert_set_aside(mut bench: Bench, ends: &str, detail: &str) {
    let note = fs::read_to_string(bench.note()).expect("an unclean end leaves the note");
    let status = bench.live(Some(ends));
    let log = bench.log(bench.lives);
    assert_eq!(status.code(), Some(0), "{log}");
    let culprit = 2 * u32::try_from(OFFSET).unwrap() + 1;
    let source = format!("{TOPIC}/1/{OFFSET}");
    let expected = [source.clone(), "kills_the_process".to_owned(), detail.to_owned(), document(culprit)];
    assert_eq!(bench.dead_letters(), [expected], "{log}");
    bench.assert_all_but(&[culprit]);
    assert!(log.contains("this record ends the process") && log.contains(&source), "{note}\n{log}");
}

#[test]
fn a_panic_while_a_record_is_read_is_known_at_the_third_start() {
    let mut bench = Bench::new(100);
    for life in 1..=2 {
        assert_eq!(bench.live(Some("panic")).code(), Some(70), "{}", bench.log(life));
    }
    assert!(bench.log(2).contains("did not end by itself"), "{}", bench.log(2));
    assert_set_aside(bench, "panic", "the process panicked while this record was being read");
}

#[test]
fn an_abort_and_a_stack_that_runs_out_are_known_at_the_fourth_start() {
    for ends in ["abort", "overflow"] {
        let mut bench = Bench::new(100);
        for life in 1..=3 {
            assert_eq!(bench.live(Some(ends)).signal(), Some(SIGABRT), "{ends}:\n{}", bench.log(life));
        }
        assert!(bench.log(3).contains("ended with this record in hand"), "{}", bench.log(3));
        let detail = "the process ended 2 times in a row while this record was being read";
        assert_set_aside(bench, ends, detail);
    }
}

#[test]
fn a_record_that_hangs_until_somebody_kills_the_process_is_known_at_the_fourth_start() {
    let mut bench = Bench::new(100);
    for _ in 0..3 {
        assert_eq!(bench.live_and_kill().signal(), Some(SIGKILL));
    }
    let detail = "the process ended 2 times in a row while this record was being read";
    assert_set_aside(bench, "hang", detail);
}

#[test]
fn where_the_rule_is_halt_the_halt_says_what_to_do_and_goes_on_saying_it() {
    let mut bench = Bench::new(100);
    let file = bench.folder.path().join("job.toml");
    let job = fs::read_to_string(&file).unwrap().replace("[rejects]\n", "[rejects]\nunreadable = \"halt\"\n");
    fs::write(&file, job).unwrap();
    for _ in 0..2 {
        assert_eq!(bench.live(Some("panic")).code(), Some(70));
    }
    for life in 3..=4 {
        assert_eq!(bench.live(Some("panic")).code(), Some(65), "{}", bench.log(life));
        let incident = fs::read_to_string(bench.folder.path().join("incident-guard.json")).unwrap();
        for part in ["kills_the_process", "guard/1/17", "delete ./guard-guard-0 and start again"] {
            assert!(incident.contains(part), "{part}: {incident}");
        }
    }
    // As the halt says, where the record is innocent.
    fs::remove_file(bench.note()).unwrap();
    assert_eq!(bench.live(None).code(), Some(0));
    bench.assert_all_but(&[]);
    assert_eq!(bench.dead_letters(), NOBODY);
    assert!(!bench.note().exists(), "a clean end takes the note away");
}

#[test]
fn kills_at_random_moments_set_nobody_aside() {
    let mut bench = Bench::new(20_000);
    let mut random = Random::new(20);
    let mut struck = 0;
    for life in 1..=10 {
        let mut child = bench.start(None);
        // The first life is an ordinary one; in all others the note names a record from the first one on.
        wait_for("records to be read", || {
            let ended = child.0.try_wait().unwrap();
            assert!(ended.is_none(), "life {life} ended by itself: {ended:?}\n{}", bench.log(life));
            let note = fs::read_to_string(bench.note()).unwrap_or_default();
            let of_this_life = note.contains(&format!("unclean {}\n", life - 1));
            (of_this_life && (life == 1 || note.contains(" read guard/"))).then_some(())
        });
        std::thread::sleep(Duration::from_millis(random.below(100)));
        child.kill();
        let log = bench.log(life);
        assert_eq!(log.contains("did not end by itself"), life > 1, "{log}");
        struck += usize::from(log.contains("ended with this record in hand"));
    }
    assert_eq!(bench.live(None).code(), Some(0), "{}", bench.log(11));
    bench.assert_all_but(&[]);
    assert_eq!(bench.dead_letters(), NOBODY, "{struck} had a strike");
    assert!(bench.log(11).contains("so many unclean ends in a row") || struck > 0, "{}", bench.log(11));
}
