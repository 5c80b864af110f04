//! What is taken from a job while it runs: its account, a right, a column, the schema, the last free connection. It holds or it
//! halts with the code of the contract; once a person has given back what was missing, it goes on exactly there.

use super::bench::{Bench, DEADLINE, Global};
use crate::process::Process;
use crate::services::{Turn, turn};
use crate::sql::Sql;
use crate::wait::wait_for;

const TABLE: &str = "CREATE TABLE store (entry INT PRIMARY KEY AUTO_INCREMENT, k VARCHAR(10))";

const REST: &str = r#"
[event]
key = ["@k"]
[event.fields]
k = { path = "@k", type = "text" }

[[database.steps]]
store = "INSERT INTO store (k) VALUES (:k)"

[output]
topic = "OUTPUT"
"#;

/// A job with an account of its own, that has handled documents 0 to 4 and runs.
struct Running {
    bench: Bench,
    process: Process,
    root: Sql,
    sent: usize,
}

impl Running {
    fn new(turn: &Turn, name: &str) -> Running {
        let mut bench = Bench::new(turn.services, name, &[TABLE]);
        bench.account.clone_from(&bench.name);
        let mut root = turn.services.root();
        root.run(&format!("CREATE USER {} IDENTIFIED BY 'app'", bench.account));
        root.run(&format!("GRANT ALL ON {}.* TO {}", bench.schema, bench.account));
        bench.job("", REST);
        let process = bench.run();
        let mut running = Running { bench, process, root, sent: 0 };
        running.send();
        running.stored();
        running
    }

    /// Five documents more.
    fn send(&mut self) {
        let documents: Vec<_> = (self.sent..self.sent + 5).map(|n| format!("<r k=\"{n}\"/>")).collect();
        self.bench.send_texts(&documents);
        self.sent += 5;
    }

    fn stored(&mut self) {
        self.bench.wait_count(&mut self.process, "SELECT COUNT(*) FROM store", self.sent as i64);
    }

    /// Cuts all connections of the job's account.
    fn cut(&mut self) {
        let account = &self.bench.account;
        self.root.try_run(&format!("KILL CONNECTION USER {account}"));
    }

    fn waits_and_says(&mut self, text: &str) {
        let process = &mut self.process;
        wait_for(&format!("the job to say {text:?}"), DEADLINE, || {
            process.assert_runs();
            process.log().contains(text).then_some(())
        });
    }

    /// Ends with this code, saying all of this; started again it stores and sends the rest, each once and in order.
    fn halts(self, code: i32, says: &[&str], repair: impl FnOnce(&mut Sql, &Bench)) {
        let Running { bench, process, mut root, sent } = self;
        let ended = process.expect(code, DEADLINE);
        for part in says {
            assert!(ended.log.contains(part), "the halt does not say {part:?}:\n{}", ended.log);
        }
        repair(&mut root, &bench);
        bench.run_to_end(0);
        all_once(&bench, sent);
        root.try_run(&format!("DROP USER {}", bench.account));
    }

    /// Drains; everything is there, each once and in order.
    fn ends(mut self) {
        self.process.signal("TERM");
        self.process.expect(0, DEADLINE);
        all_once(&self.bench, self.sent);
        self.root.try_run(&format!("DROP USER {}", self.bench.account));
    }
}

fn all_once(bench: &Bench, sent: usize) {
    let expected: Vec<_> = (0..sent).map(|n| n.to_string()).collect();
    assert_eq!(bench.column("SELECT k FROM store ORDER BY entry"), expected);
    let expected: Vec<_> = (0..sent).map(|n| format!("<r k=\"{n}\"/>")).collect();
    assert_eq!(bench.output_texts(), expected);
}

#[test]
fn an_account_that_stays_locked_halts_the_job() {
    let turn = turn();
    let mut running = Running::new(&turn, "locked");
    running.root.run(&format!("ALTER USER {} ACCOUNT LOCK", running.bench.account));
    running.cut();
    running.send();
    running.halts(77, &["the database has refused for 1", "4151"], |root, bench| {
        root.run(&format!("ALTER USER {} ACCOUNT UNLOCK", bench.account));
    });
}

#[test]
fn an_account_that_is_locked_for_a_moment_holds_the_job() {
    let turn = turn();
    let mut running = Running::new(&turn, "flapping");
    running.root.run(&format!("ALTER USER {} ACCOUNT LOCK", running.bench.account));
    running.cut();
    running.send();
    running.waits_and_says("4151");
    running.root.run(&format!("ALTER USER {} ACCOUNT UNLOCK", running.bench.account));
    running.stored();
    running.ends();
}

#[test]
fn a_right_that_is_revoked_halts_the_job() {
    let turn = turn();
    let mut running = Running::new(&turn, "revoked");
    let (schema, account) = (running.bench.schema.clone(), running.bench.account.clone());
    running.root.run(&format!("REVOKE INSERT ON {schema}.* FROM {account}"));
    running.cut();
    running.send();
    running.halts(77, &["1142", "INSERT"], |root, _| {
        root.run(&format!("GRANT INSERT ON {schema}.* TO {account}"));
    });
}

#[test]
fn a_column_that_is_added_changes_nothing() {
    let turn = turn();
    let mut running = Running::new(&turn, "added");
    running.bench.sql().run("ALTER TABLE store ADD COLUMN more INT NOT NULL DEFAULT 7 FIRST, ADD INDEX (k)");
    running.send();
    running.stored();
    running.ends();
}

#[test]
fn a_column_that_is_dropped_halts_the_job() {
    let turn = turn();
    let mut running = Running::new(&turn, "column");
    running.bench.sql().run("ALTER TABLE store CHANGE k other VARCHAR(10)");
    running.send();
    running.halts(78, &["1054", "'k'"], |_, bench| {
        bench.sql().run("ALTER TABLE store CHANGE other k VARCHAR(10)");
    });
}

#[test]
fn a_schema_that_is_dropped_and_made_anew_is_not_taken_for_the_old_one() {
    let turn = turn();
    let mut running = Running::new(&turn, "dropped");
    let schema = running.bench.schema.clone();
    running.root.run(&format!("DROP DATABASE {schema}"));
    running.send();
    let Running { bench, process, mut root, .. } = running;
    process.expect(78, DEADLINE);
    bench.run_to_end(78);
    root.run(&format!("CREATE DATABASE {schema} CHARACTER SET utf8mb4"));
    bench.sql().run(TABLE);
    bench.halts(76, &["was written under another ledger"]);
    root.try_run(&format!("DROP USER {}", bench.account));
}

#[test]
fn a_server_without_a_free_connection_holds_the_job() {
    let turn = turn();
    let mut running = Running::new(&turn, "crowded");
    let most = Global::set(turn.services, "max_connections", "10");
    let mut crowd: Vec<Sql> = (0..12).map(|_| running.bench.sql()).collect();
    wait_for("a crowd that takes every connection", DEADLINE, || {
        running.cut();
        let inside = crowd.iter_mut().filter_map(|sql| sql.peek::<i64>("SELECT 1")).count();
        let of_job = format!(
            "SELECT COUNT(*) FROM information_schema.processlist WHERE user = '{}'",
            running.bench.account
        );
        let is_out = running.root.peek::<i64>(&of_job) == Some(0);
        (inside < 12 && is_out).then_some(())
    });
    running.send();
    running.waits_and_says("1040");
    drop(crowd);
    running.stored();
    drop(most);
    running.ends();
}
