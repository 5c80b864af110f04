//! Play: a job over its input from start to end, and everything that it leaves.
//!
//! In:        a job, its records, a database of its own     Out: tables, outputs, dead letters, parked events
//! Order:     records are in one partition and all there before the start; one worker and one connection: events reach the
//!            database in an order that is the same each time. On two workers only per ordering key
//! Not here:  what must be equal (compare)

use super::job::{Job, Way};
use super::schema::Dialect;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::time::Duration;
use tidegate::cluster::{self, Cluster, Ended, Signals};
use tidegate::database::{self, DatabaseError, ParkedWish};
use tidegate::job::{self, JobSpec, SetMode, SetPlan};
use tidegate::kafka::KafkaSetup;
use tidegate::model::Record;
use tidegate::operator::guard::Guard;
use tidegate::operator::planted::Planted;
use tidegate::status::Board;
use tidegate::testing::{Broker, History, Link, LogFaults, MemoryLog};

/// How long a run may take on a machine that is busy with others.
const PATIENCE: Duration = Duration::from_secs(60);

/// Where schemas are made.
pub trait Server: Sync {
    fn dialect(&self) -> Dialect;

    /// An empty schema with what these statements make.
    fn schema(&self, statements: &[String]) -> Box<dyn Place>;
}

/// A schema; dropping it drops it.
pub trait Place {
    fn url(&self) -> String;

    /// A query's rows; `None`: NULL.
    fn rows(&self, query: &str) -> Vec<Vec<Option<String>>>;
}

/// What is made of a plan, to see whether it is found.
pub type Wrong = fn(SetPlan) -> SetPlan;

/// Rows or records in their order.
pub type Lines = Vec<String>;

/// What a run left behind.
#[derive(Debug, Default)]
pub struct Left {
    pub tables: BTreeMap<String, Lines>,
    /// By topic and key.
    pub outputs: BTreeMap<String, Lines>,
    /// By the record's key: source and reason.
    pub dead: BTreeMap<String, Lines>,
    /// By ordering key: source and reason.
    pub parked: BTreeMap<String, Lines>,
    /// What the plan was.
    pub mode: Option<SetMode>,
    /// Of the board.
    pub transactions: u64,
    pub refused: u64,
}

/// Runs it.
///
/// # Errors
/// It did not come to its end: the text says how not.
pub fn play(
    server: &dyn Server,
    job: &Job,
    records: &[Record],
    (way, wrong): (Way, Option<Wrong>),
) -> Result<Left, String> {
    let place = server.schema(&job.schema.statements());
    let url = place.url();
    let environment = |name: &str| (name == "TIDEGATE_DB_URL").then(|| url.clone());
    let checked = job::check("sets.toml", &job.text(way), &environment);
    let spec = Arc::new(checked.map_err(|errors| format!("the job file is wrong: {errors}"))?.spec);
    let broker = Broker::new();
    broker.create_topic("in", 1);
    ["out", "some", "dead"].iter().for_each(|topic| broker.create_topic(topic, 1));
    for record in records {
        broker.produce("in", 0, record.clone());
    }
    let mode = mode(&spec)?;
    let board = run(&spec, &broker, if way == Way::OnTwo { 2 } else { 1 }, wrong)?;
    let mut left = Left {
        tables: tables(&*place, job, server.dialect()),
        mode: Some(mode),
        transactions: board.transactions.get(),
        refused: board.refused.get(),
        ..Left::default()
    };
    sent(&broker, &mut left);
    left.parked = parked(&spec)?;
    Ok(left)
}

fn run(
    spec: &Arc<JobSpec>,
    broker: &Arc<Broker>,
    workers: usize,
    wrong: Option<Wrong>,
) -> Result<Arc<Board>, String> {
    let history: Arc<History> = Arc::default();
    let link = Link::new("run", 0, history);
    let log = MemoryLog::new(Arc::clone(broker), KafkaSetup::from_spec(spec), link, LogFaults::default());
    let board = Arc::new(Board::new(workers));
    let job = cluster::Job {
        spec: Arc::clone(spec),
        log: Arc::new(log),
        database: database::open(&spec.database, &spec.name).map_err(|error| error.message)?,
        board: Arc::clone(&board),
        until_end: true,
        guard: Guard::default(),
    };
    let (sender, end) = sync_channel(1);
    std::thread::spawn(move || {
        let cluster = Cluster { workers, process: 0, hosts: Vec::new() };
        let ended = match wrong.map(Planted::planning) {
            Some(planted) => cluster::run_planted(job, planted, &cluster, &Signals::default()),
            None => cluster::run(job, &cluster, &Signals::default()),
        };
        sender.send(ended).ok();
    });
    match end.recv_timeout(PATIENCE) {
        Ok(Ok(Ended::Drained)) => Ok(board),
        Ok(ended) => Err(format!("it ended: {ended:?}")),
        Err(_) => Err("it does not end".to_owned()),
    }
}

