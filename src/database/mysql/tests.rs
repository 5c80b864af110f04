//! What MariaDB alone does: its types, its locks, its errors, and going away. Every code here is provoked for real.

use super::MySql;
use super::session::MySqlSession;
use crate::database::conformance::fixture::{Fixture, decimal, error, lookup, runtime, store, text};
use crate::database::conformance::server::Server;
use crate::database::{Advance, Database, DatabaseError, ErrorClass, Session, open};
use crate::job::{DatabaseKind, Secret, Step};
use crate::model::{BatchNumber, Date, Incarnation, KeyGroup, Timestamp, Value, Zone};
use bytes::Bytes;
use mysql_async::prelude::Queryable;
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

async fn session(fixture: &Fixture, steps: Vec<Step>) -> MySqlSession {
    MySql::new(&fixture.spec(steps), "orders").unwrap().open().await.unwrap()
}

async fn variable(session: &mut MySqlSession, sql: &str) -> String {
    session.conn.query_first(sql).await.unwrap().unwrap()
}

fn write(group: u32, batch: u64, confirmed: Option<u64>) -> Advance {
    Advance {
        group: KeyGroup(group),
        incarnation: Incarnation(1),
        batch: BatchNumber(batch),
        positions: "p".to_owned(),
        outbox: Some(b"o".to_vec()),
        confirmed: confirmed.map(BatchNumber),
    }
}

#[test]
fn sessions_are_alike_whatever_the_server_says() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        let mut session = session(&fixture, Vec::new()).await;
        assert_eq!(variable(&mut session, "SELECT @@tx_isolation").await, "READ-COMMITTED");
        assert_eq!(variable(&mut session, "SELECT @@time_zone").await, "+00:00");
        assert_eq!(variable(&mut session, "SELECT @@character_set_client").await, "utf8mb4");
        assert_eq!(variable(&mut session, "SELECT @@character_set_results").await, "utf8mb4");
        assert!(variable(&mut session, "SELECT @@sql_mode").await.contains("STRICT_ALL_TABLES"));
        assert_eq!(variable(&mut session, "SELECT @@max_statement_time").await, "31.000000");
        assert!(session.server.bulk);
        // Over TCP, never by a socket that the driver found on its own.
        let host = "SELECT host FROM information_schema.processlist WHERE id = connection_id()";
        assert!(variable(&mut session, host).await.starts_with("127.0.0.1:"));
    });
}

#[test]
fn every_type_is_read_alike_one_by_one_and_by_many() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        fixture
            .sql(
                "CREATE TABLE v (id INT PRIMARY KEY, dec65 DECIMAL(65,30), zf DECIMAL(10,2) ZEROFILL, i1 TINYINT, \
                 u8 BIGINT UNSIGNED, f FLOAT, d DOUBLE, dt DATETIME(6), ts TIMESTAMP(3) NULL, day DATE, t TIME(2), y YEAR, \
                 bits BIT(10), bin BINARY(3), bl BLOB, tx TEXT, e ENUM('a','b'), js JSON, ch CHAR(4), st SET('x','y')) \
                 DEFAULT CHARSET=utf8mb4",
            )
            .await;
        for id in 1..=6 {
            fixture
                .sql(&format!(
                    "INSERT INTO v VALUES ({id}, -12345678901234567890123456789012345.123456789012345678901234567890, \
                     12.5, -1, 18446744073709551615, 0.1, 0.1, '2024-02-29 23:59:58.000120', '2024-03-01 00:00:00.5', \
                     '1000-01-01', '-101:02:03.5', 2155, b'1000000001', 'ab', x'00ff', 'ü🦀', 'b', '{{\"a\": 1}}', 'x', 'x,y')"
                ))
                .await;
        }
        let names = [
            "dec65", "zf", "i1", "u8", "f", "d", "dt", "ts", "day", "t", "y", "bits", "bin", "bl", "tx", "e", "js", "ch",
            "st",
        ];
        let sql = format!("SELECT {} FROM v WHERE id = ?", names.join(", "));
        let date = |year, month, day| Date { year, month, day };
        let expected = vec![
            decimal("-12345678901234567890123456789012345.123456789012345678901234567890"),
            decimal("12.50"),
            Value::Int(-1),
            Value::UInt(u64::MAX),
            Value::Float(0.1),
            Value::Float(0.1),
            Value::Timestamp(Timestamp {
                date: date(2024, 2, 29),
                hour: 23,
                minute: 59,
                second: 58,
                micros: 120,
                zone: Zone::Local,
            }),
            Value::Timestamp(Timestamp {
                date: date(2024, 3, 1),
                hour: 0,
                minute: 0,
                second: 0,
                micros: 500_000,
                zone: Zone::Utc,
            }),
            Value::Date(date(1000, 1, 1)),
            text("-101:02:03.5"),
            Value::Int(2155),
            Value::Bytes(Bytes::from_static(&[2, 1])),
            Value::Bytes(Bytes::from_static(b"ab\0")),
            Value::Bytes(Bytes::from_static(&[0, 0xff])),
            text("ü🦀"),
            text("b"),
            text("{\"a\": 1}"),
            text("x"),
            text("x,y"),
        ];
        let mut session = session(&fixture, vec![lookup(&sql, &names)]).await;
        let mut wrapped = 0;
        for n in [1, 5] {
            let rows: Vec<_> = (1..=n).map(|id| vec![Value::Int(id)]).collect();
            for found in session.lookup(0, &rows).await.unwrap() {
                let found = found.unwrap();
                for ((found, expected), name) in found.iter().zip(&expected).zip(names) {
                    // The session's time zone is the administrator's for the INSERT: the instant may differ by hours.
                    match (name, found) {
                        ("ts", Value::Timestamp(at)) => assert_eq!((at.zone, at.micros), (Zone::Utc, 500_000)),
                        _ => assert_eq!(found, expected, "{name} of {n}"),
                    }
                }
            }
            wrapped = session.plans[0].as_ref().unwrap().forms();
        }
        eprintln!("forms for many rows: {wrapped}");
    });
}

