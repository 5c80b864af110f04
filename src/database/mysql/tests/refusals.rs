//! Statements that a server refuses: each provoked for real, each with its class, none with a value in its text.

use super::{met, session};
use crate::database::conformance::fixture::{Fixture, error, store};
use crate::database::{ErrorClass, Session};
use std::sync::Arc;

/// What the statements are about. The first two lines' tables hold rows.
const SCHEMA: [&str; 24] = [
    "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(6) NOT NULL, n SMALLINT CHECK (n >= 0), day DATE, e ENUM('a'), \
     parent INT REFERENCES t (id)) CHARSET=latin1",
    "INSERT INTO t (id, name, parent) VALUES (1, 'a', NULL), (5, 'b', 1)",
    "CREATE TABLE two (id INT PRIMARY KEY, x DOUBLE, g GEOMETRY, twice INT AS (id * 2))",
    "INSERT INTO two (id) VALUES (1), (2)",
    "CREATE TABLE part (id INT) PARTITION BY RANGE (id) \
     (PARTITION a VALUES LESS THAN (10), PARTITION b VALUES LESS THAN (20))",
    "CREATE VIEW few AS SELECT id, name FROM t WHERE id < 3 WITH CHECK OPTION",
    "CREATE VIEW counted AS SELECT COUNT(*) AS c FROM t",
    "CREATE VIEW more AS SELECT id, id + 1 AS next FROM two",
    "CREATE VIEW joined AS SELECT t.id, two.x FROM t JOIN two ON t.id = two.id",
    "CREATE TABLE gone (id INT)",
    "CREATE VIEW dangling AS SELECT id FROM gone",
    "DROP TABLE gone",
    "CREATE TABLE orphan (id INT)",
    "CREATE DEFINER = nobody@nowhere TRIGGER of_orphan BEFORE INSERT ON orphan FOR EACH ROW SET NEW.id = 1",
    "CREATE FUNCTION one (a INT) RETURNS INT RETURN 1",
    "CREATE FUNCTION many () RETURNS INT BEGIN DECLARE a INT; SELECT id INTO a FROM two; RETURN a; END",
    "CREATE FUNCTION deep (a INT) RETURNS INT BEGIN RETURN deep(a); END",
    "CREATE TABLE own (id INT)",
    "CREATE TRIGGER of_own AFTER INSERT ON own FOR EACH ROW DELETE FROM own",
    "CREATE TRIGGER of_t BEFORE INSERT ON t FOR EACH ROW \
     IF NEW.name = 'sig' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'SECRET'; END IF",
    "CREATE TABLE small (id TINYINT PRIMARY KEY AUTO_INCREMENT)",
    "INSERT INTO small VALUES (127)",
    "CREATE TABLE wide (id BIGINT UNSIGNED PRIMARY KEY AUTO_INCREMENT)",
    "INSERT INTO wide VALUES (18446744073709551614)",
];