/// Every table, row by row. What the engine counts of MariaDB is not taken back with a transaction, and reserved ahead: there a
/// number is its place among the table's numbers.
fn tables(place: &dyn Place, job: &Job, dialect: Dialect) -> BTreeMap<String, Lines> {
    let queries = job.schema.queries();
    let mut all: BTreeMap<String, Vec<Vec<Option<String>>>> =
        queries.iter().map(|(name, query, _)| (name.clone(), place.rows(query))).collect();
    if dialect == Dialect::MariaDb {
        let of = job.refers.as_ref().and_then(|table| all.get(table));
        let numbers: Vec<String> = of.into_iter().flatten().filter_map(|row| row[0].clone()).collect();
        for (name, _, numbered) in &queries {
            let rows = all.get_mut(name).expect("it was read");
            for (index, row) in rows.iter_mut().enumerate() {
                let r = row.len().min(6 + usize::from(*numbered));
                if *numbered {
                    row[0] = Some(format!("#{index}"));
                }
                if let Some(cell) = row.get_mut(r).filter(|_| name != "told") {
                    *cell = cell.take().map(|number| match numbers.iter().position(|of| *of == number) {
                        Some(index) => format!("#{index}"),
                        None => "of a row that is gone".to_owned(),
                    });
                }
            }
        }
    }
    let shown = |row: Vec<Option<String>>| {
        row.into_iter().map(|cell| cell.unwrap_or_else(|| "NULL".to_owned())).collect::<Vec<_>>().join("|")
    };
    all.into_iter().map(|(name, rows)| (name, rows.into_iter().map(shown).collect())).collect()
}

fn text(bytes: Option<&[u8]>) -> String {
    bytes.map_or_else(|| "none".to_owned(), |bytes| String::from_utf8_lossy(bytes).into_owned())
}

fn sent(broker: &Broker, left: &mut Left) {
    for topic in ["out", "some", "dead"] {
        for one in broker.committed(topic) {
            let header = |name: &str| {
                let found = one.record.headers.iter().find(|(header, _)| header == name);
                found.and_then(|(_, value)| value.as_ref()).map(|value| text(Some(value))).unwrap_or_default()
            };
            let key = text(one.record.key.as_deref());
            let source = header("tidegate-source");
            if topic == "dead" {
                let line = format!("{source} {}: {}", header("tidegate-event"), header("tidegate-reason"));
                left.dead.entry(key).or_default().push(line);
            } else {
                let line = format!("{source}: {}", text(one.record.value.as_deref()));
                left.outputs.entry(format!("{topic} {key:?}")).or_default().push(line);
            }
        }
    }
}

/// Of the plan that the job finds.
fn mode(spec: &JobSpec) -> Result<SetMode, String> {
    asking(async {
        let database = database::open(&spec.database, &spec.name)?;
        let mut session = database.connect().await?;
        Ok(database::set_plan(spec, &mut *session).await?.mode)
    })
}

fn parked(spec: &JobSpec) -> Result<BTreeMap<String, Lines>, String> {
    asking(async {
        let database = database::open(&spec.database, &spec.name)?;
        let mut session = database.connect().await?;
        let mut parked: BTreeMap<String, Lines> = BTreeMap::new();
        for row in session.parked(&ParkedWish::default(), None, usize::MAX, true).await? {
            let line = format!("{}/{}/{}: {}", row.partition, row.offset, row.index, row.reason);
            parked.entry(text(Some(&row.key))).or_default().push(line);
        }
        Ok(parked)
    })
}

fn asking<T>(asked: impl Future<Output = Result<T, DatabaseError>>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(asked).map_err(|error| error.message)
}
