//! A panic of any thread ends its process with 70, naming the place, and its peer with 75. The processes are children of
//! this one: this very binary, which runs the command line with a fault that is planted.

use rdkafka::ClientConfig;
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tidegate::cli;
use tidegate::cluster;
use tidegate::kafka::mock::MockLogServer;
use tidegate::model::{Coordinates, Offset, TopicPartition};
use tidegate::operator::planted::{Fault, Planted};

/// The arguments of a child, one a line.
const ARGUMENTS: &str = "TIDEGATE_TEST_CHILD";
/// The topic of which partition 1 holds the event that a child panics at; none: it meets no fault.
const PANICS: &str = "TIDEGATE_TEST_PANICS";
const TOPIC: &str = "panics";
const DEADLINE: Duration = Duration::from_secs(60);

/// What a child does. In the other tests' process it has nothing to do.
#[test]
#[allow(clippy::disallowed_methods, reason = "the child ends as the binary does")]
fn child() {
    let Ok(arguments) = std::env::var(ARGUMENTS) else { return };
    let mut process = cli::Process::new(|code| std::process::exit(i32::from(code)));
    if std::env::var_os(PANICS).is_some() {
        process.run = |job, cluster, signals| {
            let at = TopicPartition { topic: 0, partition: 1 };
            let event = Coordinates { at, offset: Offset(5), index: 0 };
            cluster::run_planted(job, Planted::new(Fault::Panic, event, "panics/1/5"), cluster, signals)
        };
    }
    cli::end_on_panic(&process);
    let code = cli::main_with(arguments.lines().map(Into::into), &process);
    std::process::exit(i32::from(code));
}

/// A broker with records, and a job for it.
struct Bench {
    folder: TempDir,
    _broker: MockLogServer,
}

impl Bench {
    fn new() -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let broker = MockLogServer::start().unwrap();
        broker.create_topic(TOPIC, 2).unwrap();
        let database = folder.path().join("shop.sqlite");
        let sqlite = rusqlite::Connection::open(&database).unwrap();
        sqlite.execute_batch("CREATE TABLE journal (k TEXT NOT NULL)").unwrap();
        let servers = broker.bootstrap_servers();
        let job = format!(
            r#"[job]
name = "panics"
key_groups = 4
[source]
bootstrap_servers = "{servers}"
topics = ["{TOPIC}"]
[event]
key = ["@k"]
[event.fields]
k = {{ path = "@k", type = "text" }}
[database]
url = "sqlite:{}"
[[database.steps]]
store = "INSERT INTO journal (k) VALUES (:k)"
"#,
            database.display()
        );
        std::fs::write(folder.path().join("job.toml"), job).unwrap();
        produce(&servers);
        Bench { folder, _broker: broker }
    }

    fn start(&self, arguments: &[&str], panics: bool) -> Child {
        let all = [&["tidegate", "run", "job.toml"], arguments].concat();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "panics::child", "--nocapture"]);
        command.current_dir(self.folder.path()).env(ARGUMENTS, all.join("\n")).env_remove(PANICS);
        if panics {
            command.env(PANICS, "1");
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    fn incident(&self, name: &str) -> serde_json::Value {
        let text = std::fs::read_to_string(self.folder.path().join(name)).expect("an incident file");
        serde_json::from_str(&text).unwrap()
    }
}

#[allow(clippy::disallowed_methods, reason = "who sends the records is no client of Tidegate")]
fn produce(servers: &str) {
    let producer: BaseProducer =
        ClientConfig::new().set("bootstrap.servers", servers).create().expect("a producer");
    for n in 0..20 {
        let (value, key) = (format!("<e k=\"k{n}\"/>"), format!("k{n}"));
        let record = BaseRecord::to(TOPIC).partition(n % 2).key(&key).payload(&value);
        producer.send(record).map_err(|(error, _)| error).unwrap();
    }
    producer.flush(DEADLINE).unwrap();
}

fn code_of(child: &mut Child) -> Option<i32> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        if begun.elapsed() > DEADLINE {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("the process did not end");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn assert_names_the_place(incident: &serde_json::Value) {
    let cause = incident["cause"].as_str().unwrap();
    assert_eq!(
        (&incident["kind"], &incident["exit_code"]),
        (&"internal fault".into(), &70.into()),
        "{cause}"
    );
    assert!(
        cause.contains("a panic at src/operator/planted.rs:") && cause.contains("timely:work-"),
        "{cause}"
    );
}

#[test]
fn a_panic_of_one_worker_ends_the_process_with_70() {
    let bench = Bench::new();
    let mut process = bench.start(&["-w", "2"], true);
    assert_eq!(code_of(&mut process), Some(70));
    assert_names_the_place(&bench.incident("incident-panics.json"));
}

#[test]
fn a_panic_ends_the_peer_with_75() {
    let bench = Bench::new();
    let hosts = bench.folder.path().join("hosts");
    std::fs::write(&hosts, free_hosts()).unwrap();
    let cluster = |process| ["-n", "2", "--hosts", "hosts", "-p", process];
    let mut well = bench.start(&cluster("0"), false);
    let mut panicking = bench.start(&cluster("1"), true);
    assert_eq!(code_of(&mut panicking), Some(70));
    assert_eq!(code_of(&mut well), Some(75));
    assert_names_the_place(&bench.incident("incident-panics-p1.json"));
    let incident = bench.incident("incident-panics.json");
    assert_eq!((&incident["kind"], &incident["exit_code"]), (&"peer lost".into(), &75.into()));
    let cause = incident["cause"].as_str().unwrap();
    assert!(cause.contains("process 1 of the cluster was lost"), "{cause}");
}

/// Two addresses that were free a moment ago.
fn free_hosts() -> String {
    let free: Vec<_> = (0..2).map(|_| std::net::TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    free.iter().map(|listener| format!("{}\n", listener.local_addr().unwrap())).collect()
}
