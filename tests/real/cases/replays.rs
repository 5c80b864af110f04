//! Dead letters are listed, shown and sent back: killed at any moment and given again, beside another one, and however often,
//! each record goes once and in order; and `verify` stays right.

use super::bench::{Bench, DEADLINE};
use crate::kafka::{self, Positions};
use crate::process::{Ended, Process};
use crate::services::turn;
use crate::wait::{report, wait_for};
use rdkafka::Message;
use rdkafka::message::{Header, Headers, OwnedHeaders};
use rdkafka::producer::{BaseProducer, BaseRecord, Producer};
use std::collections::BTreeMap;
use std::time::Instant;

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

fn command(bench: &Bench, args: &[&str], code: i32) -> Ended {
    let [verb, rest @ ..] = args else { panic!("no command") };
    let all: Vec<&str> = ["dead-letters", verb, "job.toml"].into_iter().chain(rest.iter().copied()).collect();
    bench.tidegate(&all).expect(code, DEADLINE)
}

fn replay(bench: &Bench) -> Process {
    bench.tidegate(&["dead-letters", "replay", "job.toml", "--execute", "--json"])
}

/// Every value of the input, in order; markers and outputs are elsewhere.
fn input(bench: &Bench) -> Vec<String> {
    let mut values = Vec::new();
    kafka::read_committed(&bench.services.kafka, &bench.input, 1, |message| {
        values.push(String::from_utf8_lossy(message.payload().unwrap_or_default()).into_owned());
    });
    values
}

/// Totals of `list --json`: letters, and of them replayed.
fn totals(bench: &Bench) -> (u64, u64) {
    let ended = command(bench, &["list", "--json"], 0);
    let last = ended.log.lines().last().expect("the totals");
    let totals: serde_json::Value = serde_json::from_str(last).expect("an object");
    (totals["letters"].as_u64().expect("a number"), totals["replayed"].as_u64().expect("a number"))
}

fn verify_is_clean(bench: &Bench) {
    let ended = bench.tidegate(&["verify", "job.toml"]).expect(0, DEADLINE);
    assert_eq!(ended.log.lines().last(), Some("0 lost, 0 doubled, 0 out of order"), "{}", ended.log);
}

#[test]
fn a_replay_that_is_killed_at_any_moment_sends_each_record_once() {
    const LETTERS: usize = 12_000;
    let turn = turn();
    let bench = Bench::new(turn.services, "replays", &[TABLE]);
    bench.job("", REST);
    let bad: Vec<String> = (0..LETTERS).map(|n| format!("no document {n}")).collect();
    bench.send_texts(&bad);
    bench.send_texts(&["<r k=\"1\"/>"]);
    bench.run_to_end(0);
    assert_eq!(totals(&bench), (LETTERS as u64, 0));

    // Killed once so many records more stand in the dead-letter topic, markers of open transactions included.
    let began = Instant::now();
    let letters = Positions::new(&bench.kafka, &bench.dead_letters, 1, "tests", "read_uncommitted");
    let end = || letters.ends(DEADLINE).expect("the broker answers")[0];
    let mut kills = 0;
    loop {
        let mut process = replay(&bench);
        let until = end() + 20 + (kills * 791) % 1_700;
        wait_for("markers, or the end", DEADLINE, || (process.has_ended() || end() >= until).then_some(()));
        if process.has_ended() {
            process.expect(0, DEADLINE);
            break;
        }
        process.kill();
        kills += 1;
        assert!(kills < 200, "no replay comes to its end");
    }
    report(&format!(
        "{LETTERS} letters replayed through {kills} kills in {} ms",
        began.elapsed().as_millis()
    ));
    assert!(kills > 3, "{kills} kills are no trial");
    let values = input(&bench);
    assert!(
        values[LETTERS + 1..] == bad[..],
        "each once and in order: {} of {LETTERS}",
        values.len() - LETTERS - 1
    );
    assert_eq!(totals(&bench), (LETTERS as u64, LETTERS as u64));
    let ended = command(&bench, &["replay", "--execute", "--json"], 0);
    assert!(ended.log.contains("\"replayed\":0"), "{}", ended.log);

    // Rejected again, they are new letters; two replays at once send each once, too.
    bench.run_to_end(0);
    verify_is_clean(&bench);
    assert_eq!(totals(&bench), (2 * LETTERS as u64, LETTERS as u64));
    let both = [replay(&bench), replay(&bench)].map(|process| process.wait(DEADLINE));
    let codes = both.each_ref().map(|ended| ended.code);
    assert!(codes.iter().all(|code| matches!(code, Some(0 | 76))), "{both:?}");
    assert!(codes.contains(&Some(0)), "{both:?}");
    let values = input(&bench);
    assert!(values[2 * LETTERS + 1..] == bad[..], "each once and in order: {}", values.len());
    bench.run_to_end(0);
    verify_is_clean(&bench);
    assert_eq!(bench.column("SELECT k FROM store"), ["1"]);
}

