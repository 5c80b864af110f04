//! A broker that is there and does not take what a running job sends: a limit that has become smaller, a topic that was deleted,
//! a right that is gone. It holds or halts with the code of the contract, and each document is stored and sent once, in order,
//! when the broker takes it again.

use super::bench::{Bench, DEADLINE};
use crate::acls::{self, Kind};
use crate::kafka;
use crate::process::Process;
use crate::services::turn;
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

/// A job that has sent documents 0 to 4 and runs.
struct Running {
    bench: Bench,
    process: Process,
    sent: usize,
}

impl Running {
    fn new(bench: Bench, rest: &str) -> Running {
        bench.job("", &format!("{REST}\n{rest}"));
        let process = bench.run();
        let mut running = Running { bench, process, sent: 0 };
        running.send();
        running.comes_through();
        running
    }

    fn document(n: usize) -> String {
        // Larger than 1,500 bytes, smaller than 2,000: for a limit between the two.
        format!("<r k=\"{n}\">{}</r>", "x".repeat(1_500))
    }

    /// Five documents more.
    fn send(&mut self) {
        let documents: Vec<_> = (self.sent..self.sent + 5).map(Self::document).collect();
        self.bench.send_texts(&documents);
        self.sent += 5;
    }

    fn comes_through(&mut self) {
        let (bench, process, sent) = (&self.bench, &mut self.process, self.sent);
        wait_for(&format!("{sent} outputs"), DEADLINE * 2, || {
            process.assert_runs();
            (bench.committed() >= sent as i64).then_some(())
        });
    }

    fn says(&mut self, text: &str) {
        let process = &mut self.process;
        wait_for(&format!("the job to say {text:?}"), DEADLINE, || {
            process.assert_runs();
            process.log().contains(text).then_some(())
        });
    }

    /// Drains; everything is there once and in order.
    fn ends(self) {
        self.process.signal("TERM");
        self.process.expect(0, DEADLINE);
        all_once(&self.bench, self.sent);
    }

    /// Halts with this code, and goes on at the next start.
    fn halts(self, code: i32, says: &[&str], repair: impl FnOnce(&Bench)) {
        let ended = self.process.expect(code, DEADLINE);
        for part in says {
            assert!(ended.log.contains(part), "the halt does not say {part:?}:\n{}", ended.log);
        }
        repair(&self.bench);
        self.bench.run_to_end(0);
        all_once(&self.bench, self.sent);
    }
}

fn all_once(bench: &Bench, sent: usize) {
    let expected: Vec<_> = (0..sent).map(|n| n.to_string()).collect();
    assert_eq!(bench.column("SELECT k FROM store ORDER BY entry"), expected);
    let expected: Vec<_> = (0..sent).map(Running::document).collect();
    assert!(bench.output_texts() == expected, "the outputs, once and in order");
    let ended = bench.tidegate(&["verify", "job.toml"]).expect(0, DEADLINE);
    assert_eq!(ended.log.lines().last(), Some("0 lost, 0 doubled, 0 out of order"), "{}", ended.log);
}

#[test]
fn a_limit_that_becomes_smaller_under_the_job_rejects_and_loses_nothing() {
    let turn = turn();
    let running = Running::new(Bench::new(turn.services, "lowered", &[TABLE]), "");
    let set = |bench: &Bench, limit: &str| {
        kafka::set_topic(&bench.services.kafka, &bench.output, "max.message.bytes", limit);
    };
    set(&running.bench, "1000");
    let mut running = running;
    running.send();
    let output = running.bench.output.clone();
    running.halts(65, &[&output, "max.message.bytes"], |bench| {
        bench.halts(65, &[&bench.output]);
        set(bench, "1048588");
    });
}

#[test]
fn an_output_topic_that_is_deleted_and_made_anew_gets_what_was_not_sent() {
    let turn = turn();
    let mut running = Running::new(Bench::new(turn.services, "anew", &[TABLE]), "");
    kafka::delete_topics(&turn.services.kafka, &[&running.bench.output]);
    running.send();
    let Running { bench, process, sent } = running;
    let ended = process.expect(78, DEADLINE);
    assert!(ended.log.contains(&bench.output), "the message names the topic:\n{}", ended.log);
    bench.halts(78, &[&bench.output]);
    wait_for("the name to be free", DEADLINE, || {
        kafka::try_create_topic(&turn.services.kafka, &bench.output).then_some(())
    });
    bench.run_to_end(0);
    let expected: Vec<_> = (0..sent).map(|n| n.to_string()).collect();
    assert_eq!(bench.column("SELECT k FROM store ORDER BY entry"), expected);
    let expected: Vec<_> = (5..sent).map(Running::document).collect();
    assert!(bench.output_texts() == expected, "what was not in the old one, once and in order");
}

/// A job that comes to Kafka with an account, which may do what this job needs.
fn with_account(mut bench: Bench) -> Running {
    let services = bench.services;
    let own = format!("tidegate-{}", bench.name);
    for (kind, prefix) in [
        (Kind::Topic, bench.name.as_str()),
        (Kind::Topic, &own),
        (Kind::Group, &own),
        (Kind::TransactionalId, &bench.name),
    ] {
        acls::add(&services.kafka, &acls::all_of(kind, prefix));
    }
    bench.kafka.clone_from(&services.kafka_sasl);
    let client = "[source.client]\n\"security.protocol\" = \"SASL_PLAINTEXT\"\n\"sasl.mechanism\" = \"PLAIN\"\n\
                  \"sasl.username\" = \"app\"\n\"sasl.password\" = \"${TIDEGATE_TEST_PASSWORD}\"";
    Running::new(bench, client)
}

#[test]
fn a_right_that_is_taken_away_for_a_moment_holds_the_job() {
    let turn = turn();
    let mut running = with_account(Bench::new(turn.services, "denied", &[TABLE]));
    let output = running.bench.output.clone();
    acls::add(&turn.services.kafka, &acls::no_write(&output));
    running.send();
    running.says("may not use this topic");
    acls::remove(&turn.services.kafka, &acls::no_write(&output));
    running.comes_through();
    running.ends();
}

#[test]
fn a_right_that_is_taken_away_for_good_halts_the_job() {
    let turn = turn();
    let mut running = with_account(Bench::new(turn.services, "barred", &[TABLE]));
    let output = running.bench.output.clone();
    acls::add(&turn.services.kafka, &acls::no_write(&output));
    running.send();
    running.halts(77, &["may not use this topic", "TOPIC_AUTHORIZATION_FAILED"], |bench| {
        acls::remove(&bench.services.kafka, &acls::no_write(&bench.output));
    });
}
