//! Streams of events by the plan of their job and one by one, on SQLite: tables, outputs and fates are the same.

use super::attempt::{Run, steps};
use super::lane::{Failure, Work};
use super::*;
use crate::database::{Onlooker, open, set_plan};
use crate::job::{SetMode, check};
use crate::model::{Body, Incarnation, Offset, Places, Reading, Record, TopicPartition, Value};
use crate::protocol::gate::Batch;
use std::path::Path;

/// How two runs are told apart, and a small source of chance.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

const TABLES: &str = "CREATE TABLE orders (id TEXT PRIMARY KEY COLLATE NOCASE, c TEXT NOT NULL, n INTEGER NOT NULL CHECK (n < 9));
    CREATE TABLE customer (id TEXT PRIMARY KEY, n INTEGER NOT NULL);
    INSERT INTO customer VALUES ('c0', 0), ('c1', 1), ('c2', 2);
    CREATE TABLE log (no INTEGER PRIMARY KEY, id TEXT NOT NULL, c TEXT UNIQUE, seen INTEGER);
    CREATE TABLE line (id TEXT NOT NULL REFERENCES orders (id), no INTEGER NOT NULL, PRIMARY KEY (id, no));";

const OLD: &str = "name = \"old\"\nmissing = \"null\"\nlookup = \"SELECT n, c FROM orders WHERE id = :id\"";
const ASK: &str = "name = \"who\"\nlookup = \"SELECT n FROM customer WHERE id = :c\"";
const PUT: &str = "store = \"INSERT INTO orders (id, c, n) VALUES (:id, :c, :n) ON CONFLICT (id) DO UPDATE SET n = n + excluded.n, c = excluded.c\"";
const LOG: &str = "store = \"INSERT INTO log (id, c) VALUES (:id, :c)\"";
const NOTE: &str = "store = \"INSERT INTO log (id, seen) VALUES (:id, :old.n)\"";
const COUNT: &str = "store = \"UPDATE customer SET n = n + 1 WHERE id = :c\"";
const LAST: &str = "name = \"last\"\nmissing = \"null\"\nlookup = \"SELECT MAX(no) AS no FROM log\"";
const LINE: &str = "store = \"INSERT INTO line (id, no) VALUES (:id, :n)\"";
const SOME: &str = "name = \"old\"\nwhen = \":n > 2\"\nmissing = \"null\"\nlookup = \"SELECT n, c FROM orders WHERE id = :id\"";

fn job(path: &Path, steps: &[&str], together: bool) -> JobSpec {
    let steps: String = steps.iter().map(|step| format!("[[database.steps]]\n{step}\n")).collect();
    let text = format!(
        "[job]\nname = \"j\"\n[source]\nbootstrap_servers = \"a:1\"\ntopics = [\"t\"]\n[event]\nkey = [\"@id\"]\n[event.fields]\n\
         id = {{ path = \"@id\", type = \"text\" }}\nc = {{ path = \"@c\", type = \"text\" }}\n\
         n = {{ path = \"@n\", type = \"int64\" }}\n[rejects]\nrefused = \"park\"\nmissing_lookup = \"discard\"\n\
         [database]\nurl = \"sqlite:{}\"\ntogether = {together}\n{steps}",
        path.display()
    );
    check("job.toml", &text, &|_| None).unwrap_or_else(|errors| panic!("{errors}")).spec
}

fn event(index: i64, id: &str, c: &str, n: i64) -> Queued {
    let at = Coordinates { at: TopicPartition { topic: 0, partition: 0 }, offset: Offset(index), index: 0 };
    let values = vec![Value::Text(id.to_owned()), Value::Text(c.to_owned()), Value::Int(n)];
    let reading = Reading { values, lists: Vec::new(), marks: Vec::new(), element: None };
    let event = Event {
        at,
        last_of_record: true,
        key_group: KeyGroup(0),
        key: id.to_owned().into_bytes().into(),
        record: Arc::new(Record { timestamp_ms: None, key: None, headers: Default::default(), value: None }),
        body: Body::Readable(reading),
    };
    Queued { epoch: Default::default(), event, weight_bytes: 0 }
}

fn transaction(chance: &mut Chance) -> Transaction<Queued> {
    let ids = ["a", "b", "B", "a ", "c", "\u{e4}", "d", "e"];
    let events = (0..chance.below(24)).map(|index| {
        let id = ids[usize::try_from(chance.below(8)).unwrap()];
        // c3 is nobody.
        let c = format!("c{}", if chance.below(8) == 0 { 3 } else { chance.below(3) });
        event(i64::try_from(index).unwrap(), id, &c, i64::try_from(chance.below(5)).unwrap())
    });
    of_events(events.collect())
}

fn of_events(events: Vec<Queued>) -> Transaction<Queued> {
    Transaction {
        batches: vec![Batch {
            group: KeyGroup(0),
            number: BatchNumber(1),
            incarnation: Incarnation(1),
            events,
            waiting: Vec::new(),
            is_retry: false,
            places: Places::default(),
            confirmed: None,
            cleared: BatchNumber(0),
        }],
    }
}