#[test]
fn a_lookup_that_cannot_be_wrapped_still_answers() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        fixture.sql("CREATE TABLE c (id INT PRIMARY KEY, name VARCHAR(9))").await;
        fixture.sql("INSERT INTO c VALUES (1,'a'), (2,'b'), (3,'c'), (4,'d'), (5,'e')").await;
        let steps = vec![
            lookup("SELECT a.id, b.id, a.name FROM c a JOIN c b ON a.id = b.id WHERE a.id = ?", &["name"]),
            lookup("SELECT name FROM c WHERE id = ? FOR UPDATE", &["name"]),
            lookup("SELECT name FROM c WHERE id = ?", &["name"]),
        ];
        let mut session = session(&fixture, steps).await;
        let rows: Vec<_> = (1..=6).map(|id| vec![Value::Int(id)]).collect();
        let expected: Vec<_> = ["a", "b", "c", "d", "e"].iter().map(|n| Some(vec![text(n)])).chain([None]).collect();
        for (step, forms) in [(0, 0), (1, 0), (2, 3)] {
            assert_eq!(session.lookup(step, &rows).await.unwrap(), expected);
            assert_eq!(session.plans[step].as_ref().unwrap().forms(), forms);
        }
    });
}

#[test]
fn rows_of_mixed_types_keep_their_values_and_order() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        fixture.sql("CREATE TABLE t (n BIGINT AUTO_INCREMENT PRIMARY KEY, v VARCHAR(30), d DECIMAL(20,0))").await;
        let mut session = session(&fixture, vec![store("INSERT INTO t (v, d) VALUES (?, ?)")]).await;
        let rows = [
            vec![Value::Int(-5), Value::Int(-5)],
            vec![Value::UInt(u64::MAX), Value::UInt(u64::MAX)],
            vec![Value::Null, Value::Int(-6)],
            vec![text("x"), Value::Null],
            vec![text("y"), decimal("12")],
        ];
        session.begin().await.unwrap();
        session.store(0, &rows).await.unwrap();
        session.commit().await.unwrap();
        let found = fixture.column("SELECT CONCAT(COALESCE(v, '-'), ' ', COALESCE(d, '-')) FROM t ORDER BY n").await;
        assert_eq!(found, ["-5 -5", "18446744073709551615 18446744073709551615", "- -6", "x -", "y 12"]);
    });
}