#[test]
fn letters_are_listed_shown_and_sent_back_as_they_were() {
    let turn = turn();
    let bench = Bench::new(turn.services, "letters", &[TABLE]);
    bench.job("", REST);
    let producer: BaseProducer = kafka::client(&turn.services.kafka).create().expect("a producer");
    let headers = OwnedHeaders::new()
        .insert(Header { key: "trace", value: Some("a-1") })
        .insert(Header { key: "nothing", value: None::<&str> });
    let record = BaseRecord::<[u8], [u8]>::to(&bench.input).partition(0).timestamp(1_700_000_000_000);
    let record = record.key(b"K7").payload(b"<r k=\"1\">\xff</r>").headers(headers);
    producer.send(record).map_err(|(error, _)| error).expect("queued");
    producer.flush(DEADLINE).expect("sent");
    bench.send_texts(&["<r"]);
    bench.run_to_end(0);

    let list = command(&bench, &["list"], 0);
    let line = format!("0/0 of {}/0/0, 2023-11-14T22:13:20Z, key \"K7\", encoding:", bench.input);
    assert!(list.log.contains(&line), "{line}\n{}", list.log);
    assert!(list.log.contains("1 not_well_formed") && list.log.contains("2 letters"), "{}", list.log);
    for (args, letters) in [
        (["list", "--key", "K7"], "1 letters"),
        (["list", "--reason", "no_value"], "0 letters"),
        (["list", "--until", "2023-11-14T22:13:20Z"], "0 letters"),
        (["list", "--since", "2023-11-14T22:13:20Z"], "2 letters"),
    ] {
        let ended = command(&bench, &args, 0);
        assert!(ended.log.contains(letters), "{args:?}: {}", ended.log);
    }
    let shown = command(&bench, &["show", "--key", "K7", "--json"], 0);
    let shown: serde_json::Value = serde_json::from_str(shown.log.trim()).expect("one object");
    assert_eq!(shown["payload_base64"], "PHIgaz0iMSI+/zwvcj4=", "{shown}");
    assert_eq!(shown["headers"][0], serde_json::json!({ "name": "trace", "value": "a-1" }));
    assert_eq!(shown["headers"][1], serde_json::json!({ "name": "nothing", "value": null }));
    assert_eq!(
        (&shown["source"], &shown["replayed"]),
        (&format!("{}/0/0", bench.input).into(), &false.into())
    );
    command(&bench, &["show", "--payload-to", "payload"], 64);
    command(&bench, &["show", "--at", "0/0", "--payload-to", "payload"], 0);
    assert_eq!(bench.file("payload"), b"<r k=\"1\">\xff</r>");

    let dry = command(&bench, &["replay", "--key", "K7"], 0);
    assert!(dry.log.contains("1 would be replayed") && input(&bench).len() == 2, "{}", dry.log);
    // Beside the job that runs: it reads what comes back.
    let mut job = bench.run();
    command(&bench, &["replay", "--key", "K7", "--execute"], 0);
    let mut back = BTreeMap::new();
    kafka::read_committed(&turn.services.kafka, &bench.input, 1, |message| {
        let headers = message.headers().map_or(0, Headers::count);
        let key = message.key().map(<[u8]>::to_vec);
        let value = message.payload().map(<[u8]>::to_vec);
        let first = message.headers().and_then(|headers| headers.iter().next().map(|h| h.key.to_owned()));
        back.insert(message.offset(), (key, value, message.timestamp().to_millis(), headers, first));
    });
    assert_eq!(back[&0], back[&2], "key, value, timestamp and headers");
    wait_for("the job to reject it again", DEADLINE, || {
        job.assert_runs();
        (totals(&bench) == (3, 1)).then_some(())
    });
    job.signal("TERM");
    job.expect(0, DEADLINE);
    verify_is_clean(&bench);
    let missing = bench.tidegate(&["dead-letters", "list", "nowhere.toml"]).expect(78, DEADLINE);
    assert!(missing.log.contains("nowhere.toml"), "{}", missing.log);
}
