//! The demo, by running it: on nothing but the binary, and its proof taken at its word.

use super::process::start;
use super::wait::report;
use std::time::Duration;

#[test]
fn the_demo_proves_itself() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let ended =
        start(dir.path(), &["demo", "--events", "5000", "--exit"]).expect(0, Duration::from_secs(120));
    let proof = ended
        .log
        .lines()
        .rev()
        .find(|line| line.contains("lost"))
        .unwrap_or_else(|| panic!("no proof in:\n{}", ended.log));
    report(&format!("demo in {:.1} s: {}", ended.took.as_secs_f64(), proof.trim()));

    let count = |word| count_of(proof, word);
    for fault in ["lost", "doubled", "out of order"] {
        assert_eq!(count(fault), 0, "{proof}");
    }
    assert!(count("read") >= 5000, "{proof}");
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