#[test]
fn a_row_over_the_servers_limit_is_a_reject_and_large_batches_are_not() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        fixture.sql("CREATE TABLE t (raw LONGBLOB)").await;
        let mut session = session(&fixture, vec![store("INSERT INTO t (raw) VALUES (?)")]).await;
        let limit = session.server.packet_bytes_max;
        let of = |bytes: usize| vec![Value::Bytes(Bytes::from(vec![7; bytes]))];
        session.begin().await.unwrap();
        let refused = error(session.store(0, &[of(1), of(limit)]).await);
        assert_eq!((refused.class, refused.row, refused.broken), (ErrorClass::Reject, Some(1), false), "{refused}");
        session.store(0, &[of(limit / 3), of(limit / 3), of(limit / 3), of(limit / 3)]).await.unwrap();
        session.commit().await.unwrap();
        assert_eq!(fixture.column("SELECT COUNT(*) FROM t").await, ["4"]);
    });
}

/// Statements that fail, with what they must be taken for.
const PROVOKED: [(&str, i64, ErrorClass); 21] = [
    ("INSERT INTO t (id, name) VALUES (1, 'SECRET')", 1062, ErrorClass::Reject),
    ("INSERT INTO t (id, name) VALUES (2, 'SECRET too long')", 1406, ErrorClass::Reject),
    ("INSERT INTO t (id, name, n) VALUES (2, 'a', 30000)", 1264, ErrorClass::Reject),
    ("INSERT INTO t (id, name, n) VALUES (2, 'a', 'SECRET')", 1366, ErrorClass::Reject),
    ("INSERT INTO t (id, name, day) VALUES (2, 'a', 'SECRET')", 1292, ErrorClass::Reject),
    ("INSERT INTO t (id, name, day) VALUES (2, 'a', '0000-00-00')", 1292, ErrorClass::Reject),
    ("INSERT INTO t (id, name, e) VALUES (2, 'a', 'SECRET')", 1265, ErrorClass::Reject),
    ("INSERT INTO t (id, name) VALUES (2, '🦀')", 1366, ErrorClass::Reject),
    ("INSERT INTO t (id, name) VALUES (2, NULL)", 1048, ErrorClass::Reject),
    ("INSERT INTO t (id) VALUES (2)", 1364, ErrorClass::Reject),
    ("INSERT INTO t (id, name, parent) VALUES (2, 'a', 99)", 1452, ErrorClass::Reject),
    ("DELETE FROM t WHERE id = 1", 1451, ErrorClass::Reject),
    ("INSERT INTO t (id, name, n) VALUES (2, 'a', -1)", 4025, ErrorClass::Reject),
    ("UPDATE t SET n = 18446744073709551615 + id", 1690, ErrorClass::Reject),
    ("UPDATE t SET n = id / 0", 1365, ErrorClass::Reject),
    ("INSERT INTO t (id, name) VALUES (3, 'sig')", 1644, ErrorClass::Reject),
    ("INSERT INTO nowhere (id) VALUES (1)", 1146, ErrorClass::Misconfigured),
    ("INSERT INTO t (nome) VALUES (1)", 1054, ErrorClass::Misconfigured),
    ("INSERT INTO t (id, name) VALUES (1)", 1136, ErrorClass::Misconfigured),
    ("INSERT INTOO t VALUES (1)", 1064, ErrorClass::Misconfigured),
    ("INSERT INTO t (id, name) VALUES (2, no_such_function())", 1305, ErrorClass::Misconfigured),
];

#[test]
fn refusals_have_their_class_and_no_value() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        fixture
            .sql(
                "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(6) NOT NULL, n SMALLINT CHECK (n >= 0), day DATE, \
                 e ENUM('a'), parent INT REFERENCES t (id)) CHARSET=latin1",
            )
            .await;
        fixture.sql("INSERT INTO t (id, name, parent) VALUES (1, 'a', NULL), (5, 'b', 1)").await;
        fixture
            .sql(
                "CREATE TRIGGER tr BEFORE INSERT ON t FOR EACH ROW \
                 IF NEW.name = 'sig' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'SECRET'; END IF",
            )
            .await;
        for (sql, code, class) in PROVOKED {
            let mut session = session(&fixture, vec![store(sql)]).await;
            session.begin().await.unwrap();
            let refused = error(session.store(0, &[Vec::new()]).await);
            assert_eq!((refused.code, refused.class), (Some(code), class), "{sql}: {refused}");
            assert!(!refused.broken && !refused.rolled_back, "{sql}: {refused}");
            assert!(!refused.message.contains("SECRET"), "{sql}: {refused}");
            session.rollback().await.unwrap();
        }
    });
}

