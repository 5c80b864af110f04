//! The command `parked`, by the program itself, on a ledger in an SQLite file. No Kafka: nothing of it needs one.

use super::sqlite::Sqlite;
use super::world::job_file;
use bytes::Bytes;
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use tempfile::TempDir;
use tidegate::database::{
    Database, JobRow, ParkedAt, ParkedDone, ParkedOutcome, ParkedRow, ParkedState, Session,
};
use tidegate::job::{self, JobSpec};
use tidegate::model::{BatchNumber, Headers, KeyGroup, Offset, Record};
use tidegate::operator::exchange::{key_group_of, key_id_of};

const BINARY: &[u8] = &[0, 255];

/// A job with a ledger in which events are parked.
struct Job {
    file: PathBuf,
    spec: JobSpec,
    sqlite: Sqlite,
    _folder: TempDir,
}

/// What the program has said.
struct Said {
    out: String,
    err: String,
    code: i32,
}

impl Job {
    /// A ledger that knows the job.
    fn new() -> Job {
        let (sqlite, text) = Sqlite::new(&job_file());
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("job.toml");
        std::fs::write(&file, &text).unwrap();
        let spec = job::check("job.toml", &text, &|_| None).unwrap().spec;
        Job { file, spec, sqlite, _folder: folder }
    }

    /// And three keys: K-1 has two events that wait and one that was dropped; K 2 has one, a key that is no text has one.
    fn parked() -> Job {
        let job = Job::new();
        job.make_ledger();
        job.park(&[
            job.event(b"K-1", 1, "server_1406"),
            job.event(b"K-1", 2, "behind"),
            job.event(b"K-1", 3, "behind"),
            job.event(b"K 2", 4, "server_1062"),
            job.event(BINARY, 5, "server_1406"),
        ]);
        assert_eq!(job.run("drop", &["--source", "in-a/0/3", "--execute"]).code, 0);
        job.handle(|_| true);
        job
    }

    fn session<T>(&self, work: impl AsyncFnOnce(&mut dyn Session) -> T) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let mut session = self.sqlite.handle(&self.spec).connect().await.unwrap();
            work(&mut *session).await
        })
    }

    fn make_ledger(&self) {
        let (fingerprint, ledger_id, marked_group) = ("f".to_owned(), "l".to_owned(), String::new());
        let row =
            JobRow { key_groups: self.spec.key_groups, fingerprint, ledger_id, resets: 0, marked_group };
        self.session(async |session| {
            session.create_ledger().await.unwrap();
            session.create_job(&row).await.unwrap();
        });
    }

    fn event(&self, key: &'static [u8], offset: i64, reason: &str) -> ParkedRow {
        let group = key_group_of(key, self.spec.key_groups);
        let headers: Headers = vec![("h".to_owned(), Some(Bytes::from_static(b"v")))];
        let value = Some(Bytes::from(format!("<e>payload {offset}</e>")));
        ParkedRow {
            at: ParkedAt { group, batch: BatchNumber(u64::try_from(offset).unwrap()), place: 0 },
            key_id: key_id_of(key),
            key: Bytes::from_static(key),
            topic: "in-a".to_owned(),
            partition: 0,
            offset: Offset(offset),
            index: 0,
            record: Record { timestamp_ms: Some(1), key: None, headers, value },
            reason: reason.to_owned(),
            detail: "for a person".to_owned(),
            parked_at: format!("2026-01-0{offset}T00:00:00Z"),
            tried_at: "2026-01-09T00:00:00Z".to_owned(),
            tries: u32::from(reason != "behind"),
            state: ParkedState::Waiting,
        }
    }

    fn park(&self, rows: &[ParkedRow]) {
        self.session(async |session| {
            session.begin().await.unwrap();
            session.park(rows).await.unwrap();
            session.commit().await.unwrap();
        });
    }

    /// What a running job does of everything that is marked.
    fn handle(&self, accepts: impl Fn(&ParkedRow) -> bool) {
        handle(&self.sqlite.handle(&self.spec), self.spec.key_groups, &accepts);
    }

    fn run(&self, verb: &str, arguments: &[&str]) -> Said {
        self.run_on(self.file.to_str().unwrap(), verb, arguments)
    }

    fn run_on(&self, file: &str, verb: &str, arguments: &[&str]) -> Said {
        let done = Command::new(env!("CARGO_BIN_EXE_tidegate"))
            .args(["parked", verb, file])
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Said { out: text(done.stdout), err: text(done.stderr), code: done.status.code().unwrap() }
    }

    fn ok(&self, verb: &str, arguments: &[&str]) -> String {
        let said = self.run(verb, arguments);
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
        said.out
    }

    fn json(&self, verb: &str, arguments: &[&str]) -> Vec<Value> {
        let arguments: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
        self.ok(verb, &arguments).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn handle(database: &Arc<dyn Database>, key_groups: u32, accepts: &dyn Fn(&ParkedRow) -> bool) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut session = database.connect().await.unwrap();
        let groups: Vec<KeyGroup> = (0..key_groups).map(KeyGroup).collect();
        for group in session.marked_groups(&groups).await.unwrap() {
            session.begin().await.unwrap();
            let work = session.parked_work(group, 100, usize::MAX).await.unwrap();
            let mut done = Vec::new();
            for row in &work {
                let refused = !accepts(row);
                let (reason, detail, at) =
                    ("server_1048".to_owned(), "again".to_owned(), "2026-02-01T00:00:00Z".to_owned());
                let outcome = match row.state {
                    ParkedState::ToDrop => ParkedOutcome::Dropped { at },
                    _ if refused => ParkedOutcome::Refused { reason, detail, at },
                    _ => ParkedOutcome::Handled,
                };
                done.push(ParkedDone { at: row.at, key_id: row.key_id, outcome });
                if refused {
                    break;
                }
            }
            session.settle_parked(group, &done).await.unwrap();
            session.commit().await.unwrap();
        }
    });
}