/// Statements that can never be stored as they are.
const REJECTED: [(&str, i64); 33] = [
    ("INSERT INTO t (id, name) VALUES (1, 'SECRET')", 1062),
    ("INSERT INTO t (id, name) VALUES (2, 'SECRET too long')", 1406),
    ("INSERT INTO t (id, name, n) VALUES (2, 'a', 40000)", 1264),
    ("INSERT INTO t (id, name, n) VALUES (2, 'a', 'SECRET')", 1366),
    ("INSERT INTO t (id, name) VALUES (2, '🦀')", 1366),
    ("INSERT INTO t (id, name, day) VALUES (2, 'a', 'SECRET')", 1292),
    ("INSERT INTO t (id, name, day) VALUES (2, 'a', '0000-00-00')", 1292),
    ("INSERT INTO t (id, name, e) VALUES (2, 'a', 'SECRET')", 1265),
    ("INSERT INTO t (id, name) VALUES (2, NULL)", 1048),
    ("INSERT INTO t (id) VALUES (2)", 1364),
    ("INSERT INTO t (id, name, parent) VALUES (2, 'a', 99)", 1452),
    ("DELETE FROM t WHERE id = 1", 1451),
    ("INSERT INTO t (id, name, n) VALUES (2, 'a', -1)", 4025),
    ("UPDATE t SET n = 18446744073709551615 + id", 1690),
    ("UPDATE t SET n = id / 0", 1365),
    ("INSERT INTO t (id, name) VALUES (3, 'sig')", 1644),
    ("UPDATE t SET n = (SELECT id FROM two)", 1242),
    ("UPDATE t SET n = many()", 1172),
    ("INSERT INTO few (id, name) VALUES (9, 'SECRET')", 1369),
    ("INSERT INTO part VALUES (30)", 1526),
    ("INSERT INTO part PARTITION (a) VALUES (15)", 1748),
    ("INSERT INTO t (id, name, day) VALUES (2, 'a', STR_TO_DATE('SECRET', '%Y'))", 1411),
    ("INSERT INTO two (id, x) VALUES (3, 1e999)", 1367),
    ("INSERT INTO t (id, name, day) VALUES (2, 'a', DATE_ADD('9999-12-31', INTERVAL 1 DAY))", 1441),
    ("INSERT INTO t (id, name) VALUES (2, _utf8mb4 X'FF')", 1300),
    ("INSERT INTO t (id, name) VALUES (2, CONVERT(_utf8mb4 'SECRET☃' USING latin1))", 1977),
    ("UPDATE t SET n = (name REGEXP '(SECRET')", 1139),
    ("INSERT INTO two (id, g) VALUES (3, 'SECRET')", 1416),
    ("INSERT INTO t (id, name) VALUES (2, REPEAT('a', 1073741824))", 1301),
    ("INSERT INTO case_only VALUES (8)", 1339),
    ("INSERT INTO broad SELECT REPEAT('a', 255), a.* FROM broad_row a", 1118),
    ("UPDATE two SET x = 1e308 * 10", 1690),
    ("UPDATE two SET id = NULL", 1048),
];

/// Statements that do not fit the schema.
const MISFITS: [(&str, i64); 37] = [
    ("INSERT INTO nowhere (id) VALUES (1)", 1146),
    ("DELETE nowhere FROM t", 1109),
    ("INSERT INTO two (id) SELECT id FROM dangling", 1356),
    ("INSERT INTO orphan VALUES (1)", 1449),
    ("INSERT INTO t (nome) VALUES (1)", 1054),
    ("UPDATE t a, t b SET id = 1", 1052),
    ("INSERT INTO t (id, id) VALUES (1, 1)", 1110),
    ("INSERT INTO t (id, name) VALUES (1)", 1136),
    ("UPDATE t SET n = (SELECT 1, 2)", 1241),
    ("INSERT INTO t (id, name) SELECT 1, 'a' UNION SELECT 1", 1222),
    ("INSERTO INTO t VALUES (1)", 1064),
    ("INSERT INTO t (id, name) VALUES (2, no_such_function())", 1305),
    ("UPDATE t SET n = one()", 1318),
    ("UPDATE t SET n = ABS()", 1582),
    ("UPDATE t SET n = deep(1)", 1424),
    ("UPDATE t SET n = 1 WHERE COUNT(*) = 1", 1111),
    ("UPDATE t, t SET n = 1", 1066),
    ("INSERT INTO own VALUES (1)", 1442),
    ("UPDATE t USE INDEX (nowhere) SET n = 1", 1176),
    ("UPDATE t SET n = 4 WHERE MATCH (name) AGAINST ('a')", 1191),
    ("UPDATE t SET name = CONVERT('a' USING nowhere)", 1115),
    ("UPDATE t SET name = 'a' COLLATE latin1_bin", 1253),
    ("UPDATE t SET n = (_latin1 'a' COLLATE latin1_bin = _latin1 'a' COLLATE latin1_swedish_ci)", 1267),
    ("UPDATE t SET name = 'a' COLLATE nowhere", 1273),
    ("UPDATE t SET n = @@nowhere", 1193),
    ("UPDATE t SET n = 1 WHERE id IN (SELECT id FROM two LIMIT 1)", 1235),
    ("UPDATE counted SET c = 1", 1288),
    ("INSERT INTO counted VALUES (1)", 1471),
    ("UPDATE more SET next = 1", 1348),
    ("INSERT INTO joined VALUES (1, 1)", 1394),
    ("INSERT INTO joined (id, x) VALUES (1, 1)", 1393),
    ("DELETE FROM joined", 1395),
    ("INSERT INTO small VALUES (NULL)", 167),
    ("INSERT INTO wide VALUES (NULL), (NULL), (NULL)", 1467),
    ("INSERT INTO two (id) VALUES (NEXT VALUE FOR used_up)", 4084),
    ("INSERT INTO two (id, twice) VALUES (3, 7)", 1906),
    ("INSERT INTO nowhere.t VALUES (1)", 1142),
];

