//! The job's tables and the real ledger in an SQLite file.

use super::instance::PATIENCE;
use rusqlite::Connection;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tidegate::database::{self, Database, ErrorClass, ParkedKey, ParkedWish, Session};
use tidegate::job::JobSpec;
use tidegate::model::{KeyGroup, Value};
use tidegate::testing::{KeyRow, ParkedTables, StoredRow, Tables};

/// A file.
pub struct Sqlite {
    path: PathBuf,
    _folder: TempDir,
}

impl Sqlite {
    /// Makes the job's tables; gives the job file that goes with them.
    pub fn new(job_file: &str) -> (Sqlite, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("whole.db");
        let connection = Connection::open(&path).unwrap();
        connection
            .execute_batch(
                "PRAGMA journal_mode = WAL;
                 CREATE TABLE who (id TEXT PRIMARY KEY, name TEXT NOT NULL);
                 CREATE TABLE journal (entry INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT, number INTEGER, name TEXT,
                                       topic TEXT, part INTEGER, place INTEGER);",
            )
            .unwrap();
        for key in (0..100).step_by(2) {
            let row = (format!("k{key}"), format!("name of k{key}"));
            connection.execute("INSERT INTO who (id, name) VALUES (?, ?)", row).unwrap();
        }
        let url = format!("sqlite:{}", path.display());
        let job_file =
            job_file.replace("mysql://nobody@127.0.0.1:9/whole", &url).replace("connections = 4\n", "");
        (Sqlite { path, _folder: folder }, job_file)
    }

    /// Any job's tables.
    pub fn with_schema(statements: &[String]) -> Sqlite {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("whole.db");
        let connection = Connection::open(&path).unwrap();
        connection.execute_batch("PRAGMA journal_mode = WAL").unwrap();
        for statement in statements {
            connection.execute_batch(statement).unwrap();
        }
        Sqlite { path, _folder: folder }
    }

    /// As a job file names it.
    pub fn url(&self) -> String {
        format!("sqlite:{}", self.path.display())
    }

    pub fn handle(&self, spec: &JobSpec) -> Arc<dyn Database> {
        database::open(&spec.database, &spec.name).unwrap()
    }

    /// Past the seam.
    pub fn connection(&self) -> Connection {
        Connection::open(&self.path).unwrap()
    }

    pub fn wait_for_rows(&self, rows: usize, wait: Duration) {
        let until = Instant::now() + wait;
        while self.rows().len() < rows && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub fn tables(&self, spec: &JobSpec) -> Tables {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let groups: Vec<KeyGroup> = (0..spec.key_groups).map(KeyGroup).collect();
        runtime.block_on(async {
            let mut session = self.connect(spec).await;
            session.create_ledger().await.unwrap();
            let outbox = session.outbox(&groups).await.unwrap();
            let positions = session.positions().await.unwrap();
            let frontier = session.frontier().await.unwrap();
            Tables {
                topics: session.topics().await.unwrap().into_iter().map(|row| (row.topic, row.id)).collect(),
                resets: session.resets().await.unwrap(),
                rows: self.rows(),
                outbox: outbox.into_iter().map(|row| ((row.group, row.batch), row.outputs)).collect(),
                positions: positions.into_iter().map(|row| (row.group, row)).collect(),
                frontier: frontier.into_iter().map(|row| ((row.topic, row.partition), row.next)).collect(),
                job: session.job_row().await.unwrap(),
                parked: parked(&mut *session).await,
            }
        })
    }

    /// The file has one lock, and under load the job's commits keep it for longer than one attempt waits.
    async fn connect(&self, spec: &JobSpec) -> Box<dyn Session> {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.handle(spec).connect().await {
                Err(error) if error.class == ErrorClass::Outage && Instant::now() < until => {}
                connected => return connected.unwrap(),
            }
        }
    }

    fn rows(&self) -> Vec<StoredRow> {
        let connection = Connection::open(&self.path).unwrap();
        connection.busy_timeout(Duration::from_secs(5)).unwrap();
        let mut rows = connection
            .prepare("SELECT entry, id, number, name, topic, part, place FROM journal ORDER BY entry")
            .unwrap();
        let read = rows.query_map([], |row| {
            Ok(StoredRow {
                id: u64::try_from(row.get::<_, i64>(0)?).unwrap(),
                step: 1,
                row: vec![
                    Value::Text(row.get(1)?),
                    Value::Int(row.get(2)?),
                    row.get::<_, Option<String>>(3)?.map_or(Value::Null, Value::Text),
                    Value::Text(row.get(4)?),
                    Value::Int(row.get(5)?),
                    Value::Int(row.get(6)?),
                ],
            })
        });
        read.unwrap().map(Result::unwrap).collect()
    }
}

async fn parked(session: &mut dyn Session) -> ParkedTables {
    let all = ParkedWish::default();
    let events = session.parked(&all, None, usize::MAX, true).await.unwrap();
    let keys = session.parked_by_key(&all, None, usize::MAX).await.unwrap();
    let key = |of: ParkedKey| {
        (of.first.key_id, KeyRow { group: of.first.at.group, key: of.first.key, mark: of.mark })
    };
    ParkedTables {
        events: events.into_iter().map(|row| (row.at, row)).collect(),
        keys: keys.into_iter().map(key).collect(),
    }
}