/// Handles what is marked, over and over, until it is told to stop.
struct Running {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn start(job: &Job, accepts: fn(&ParkedRow) -> bool) -> Running {
        let over = Arc::new(AtomicBool::new(false));
        let (seen, database, groups) = (Arc::clone(&over), job.sqlite.handle(&job.spec), job.spec.key_groups);
        let thread = std::thread::spawn(move || {
            while !seen.load(Ordering::SeqCst) {
                handle(&database, groups, &accepts);
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        Running { over, thread: Some(thread) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        let ended = self.thread.take().unwrap().join();
        assert!(ended.is_ok() || std::thread::panicking());
    }
}

#[test]
fn list_shows_keys_events_and_what_was_dropped() {
    let job = Job::parked();
    let keys = job.ok("list", &[]);
    for line in [
        "\"K-1\": 2 events, first in-a/0/1 since 2026-01-01T00:00:00Z, tried 1 time: server_1406: for a person",
        "\"K 2\": 1 event, first in-a/0/4 since 2026-01-04T00:00:00Z, tried 1 time: server_1062: for a person",
        "hex 00ff: 1 event, first in-a/0/5 since 2026-01-05T00:00:00Z, tried 1 time: server_1406: for a person",
        "3 keys, 4 events",
    ] {
        assert!(keys.lines().any(|found| found == line), "{line} is not in {keys}");
    }
    let events = job.ok("list", &["--events", "--key", "K-1"]);
    assert_eq!(
        events,
        "in-a/0/1: key \"K-1\", since 2026-01-01T00:00:00Z, tried 1 time: server_1406: for a person\n\
         in-a/0/2: key \"K-1\", since 2026-01-02T00:00:00Z, tried 0 times: behind: for a person\n2 events\n"
    );
    let dropped = job.ok("list", &["--dropped"]);
    assert!(dropped.starts_with("in-a/0/3: key \"K-1\"") && dropped.ends_with("\n1 event\n"), "{dropped}");
    assert!(dropped.contains("dropped 2026-02-01T00:00:00Z"), "{dropped}");
    for said in [keys, events, dropped] {
        assert!(!said.contains("payload"), "{said}");
    }
}

#[test]
fn filters_narrow_and_json_has_one_object_a_line() {
    let job = Job::parked();
    let offsets = |arguments: &[&str]| -> Vec<i64> {
        let arguments: Vec<&str> = arguments.iter().copied().chain(["--events"]).collect();
        let found = job.json("list", &arguments);
        let total = found.last().unwrap();
        assert_eq!((&total["kind"], &total["events"]), (&"total".into(), &(found.len() - 1).into()));
        let mut offsets: Vec<i64> = found.iter().filter_map(|line| line["offset"].as_i64()).collect();
        offsets.sort_unstable();
        offsets
    };
    assert_eq!(offsets(&[]), [1, 2, 4, 5]);
    assert_eq!(offsets(&["--key", "K 2"]), [4]);
    assert_eq!(offsets(&["--key-hex", "00ff"]), [5]);
    assert_eq!(offsets(&["--reason", "server_1406"]), [1, 5]);
    assert_eq!(offsets(&["--since", "2026-01-02T00:00:00Z", "--until", "2026-01-04T01:00:00+01:00"]), [2]);
    assert_eq!(offsets(&["--source", "in-a/0/4"]), [4]);
    let keys = job.json("list", &["--reason", "server_1406"]);
    assert_eq!(keys.len(), 3);
    let first = keys.iter().find(|line| line["key"] == "K-1").unwrap();
    assert_eq!((&first["kind"], &first["events"], &first["mark"]), (&"key".into(), &1.into(), &Value::Null));
    assert_eq!(keys[2], serde_json::json!({ "kind": "total", "keys": 2, "events": 2 }));
}

#[test]
fn what_fits_nothing_says_what_is_parked_instead() {
    let job = Job::parked();
    for verb in ["list", "show", "retry", "drop"] {
        let said = job.ok(verb, &["--reason", "no such"]);
        assert_eq!(
            said,
            "nothing is parked that fits --reason 'no such'; of job \"whole\" are parked 4 events of 3 keys, by reason: \
             server_1406 (2), server_1062 (1), behind (1)\n"
        );
    }
    let empty = Job::new();
    empty.make_ledger();
    assert_eq!(empty.ok("list", &[]), "nothing is parked of job \"whole\"\n");
    assert_eq!(empty.ok("retry", &["--all", "--execute"]), "nothing is parked of job \"whole\"\n");
    assert_eq!(empty.json("list", &[])[0]["events"], 0);
}

#[test]
fn show_has_the_record_whole() {
    let job = Job::parked();
    let text = job.ok("show", &["--key", "K 2"]);
    for part in ["in-a/0/4\n", "server_1062: for a person", "header    \"h\": \"v\"", "\n<e>payload 4</e>\n"]
    {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    let shown = job.json("show", &["--source", "in-a/0/1"]);
    assert_eq!(shown[0]["record"]["value"], "<e>payload 1</e>");
    assert_eq!(shown[0]["record"]["headers"][0]["name"], "h");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("payload.xml");
    let to = file.to_str().unwrap();
    let said = job.ok("show", &["--source", "in-a/0/5", "--payload-to", to]);
    assert!(said.contains("16 bytes written to"), "{said}");
    assert_eq!(std::fs::read(&file).unwrap(), b"<e>payload 5</e>");
    let several = job.run("show", &["--payload-to", to]);
    assert!(several.code == 64 && several.err.contains("several are meant"), "{}", several.err);
    let dropped = job.run("show", &["--source", "in-a/0/3", "--payload-to", to]);
    assert!(dropped.code == 64 && dropped.err.contains("was dropped"), "{}", dropped.err);
    let none = job.run("show", &["--source", "in-a/0/9", "--payload-to", to]);
    assert!(none.code == 64 && none.err.contains("nothing is parked that fits"), "{}", none.err);
    assert_eq!(std::fs::read(&file).unwrap(), b"<e>payload 5</e>");
}

#[test]
fn nothing_is_marked_without_execute() {
    let job = Job::parked();
    let retry = job.ok("retry", &["--reason", "server_1406"]);
    assert!(
        retry.contains("2 keys with 3 events to be tried again, in order: the 2 that the filters fit")
            && retry.contains("--execute does it"),
        "{retry}"
    );
    let drop = job.ok("drop", &["--source", "in-a/0/1"]);
    assert!(
        drop.contains("1 event of 1 key to be dropped")
            && drop.contains("1 event of this key waits on, and `tidegate parked retry ")
            && drop.contains(" --key K-1 --execute` lets them go on"),
        "{drop}"
    );
    for verb in ["retry", "drop"] {
        let all = job.run(verb, &[]);
        assert!(all.code == 64 && all.err.contains("or --all"), "{}", all.err);
        assert_eq!(job.run(verb, &["--all", "--key", "K-1"]).code, 64);
        assert_eq!(job.run(verb, &["--all", "--wait", "1"]).code, 64, "there is nothing to wait for");
    }
    assert!(job.json("list", &[]).iter().all(|line| line["mark"].is_null()));
}

#[test]
fn a_retry_goes_through_or_is_refused_again() {
    let job = Job::parked();
    let marked = job.ok("retry", &["--key", "K-1", "--execute"]);
    assert!(
        marked.contains("marked: 1 key with 2 events") && marked.contains("its next start does"),
        "{marked}"
    );
    assert!(job.ok("list", &["--key", "K-1"]).contains(", to be tried again: "));
    let late = job.run("retry", &["--key", "K-1", "--execute", "--wait", "1"]);
    assert!(
        late.code == 69 && late.out.contains("0 keys free, 0 refused again, 1 still marked"),
        "{}",
        late.out
    );

    let running = Running::start(&job, |row| row.offset != Offset(2));
    let refused = job.run("retry", &["--all", "--execute", "--wait", "20"]);
    assert_eq!(refused.code, 65, "{}{}", refused.out, refused.err);
    let says = "2 keys free, 1 refused again, 0 still marked; refused: \"K-1\": 1 event, first in-a/0/2";
    assert!(refused.out.contains(says), "{}", refused.out);
    drop(running);
    let again = &job.json("list", &["--events"])[0];
    assert_eq!(
        (&again["reason"], &again["tries"]),
        (&"server_1048".into(), &2.into()),
        "once by the first mark"
    );

    let _running = Running::start(&job, |_| true);
    let through = job.run("retry", &["--key", "K-1", "--execute", "--wait"]);
    assert!(through.code == 0 && through.out.contains("1 key free, 0 refused again"), "{}", through.out);
    assert_eq!(job.json("list", &[]).len(), 1);
}

#[test]
fn a_drop_is_of_exactly_what_is_meant() {
    let job = Job::parked();
    let _running = Running::start(&job, |_| true);
    let first = job.run("drop", &["--source", "in-a/0/1", "--execute", "--wait", "20"]);
    assert_eq!(first.code, 0, "{}{}", first.out, first.err);
    assert!(first.out.contains("0 keys free, 1 with events that wait on, 0 still marked"), "{}", first.out);
    assert!(job.ok("list", &["--key", "K-1"]).contains("1 event, first in-a/0/2"));
    let arguments = ["--all", "--execute", "--wait", "20"];
    let all = &job.json("drop", &arguments)[0];
    assert_eq!((&all["verb"], &all["executed"], &all["keys"]), (&"drop".into(), &true.into(), &3.into()));
    assert_eq!(all["waited"], serde_json::json!({ "free": 3, "waiting": 0, "marked": 0 }));
    assert_eq!(job.ok("list", &["--dropped"]).lines().count(), 6);
    assert!(job.ok("list", &[]).starts_with("nothing is parked"));
}

#[test]
fn what_is_not_there_ends_as_a_start_does() {
    let job = Job::new();
    let missing = job.run("list", &[]);
    assert!(missing.code == 78 && missing.err.contains("knows no job \"whole\""), "{}", missing.err);
    job.session(async |session| session.create_ledger().await.unwrap());
    assert_eq!(job.run("list", &[]).code, 78, "the tables are there, and the job is not");
    let connection = job.sqlite.connection();
    connection.execute_batch("UPDATE tidegate_ledger SET version = 2").unwrap();
    let older = job.run("retry", &["--all", "--execute"]);
    assert!(older.code == 78 && older.err.contains("have version 2"), "{}", older.err);
    connection.execute_batch("UPDATE tidegate_ledger SET version = 9").unwrap();
    assert!(job.run("list", &[]).err.contains("another Tidegate"));
    assert_eq!(job.run_on("no/such.toml", "list", &[]).code, 78);
    for wrong in [["--source", "in-a/0"], ["--since", "yesterday"], ["--key-hex", "0g"]] {
        assert_eq!(job.run("list", &wrong).code, 64, "{wrong:?}");
    }
}

/// Many pages, of keys and of events.
#[test]
fn many_are_listed_and_marked_page_by_page() {
    let job = Job::new();
    job.make_ledger();
    let keys: Vec<&'static [u8]> =
        (0..700).map(|key| &*Box::leak(format!("key {key}").into_bytes().into_boxed_slice())).collect();
    let rows: Vec<ParkedRow> = keys
        .iter()
        .flat_map(|key| [1, 2].map(|offset| job.event(key, offset, "behind")))
        .enumerate()
        .map(|(place, row)| ParkedRow {
            at: ParkedAt { place: u32::try_from(place).unwrap(), ..row.at },
            ..row
        })
        .collect();
    job.park(&rows);
    assert!(job.ok("list", &[]).ends_with("\n700 keys, 1400 events\n"));
    assert!(job.ok("list", &["--events"]).ends_with("\n1400 events\n"));
    let drop = job.ok("drop", &["--source", "in-a/0/1", "--execute"]);
    assert!(
        drop.contains("... and 680 more") && drop.contains("700 events of 700 keys to be dropped"),
        "{drop}"
    );
    assert!(drop.contains("700 events of these keys wait on"), "{drop}");
    let marks = |mark: &str| job.json("list", &[]).iter().filter(|line| line["mark"] == mark).count();
    assert_eq!(marks("drop"), 700);
    let to_drop = job.json("list", &["--events"]).iter().filter(|line| line["state"] == "to_drop").count();
    assert_eq!(to_drop, 700);
    let retry = job.ok("retry", &["--all", "--execute"]);
    assert!(retry.contains("marked: 700 keys with 1400 events"), "{retry}");
    assert_eq!(marks("retry"), 700);
}
