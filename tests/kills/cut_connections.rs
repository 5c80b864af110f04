//! Connections to the broker that break while outputs are on their way: the client sends again what has no answer, and
//! still nothing is lost, doubled or out of order.

use super::bench::{Bench, DEADLINE};
use super::kafka::Positions;
use super::proxy::{self, kafka::Answers};
use super::services::turn;
use super::wait::{report, wait_for};
use std::time::Duration;

const MESSAGES: usize = 10_000;

/// One key: there is one order.
const REST: &str = r#"
[event]
key = ["@k"]
[event.fields]
k = { path = "@k", type = "text" }

[output]
topic = "OUTPUT"
"#;

const NOT_IDEMPOTENT: &str = "[source.client]\n\"enable.idempotence\" = false\n";

#[test]
fn connections_that_break_while_outputs_are_sent_reorder_nothing() {
    let turn = turn();
    let wire = proxy::kafka::start(&turn.services.kafka, &Answers::default());
    let mut bench = Bench::new(turn.services, "cut", &[]);
    bench.kafka.clone_from(&wire.address);
    // What keeps the order cannot be switched off.
    bench.job("", &format!("{REST}{NOT_IDEMPOTENT}"));
    bench.halts(78, &["enable.idempotence"]);

    bench.job("batch_events = 20", REST);
    let documents: Vec<_> = (0..MESSAGES).map(|number| format!("<r k=\"one\" n=\"{number}\"/>")).collect();
    bench.send_texts(&documents);
    let mut process = bench.run();
    let sent = Positions::new(&turn.services.kafka, &bench.output, 1, "tests", "read_uncommitted");
    let end = || sent.ends(Duration::from_secs(1)).map_or(0, |ends| ends[0]);
    let (mut cuts, mut closed, mut last) = (0, 0, 0);
    while end() < MESSAGES as i64 {
        last = wait_for("further outputs", DEADLINE, || {
            process.assert_runs();
            Some(end()).filter(|&now| now > last)
        });
        closed += wire.cut_all();
        cuts += 1;
    }
    assert!(cuts >= 3, "only {cuts} cuts met outputs on their way");
    wait_for("all records to be committed", DEADLINE, || {
        process.assert_runs();
        (bench.committed() == MESSAGES as i64).then_some(())
    });
    process.signal("TERM");
    process.expect(0, DEADLINE);
    report(&format!("{closed} connections cut at {cuts} moments while {MESSAGES} outputs were sent"));
    let texts = bench.output_texts();
    assert!(texts == documents, "{} outputs, and they are not the input in its order", texts.len());
}