#[test]
fn rights_that_lack_are_named() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        fixture.sql("CREATE TABLE t (id INT)").await;
        let account = fixture.schema().to_owned();
        let server = fixture.server();
        server
            .admin(&[
                &format!("REVOKE ALL ON {account}.* FROM {account}"),
                &format!("GRANT SELECT ON {account}.t TO {account}"),
            ])
            .await;
        let mut reader = session(&fixture, vec![store("INSERT INTO t (id) VALUES (?)")]).await;
        let refused = error(reader.store(0, &[vec![Value::Int(1)]]).await);
        assert_eq!((refused.code, refused.class), (Some(1142), ErrorClass::Rights), "{refused}");
        let findings = reader.check_statements().await.unwrap();
        assert!(findings.len() == 1 && findings[0].message.contains("1142"), "{findings:?}");
        let ledger = error(reader.create_ledger().await);
        assert_eq!(ledger.class, ErrorClass::Rights);
        assert!(ledger.message.contains("tidegate_position") && ledger.message.contains("tidegate check"), "{ledger}");
        drop(reader);
        server.admin(&[&format!("ALTER USER {account} IDENTIFIED BY 'other'")]).await;
        let refused = error(fixture.open(Vec::new()).connect().await);
        assert_eq!((refused.code, refused.class, refused.broken), (Some(1045), ErrorClass::Rights, true), "{refused}");
        assert!(!format!("{refused:?}").contains("pass'"));
    });
}

#[test]
fn a_schema_that_is_not_there_is_misconfigured() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        let mut spec = fixture.spec(Vec::new());
        if let DatabaseKind::MySql { database, user, password, .. } = &mut spec.kind {
            database.push_str("_not");
            "root".clone_into(user);
            *password = fixture.server().admin.pass().map(|pass| Secret(pass.to_owned()));
        }
        let refused = error(open(&spec, "orders").unwrap().connect().await);
        assert_eq!((refused.code, refused.class), (Some(1049), ErrorClass::Misconfigured), "{refused}");
    });
}

#[test]
fn a_lock_that_is_held_and_a_deadlock_are_contention() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        fixture.sql("CREATE TABLE t (id INT PRIMARY KEY, v INT)").await;
        fixture.sql("INSERT INTO t VALUES (1, 0), (2, 0)").await;
        let steps = || vec![store("UPDATE t SET v = v + 1 WHERE id = ?")];
        let (mut one, mut two) = (session(&fixture, steps()).await, session(&fixture, steps()).await);
        let row = |id| vec![vec![Value::Int(id)]];
        let first = row(1);
        let second = row(2);
        one.begin().await.unwrap();
        one.store(0, &first).await.unwrap();
        two.begin().await.unwrap();
        two.store(0, &second).await.unwrap();
        two.conn.query_drop("SET SESSION innodb_lock_wait_timeout = 1").await.unwrap();
        let waited = error(two.store(0, &first).await);
        assert_eq!((waited.code, waited.class), (Some(1205), ErrorClass::Contention), "{waited}");
        assert!(!waited.broken && !waited.rolled_back);
        // Crossed: one waits for two, and two asks for what one has.
        two.conn.query_drop("SET SESSION innodb_lock_wait_timeout = 20").await.unwrap();
        let crossing = tokio::spawn(async move {
            let done = one.store(0, &row(2)).await;
            (one, done)
        });
        let other = two.store(0, &first).await;
        let (mut one, crossed) = match other {
            Err(_) => {
                two.rollback().await.unwrap();
                crossing.await.unwrap()
            }
            Ok(()) => {
                two.rollback().await.unwrap();
                crossing.await.unwrap()
            }
        };
        let deadlock = error(other.and(crossed));
        assert_eq!((deadlock.code, deadlock.class), (Some(1213), ErrorClass::Contention), "{deadlock}");
        assert!(deadlock.rolled_back && !deadlock.broken);
        one.rollback().await.unwrap();
    });
}