/// What the tables hold behind it, and what became of the events.
fn outcome(
    host: &Host,
    runtime: &tokio::runtime::Runtime,
    list: &[&str],
    transaction: &Transaction<Queued>,
    together: bool,
) -> (SetMode, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    Onlooker::open(&path).unwrap().execute(TABLES).unwrap();
    let spec = Arc::new(job(&path, list, together));
    let database = open(&spec.database, "j").unwrap();
    runtime.block_on(async {
        let mut session = database.connect().await.unwrap();
        let plan = Arc::new(set_plan(&spec, &mut *session).await.unwrap());
        let mode = plan.mode;
        let work = Work::alone(Arc::clone(&spec), plan, Arc::clone(&database), host);
        let mut run = Run::new(&work, transaction);
        for _ in 0..100 {
            session.begin().await.unwrap();
            match steps(&work, &mut session, &mut run).await {
                Ok(()) => {
                    session.commit().await.unwrap();
                    break;
                }
                Err(Failure::Again) => session.rollback().await.unwrap(),
                Err(_) => panic!("{list:?}: neither through nor again"),
            }
        }
        drop(session);
        let looked: Vec<String> = run.events.iter().enumerate().map(|(index, looked)| match run.fates.of(index) {
            Some(fate) => format!("{fate:?}"),
            None => format!("{:?}", looked.rows),
        }).collect();
        let onlooker = Onlooker::open(&path).unwrap();
        let mut all = looked.join("\n");
        for query in [
            "SELECT id || ',' || c || ',' || n FROM orders ORDER BY id, c",
            "SELECT id || ',' || n FROM customer ORDER BY id",
            "SELECT no || ',' || id || ',' || coalesce(c, '-') || ',' || coalesce(seen, '-') FROM log ORDER BY no",
            "SELECT id || ',' || no FROM line ORDER BY id, no",
        ] {
            let mut rows = Vec::new();
            onlooker.each(query, |row| rows.push(row)).unwrap();
            all.push_str(&format!("\n{query}: {rows:?}"));
        }
        (mode, all)
    })
}

#[test]
fn sets_have_the_outcome_of_one_by_one() {
    let runtime =
        Arc::new(tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap());
    let host = Host::real(Arc::clone(&runtime));
    let jobs: &[(&[&str], SetMode)] = &[
        (&[ASK, PUT], SetMode::Together),
        (&[PUT, LOG], SetMode::Together),
        (&[LOG, ASK, PUT], SetMode::Together),
        (&[OLD, PUT], SetMode::Waves),
        (&[SOME, PUT, COUNT], SetMode::Waves),
        (&[OLD, PUT, ASK, COUNT], SetMode::Waves),
        (&[PUT, OLD, LINE], SetMode::Waves),
        (&[OLD, PUT, NOTE], SetMode::WavesInOrder),
        (&[SOME, PUT, LOG], SetMode::WavesInOrder),
        (&[LAST, LOG, PUT], SetMode::OneByOne),
    ];
    let mut chance = Chance(7);
    for (list, wanted) in jobs {
        for _ in 0..12 {
            let transaction = transaction(&mut chance);
            let (mode, by_plan) = outcome(&host, &runtime, list, &transaction, true);
            let (_, one_by_one) = outcome(&host, &runtime, list, &transaction, false);
            assert_eq!(mode, *wanted, "{list:?}");
            assert_eq!(by_plan, one_by_one, "{list:?} {mode:?}");
        }
    }
}

/// What the customer's look-up finds before and behind a change by somebody else, in transactions of their own.
fn around_a_change(host: &Host, runtime: &tokio::runtime::Runtime, ask: &str) -> Vec<Option<Vec<Value>>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let onlooker = Onlooker::open(&path).unwrap();
    onlooker.execute(TABLES).unwrap();
    let spec = Arc::new(job(&path, &[ask, NOTE_N], true));
    let database = open(&spec.database, "j").unwrap();
    runtime.block_on(async {
        let mut session = database.connect().await.unwrap();
        let plan = Arc::new(set_plan(&spec, &mut *session).await.unwrap());
        let work = Work::alone(Arc::clone(&spec), plan, Arc::clone(&database), host);
        let mut found = Vec::new();
        for (turn, c) in [(0, "c1"), (1, "c1"), (2, "c2"), (3, "c9"), (4, "c9")] {
            let transaction = of_events(vec![event(turn, "a", c, 0)]);
            let mut run = Run::new(&work, &transaction);
            session.begin().await.unwrap();
            assert!(steps(&work, &mut session, &mut run).await.is_ok());
            session.commit().await.unwrap();
            found.push(run.events[0].rows[0].clone());
            if turn == 0 {
                onlooker.execute("UPDATE customer SET n = n + 10").unwrap();
            }
            if turn == 3 {
                onlooker.execute("INSERT INTO customer VALUES ('c9', 9)").unwrap();
            }
        }
        found
    })
}

const NOTE_N: &str = "store = \"INSERT INTO log (id, seen) VALUES (:id, :who.n)\"";

#[test]
fn a_row_is_kept_for_as_long_as_the_job_file_says_and_its_absence_never() {
    let runtime =
        Arc::new(tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap());
    let host = Host::real(Arc::clone(&runtime));
    let ask = "name = \"who\"\nmissing = \"null\"\nlookup = \"SELECT n FROM customer WHERE id = :c\"";
    let row = |n: i64| Some(vec![Value::Int(n)]);
    let each_time = around_a_change(&host, &runtime, ask);
    assert_eq!(each_time, [row(1), row(11), row(12), None, row(9)]);
    let kept = around_a_change(&host, &runtime, &format!("{ask}\ncache_s = 3600"));
    assert_eq!(kept, [row(1), row(1), row(12), None, row(9)]);
}
