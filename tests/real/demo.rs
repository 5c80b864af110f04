//! The demo, by running it: on nothing but the binary, and its proof taken at its word.

use super::process::start;
use super::wait::{report, wait_for};
use std::time::Duration;

#[test]
fn the_demo_proves_itself() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let ended =
        start(dir.path(), &["demo", "--events", "5000", "--exit"]).expect(0, Duration::from_secs(120));
    let proof = proof_of(&ended.log);
    report(&format!("demo in {:.1} s: {proof}", ended.took.as_secs_f64()));
    assert_clean(proof);
    assert_eq!(count_of(proof, "stored"), 5000, "{proof}");
    assert!(ended.log.contains("holding"), "the job meets the outage:\n{}", ended.log);
    assert!(ended.log.contains("going on"), "the job ends its hold by itself:\n{}", ended.log);
}

#[test]
fn an_interrupt_in_the_middle_of_the_outage_ends_in_a_proof() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let demo = start(dir.path(), &["demo", "--events", "5000", "--exit"]);
    wait_for("the hold", Duration::from_secs(60), || demo.log().contains("holding").then_some(()));
    demo.signal("INT");
    let ended = demo.expect(0, Duration::from_secs(60));
    let proof = proof_of(&ended.log);
    assert_clean(proof);
    assert!((1..5000).contains(&count_of(proof, "stored")), "{proof}");
}

fn proof_of(log: &str) -> &str {
    let proof = log.lines().rev().find(|line| line.contains("lost"));
    proof.unwrap_or_else(|| panic!("no proof in:\n{log}")).trim()
}

#[track_caller]
fn assert_clean(proof: &str) {
    let count = |word| count_of(proof, word);
    for fault in ["lost", "doubled", "out of order"] {
        assert_eq!(count(fault), 0, "{proof}");
    }
    assert!(count("rejected") > 0, "the demo plants records that cannot be read: {proof}");
    assert_eq!(count("read"), count("stored") + count("rejected"), "{proof}");
    assert_eq!(count("stored"), count("emitted"), "{proof}");
}

/// The number that stands in the same part of the line, between commas, as the word.
fn count_of(proof: &str, word: &str) -> u64 {
    let part = proof.split([',', ':', ';']).find(|part| part.contains(word));
    let digits: String = part.unwrap_or_default().chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("no number of {word} in {proof:?}"))
}
