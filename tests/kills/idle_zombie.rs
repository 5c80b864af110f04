//! A process that stood still with nothing in flight while another instance took over: there is nothing that could be
//! refused to it until it has something to do. Its next record must end it, and must be handled by the newer one alone.

use super::bench::{Bench, DEADLINE};
use super::services::turn;
use super::wait::{report, wait_for};
use std::time::Instant;

/// A row twice would be seen: no key refuses it.
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

#[test]
fn an_idle_zombie_ends_with_its_next_record() {
    let turn = turn();
    let bench = Bench::new(turn.services, "idle", &[TABLE]);
    bench.job("", REST);
    let documents = ["<r k=\"0\"/>", "<r k=\"1\"/>"];
    let mut old = bench.run();
    bench.send_texts(&documents[..1]);
    bench.wait_count(&mut old, "SELECT COUNT(*) FROM store", 1);
    wait_for("its offset to be committed", DEADLINE, || (bench.committed() == 1).then_some(()));

    old.signal("STOP");
    let mut sql = bench.sql();
    let mut claimed = || sql.peek::<u64>("SELECT MAX(incarnation) FROM tidegate_position");
    let before = claimed().expect("the old one's claim");
    let mut new = bench.run();
    wait_for("the new one's claim", DEADLINE, || claimed().filter(|&now| now > before));
    old.signal("CONT");
    let start = Instant::now();
    bench.send_texts(&documents[1..]);
    old.expect(76, DEADLINE);
    report(&format!(
        "an idle zombie ended {} ms after its next record was sent",
        start.elapsed().as_millis()
    ));

    bench.wait_count(&mut new, "SELECT COUNT(*) FROM store", 2);
    new.signal("TERM");
    new.expect(0, DEADLINE);
    assert_eq!(bench.column("SELECT k FROM store ORDER BY entry"), ["0", "1"]);
    assert_eq!(bench.output_texts(), documents);
}