#[test]
fn key_groups_of_two_sessions_never_wait_for_each_other() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        let mut one = session(&fixture, Vec::new()).await;
        let mut two = session(&fixture, Vec::new()).await;
        one.create_ledger().await.unwrap();
        one.claim(&[1, 2, 3, 4].map(KeyGroup)).await.unwrap();
        for session in [&mut one, &mut two] {
            session.conn.query_drop("SET SESSION innodb_lock_wait_timeout = 1").await.unwrap();
        }
        for batch in 1..=4 {
            let before = (batch > 1).then(|| batch - 1);
            one.begin().await.unwrap();
            two.begin().await.unwrap();
            // Group 1 has nothing new in the outbox: the row behind its confirmed one is group 2's.
            let mut quiet = write(1, batch, before);
            quiet.outbox = if batch % 2 == 1 { quiet.outbox } else { None };
            assert!(two.advance(&[write(2, batch, before), write(4, batch, before)]).await.unwrap());
            assert!(one.advance(&[quiet, write(3, batch, before)]).await.unwrap());
            one.commit().await.unwrap();
            two.commit().await.unwrap();
        }
        let left = one.outbox(&[1, 2, 3, 4].map(KeyGroup)).await.unwrap();
        let left: Vec<_> = left.iter().map(|row| (row.group.0, row.batch.0)).collect();
        assert_eq!(left, [(2, 4), (3, 4), (4, 4)]);
    });
}

#[test]
fn a_killed_connection_is_an_outage() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        let mut victim = session(&fixture, Vec::new()).await;
        victim.create_ledger().await.unwrap();
        victim.begin().await.unwrap();
        let kill = format!("KILL {}", victim.conn.id());
        fixture.server().admin(&[&kill]).await;
        let gone = loop {
            match victim.probe().await {
                // The server ends a connection when it looks at it next.
                Ok(()) => tokio::task::yield_now().await,
                Err(error) => break error,
            }
        };
        assert_eq!((gone.class, gone.broken), (ErrorClass::Outage, true), "{gone}");
        assert_eq!(error(victim.commit().await).class, ErrorClass::Outage);
        fixture.session(Vec::new()).await.probe().await.unwrap();
    });
}

#[test]
fn a_server_that_never_answers_is_an_outage_in_time() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut spec = Fixture::sqlite().spec(Vec::new());
    spec.kind = DatabaseKind::MySql {
        host: "127.0.0.1".to_owned(),
        port: silent.local_addr().unwrap().port(),
        user: "app".to_owned(),
        password: None,
        password_file: None,
        database: "shop".to_owned(),
    };
    runtime().block_on(async {
        let mut database = MySql::new(&spec, "orders").unwrap();
        database.connect_deadline = Duration::from_millis(100);
        let frozen = error(database.connect().await);
        assert_eq!((frozen.class, frozen.broken), (ErrorClass::Outage, true));
        assert!(frozen.message.contains("no answer within 100ms"), "{frozen}");
        drop(silent);
        let refused = error(database.connect().await);
        assert_eq!((refused.class, refused.broken), (ErrorClass::Outage, true));
        assert!(refused.message.contains("refused"), "{refused}");
    });
}

/// On a server of its own, since it is made unfit for everybody.
#[test]
fn outages_of_the_whole_server() {
    let server = Arc::new(Server::start(&["--max-connections=10", "--max-heap-table-size=16384"]));
    Fixture::on(Arc::clone(&server)).run(|fixture: Arc<Fixture>| async move {
        let mut held = session(&fixture, vec![store("INSERT INTO m VALUES (?)")]).await;
        held.create_ledger().await.unwrap();
        held.probe().await.unwrap();

        server.admin(&["SET GLOBAL read_only = 1"]).await;
        let read_only = error(held.probe().await);
        assert_eq!((read_only.code, read_only.class), (Some(1290), ErrorClass::Outage), "{read_only}");
        assert!(read_only.broken);
        assert_eq!(error(held.claim(&[KeyGroup(1)]).await).class, ErrorClass::Outage);
        server.admin(&["SET GLOBAL read_only = 0"]).await;
        held.probe().await.unwrap();

        fixture.sql("CREATE TABLE m (v CHAR(200)) ENGINE=MEMORY").await;
        let rows = vec![vec![text("x")]; 200];
        let full = error(held.store(0, &rows).await);
        assert_eq!((full.code, full.class), (Some(1114), ErrorClass::Outage), "{full}");

        let database = fixture.open(Vec::new());
        let mut taken = Vec::new();
        let full: DatabaseError = loop {
            match database.connect().await {
                Ok(session) => taken.push(session),
                Err(error) => break error,
            }
        };
        assert_eq!((full.code, full.class, full.broken), (Some(1040), ErrorClass::Outage, true), "{full}");
        drop(taken);

        held.begin().await.unwrap();
        server.stop();
        let gone = error(held.commit().await);
        assert_eq!((gone.class, gone.broken), (ErrorClass::Outage, true), "{gone}");
        let refused = error(database.connect().await);
        assert_eq!((refused.class, refused.broken), (ErrorClass::Outage, true), "{refused}");
    });
}