async fn schema(fixture: &Fixture) {
    for statement in SCHEMA {
        fixture.sql(statement).await;
    }
    fixture.sql("CREATE TABLE case_only (id INT)").await;
    fixture
        .sql(
            "CREATE TRIGGER of_case_only BEFORE INSERT ON case_only FOR EACH ROW \
             CASE NEW.id WHEN 1 THEN SET NEW.id = 2; END CASE",
        )
        .await;
    fixture.sql("CREATE SEQUENCE used_up START 1 MINVALUE 1 MAXVALUE 2 NOCYCLE").await;
    fixture.sql("DO NEXT VALUE FOR used_up").await;
    fixture.sql("DO NEXT VALUE FOR used_up").await;
    // A row that fits its table's columns and no page of InnoDB's.
    let columns =
        |count: usize| (0..count).map(|n| format!("c{n} VARCHAR(255)")).collect::<Vec<_>>().join(", ");
    let (broad, row) = (columns(41), columns(40));
    let schema = fixture.schema();
    let values = vec!["REPEAT('a', 255)"; 40].join(", ");
    fixture
        .server()
        .admin(&[
            "SET SESSION innodb_strict_mode = 0",
            &format!("CREATE TABLE {schema}.broad ({broad}) CHARSET=latin1"),
            &format!("CREATE TABLE {schema}.broad_row ({row}) CHARSET=latin1 ENGINE=MyISAM"),
            &format!("INSERT INTO {schema}.broad_row VALUES ({values})"),
        ])
        .await;
}

#[test]
fn refusals_have_their_class_and_no_value() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        schema(&fixture).await;
        let rejected = REJECTED.iter().map(|(sql, code)| (sql, code, ErrorClass::Reject));
        let misfits = MISFITS.iter().map(|(sql, code)| {
            let class = if *code == 1142 { ErrorClass::Rights } else { ErrorClass::Misconfigured };
            (sql, code, class)
        });
        for (sql, code, class) in rejected.chain(misfits) {
            let mut session = session(&fixture, vec![store(sql)]).await;
            session.begin().await.unwrap();
            let Err(refused) = session.store(0, &[Vec::new()]).await else { panic!("{sql}: this must fail") };
            assert_eq!(refused.code, Some(*code), "{sql}: {refused}");
            met(&refused, *code, class);
            assert!(!refused.broken && !refused.rolled_back, "{sql}: {refused}");
            assert!(!refused.message.contains("SECRET"), "{sql}: {refused}");
            session.rollback().await.unwrap();
        }
    });
}

#[test]
fn interrupted_statements_are_outages() {
    Fixture::mariadb().run(|fixture: Arc<Fixture>| async move {
        fixture.sql("CREATE TABLE t (id INT)").await;
        let steps = vec![
            store("SET STATEMENT max_statement_time = 0.05 FOR INSERT INTO t SELECT SLEEP(30)"),
            store("INSERT INTO t SELECT SLEEP(30)"),
        ];
        let mut session = session(&fixture, steps).await;
        session.begin().await.unwrap();
        met(&error(session.store(0, &[Vec::new()]).await), 1969, ErrorClass::Outage);
        let id = session.conn().unwrap().id();
        let killer = tokio::spawn(kill_query(Arc::clone(&fixture), id));
        let killed = session.store(1, &[Vec::new()]).await;
        killer.await.unwrap();
        met(&error(killed), 1317, ErrorClass::Outage);
        session.rollback().await.unwrap();
    });
}

/// Interrupts what a connection runs, once it sleeps.
async fn kill_query(fixture: Arc<Fixture>, id: u32) {
    let sleeps = format!("SELECT state FROM information_schema.processlist WHERE id = {id}");
    while fixture.column(&sleeps).await != ["User sleep"] {
        tokio::task::yield_now().await;
    }
    fixture.server().admin(&[&format!("KILL QUERY {id}")]).await;
}
