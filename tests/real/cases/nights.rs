//! One job through a night of small troubles, in one process: a look-up's row that comes later, connections that the
//! server closed, rows that others lock, a deadlock, a server that is read-only for a while.

use super::bench::{Bench, DEADLINE, Global};
use crate::process::Process;
use crate::services::turn;
use crate::sql::Sql;
use crate::wait::wait_for;

const TABLES: [&str; 6] = [
    "CREATE TABLE journal (entry INT PRIMARY KEY AUTO_INCREMENT, k VARCHAR(10))",
    "CREATE TABLE ref (k VARCHAR(10) PRIMARY KEY, note VARCHAR(10))",
    "CREATE TABLE store (k VARCHAR(10) PRIMARY KEY, n INT NOT NULL)",
    "INSERT INTO store VALUES ('3', 0), ('5', 0), ('9', 0)",
    "CREATE TABLE weight (n INT PRIMARY KEY)",
    "INSERT INTO weight SELECT seq FROM seq_1_to_2000",
];

const REST: &str = r#"
[event]
key = ["@k"]
[event.fields]
k = { path = "@k", type = "text" }

[[database.steps]]
name = "ref"
lookup = "SELECT note FROM ref WHERE k = :k"
missing = "null"
[[database.steps]]
store = "INSERT INTO journal (k) VALUES (:k)"
[[database.steps]]
store = "INSERT INTO store (k, n) VALUES (:k, 1) ON DUPLICATE KEY UPDATE n = n + 1"

[output]
topic = "OUTPUT"
[[output.add]]
at = "."
element = "note"
text = ":ref.note"
"#;

fn documents(keys: &[&str]) -> Vec<String> {
    keys.iter().map(|k| format!("<r k=\"{k}\"></r>")).collect()
}

/// The job, and the keys that it was sent.
struct Night {
    bench: Bench,
    process: Process,
    sent: Vec<&'static str>,
}

#[test]
fn small_troubles_of_a_night_pass_in_one_process() {
    let turn = turn();
    let bench = Bench::new(turn.services, "nights", &TABLES);
    bench.job("", REST);
    let _short = Global::set(turn.services, "innodb_lock_wait_timeout", "1");
    let _shorter = Global::set(turn.services, "wait_timeout", "1");
    let process = bench.run();
    let mut night = Night { bench, process, sent: Vec::new() };
    night.a_row_that_comes_later();
    night.connections_closed_by_the_server();
    night.a_row_locked_for_longer_than_the_server_waits();
    night.a_deadlock();
    night.a_read_only_server();
    night.ends();
}

impl Night {
    fn send(&mut self, keys: &[&'static str]) {
        self.sent.extend(keys);
        self.bench.send_texts(&documents(keys));
    }

    /// Sends, and sees the job wait so often for a lock.
    fn send_into_locks(&mut self, keys: &[&'static str], waits: i64) {
        self.sent.extend(keys);
        let bench = &self.bench;
        bench.wait_lock_waits(&mut self.process, waits, || bench.send_texts(&documents(keys)));
    }

    fn stored(&mut self) {
        let count = self.sent.len() as i64;
        self.bench.wait_count(&mut self.process, "SELECT COUNT(*) FROM journal", count);
    }

    /// A session of somebody else, in a transaction.
    fn other(&self) -> Sql {
        let mut sql = self.bench.sql();
        sql.run("SET SESSION wait_timeout = 600, innodb_lock_wait_timeout = 60");
        sql.run("START TRANSACTION");
        sql
    }

    /// That a look-up found nothing is not remembered.
    fn a_row_that_comes_later(&mut self) {
        self.send(&["7"]);
        self.stored();
        self.bench.sql().run("INSERT INTO ref VALUES ('7', 'later')");
        self.send(&["7"]);
        self.stored();
    }

    fn connections_closed_by_the_server(&mut self) {
        let mut root = self.bench.services.root();
        let left =
            format!("SELECT COUNT(*) FROM information_schema.processlist WHERE db = '{}'", self.bench.schema);
        wait_for("all connections closed", DEADLINE, || root.peek::<i64>(&left).filter(|&count| count == 0));
        let before = self.process.log();
        self.send(&["7"]);
        self.stored();
        let log = self.process.log();
        let new = log.strip_prefix(&before).expect("a log only grows");
        assert!(new.matches("WARN").count() <= 1, "much ado about a closed connection:\n{new}");
    }

    /// The server takes back the statement alone: half a transaction must not be committed.
    fn a_row_locked_for_longer_than_the_server_waits(&mut self) {
        let mut other = self.other();
        other.run("UPDATE store SET n = n WHERE k = '5'");
        let before = self.sent.len() as i64;
        self.send_into_locks(&["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"], 2);
        let stored = self.bench.sql().peek::<i64>("SELECT COUNT(*) FROM journal");
        assert_eq!(stored, Some(before), "half a transaction is seen");
        other.run("COMMIT");
        self.stored();
    }

    /// The job has 3 and wants 9, somebody heavier has 9 and wants 3: the job is the victim.
    fn a_deadlock(&mut self) {
        let mut other = self.other();
        other.run("DELETE FROM weight");
        other.run("UPDATE store SET n = n WHERE k = '9'");
        self.send_into_locks(&["3", "9"], 1);
        other.run("UPDATE store SET n = n WHERE k = '3'");
        other.run("COMMIT");
        self.stored();
    }

    fn a_read_only_server(&mut self) {
        let read_only = Global::set(self.bench.services, "read_only", "1");
        let before = self.process.log();
        self.send(&["1", "2", "3"]);
        let process = &mut self.process;
        wait_for("the job to hold", DEADLINE, || {
            process.assert_runs();
            process.log()[before.len()..].contains("read-only").then_some(())
        });
        drop(read_only);
        self.stored();
    }

    fn ends(self) {
        self.process.signal("TERM");
        self.process.expect(0, DEADLINE);
        let rows = self.bench.column("SELECT k FROM journal ORDER BY entry");
        assert_eq!(rows, self.sent, "each once, in order");
        let document = |(index, k): (usize, &&str)| match (*k, index) {
            ("7", 1..) => format!("<r k=\"{k}\"><note>later</note></r>"),
            _ => format!("<r k=\"{k}\"><note/></r>"),
        };
        let expected: Vec<_> = self.sent.iter().enumerate().map(document).collect();
        assert_eq!(self.bench.output_texts(), expected);
        assert_eq!(self.bench.dead_letters(), []);
        assert_eq!(
            self.bench.column("SELECT CAST(n AS CHAR) FROM store WHERE k IN ('3', '5', '9') ORDER BY k"),
            ["3", "1", "2"]
        );
        assert_eq!(self.bench.committed(), self.sent.len() as i64);
    }
}
