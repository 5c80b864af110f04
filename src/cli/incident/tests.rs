//! What stands in a report, and what happens where it cannot be written.

use super::*;
use crate::model::{Offset, TopicPartition};

fn reporter(folder: &Path, process: usize) -> Reporter {
    let board = Board::new(2);
    board.read.add(7);
    board.committed.add(4);
    board.set_position(0, 2, 41);
    Reporter {
        job: "orders".to_owned(),
        job_file: (PathBuf::from("jobs/orders.toml"), "ab12".to_owned()),
        topics: vec!["orders".to_owned()],
        process,
        processes: 2,
        workers: 2,
        folder: folder.to_owned(),
        board: Arc::new(board),
    }
}

fn halt() -> Halt {
    let at = Coordinates { at: TopicPartition { topic: 0, partition: 2 }, offset: Offset(41), index: 0 };
    let halt = Halt::new(HaltKind::Reject, "record orders/2/41 is refused").about(Some(at));
    Halt { worker: Some(3), ..halt.because("database reject", Some("1406".to_owned())) }
}

fn written(folder: &Path, name: &str) -> serde_json::Value {
    serde_json::from_str(&std::fs::read_to_string(folder.join(name)).unwrap()).unwrap()
}

#[test]
fn a_report_has_the_cause_and_what_an_operator_needs_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    reporter(folder.path(), 0).report(&halt());
    let json = written(folder.path(), "incident-orders.json");
    let expected = serde_json::json!({
        "job": "orders",
        "kind": "reject",
        "exit_code": 65,
        "cause": "record orders/2/41 is refused",
        "record": { "topic": "orders", "partition": 2, "offset": 41, "event_index": 0 },
        "error": { "class": "database reject", "code": "1406" },
        "first_on": { "worker": 3, "process": 1 },
        "process": 0,
        "processes": 2,
        "settled": 4,
        "in_flight": { "records": 3, "bytes": 0 },
        "ledger_positions": [{ "topic": "orders", "partition": 2, "next_offset": 41 }],
        "version": env!("CARGO_PKG_VERSION"),
        "job_file": "jobs/orders.toml",
        "job_file_sha256": "ab12",
    });
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&json[key], value, "{key}");
    }
    assert!(json["next_start"].as_str().unwrap().contains("that very record"));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no draft is left");
}

#[test]
fn processes_that_share_a_folder_keep_a_file_each() {
    let folder = tempfile::tempdir().unwrap();
    for process in 0..2 {
        reporter(folder.path(), process).report(&halt());
    }
    assert_eq!(written(folder.path(), "incident-orders.json")["process"], 0);
    assert_eq!(written(folder.path(), "incident-orders-p1.json")["process"], 1);
}

#[test]
fn the_words_say_what_the_file_says() {
    let text = reporter(Path::new("."), 1).words(&halt());
    for part in [
        "HALTED: job orders, reject, exit code 65",
        "cause       record orders/2/41 is refused",
        "record      orders/2/41",
        "error       database reject, code 1406",
        "first on    worker 3, of process 1, this one",
        "ledger      the next record is orders/2/41",
        "in flight   3 records",
        "next start  meets the same record again",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
}

#[test]
fn a_folder_that_is_not_there_is_an_error_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nowhere").join("incident.json");
    put(&path, "{}").unwrap_err();
    // And a report goes on without it.
    reporter(&folder.path().join("nowhere"), 0).report(&halt());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
