//! A disk that is full under a running job: it holds and says what the server says, and goes on once there is space.
//!
//! The disk is a file system in memory that holds the job's table. Mounting one takes root: elsewhere this proves nothing,
//! and says so.

use super::bench::{Bench, DEADLINE};
use crate::services::turn;
use crate::wait::{report, say, wait_for};
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const REST: &str = r#"
[event]
key = ["@k"]
[event.fields]
k = { path = "@k", type = "text" }

[[database.steps]]
store = "INSERT INTO store (k, filler) VALUES (:k, REPEAT('x', 8000))"

[output]
topic = "OUTPUT"
"#;

const EVENTS: usize = 3_000;

/// A small disk.
struct Disk(TempDir);

impl Disk {
    fn mount(mib: u32) -> Option<Disk> {
        let disk = Disk(tempfile::tempdir().expect("a temporary folder"));
        disk.run("mount", &["-t", "tmpfs", "-o", &format!("size={mib}m"), "tmpfs"]).then_some(disk)
    }

    fn grow(&self, mib: u32) {
        assert!(self.run("mount", &["-o", &format!("remount,size={mib}m")]), "the disk does not grow");
    }

    fn run(&self, program: &str, args: &[&str]) -> bool {
        Command::new(program)
            .args(args)
            .arg(self.0.path())
            .output()
            .is_ok_and(|output| output.status.success())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // One that was never mounted cannot be taken away.
        self.run("umount", &[]);
    }
}

#[test]
fn a_full_disk_holds_the_job_until_there_is_space() {
    let turn = turn();
    // The bench goes first, and its tables with it.
    let Some(disk) = Disk::mount(16) else {
        say("a full disk: NOT PROVED here, since mounting a small one takes root");
        return;
    };
    let bench = Bench::new(turn.services, "disk", &[]);
    let folder = disk.0.path().display();
    turn.services.root().run(&format!(
        "CREATE TABLE {}.store (entry INT PRIMARY KEY AUTO_INCREMENT, k VARCHAR(10), filler TEXT) \
         DATA DIRECTORY = '{folder}'",
        bench.schema
    ));
    bench.job("batch_events = 50", REST);
    let documents: Vec<_> = (0..EVENTS).map(|n| format!("<r k=\"{n}\"/>")).collect();
    bench.send_texts(&documents);
    let mut process = bench.run();
    wait_for("the job to hold", DEADLINE, || {
        process.assert_runs();
        let log = process.log();
        (log.contains(" holding") && log.contains("1114")).then_some(())
    });
    let mut sql = bench.sql();
    let mut stored = || sql.peek::<i64>("SELECT COUNT(*) FROM store").expect("a count") as usize;
    let full = stored();
    // Nothing moves, whatever is tried meanwhile.
    let since = Instant::now();
    while since.elapsed() < Duration::from_secs(5) {
        process.assert_runs();
        assert_eq!(stored(), full);
        std::thread::sleep(Duration::from_millis(200));
    }
    disk.grow(128);
    let space = Instant::now();
    wait_for("the job to go on", DEADLINE, || {
        process.assert_runs();
        (stored() > full).then_some(())
    });
    report(&format!(
        "a full disk: {full} of {EVENTS} stored, went on {} ms after it grew",
        space.elapsed().as_millis()
    ));
    bench.wait_count(&mut process, "SELECT COUNT(*) FROM store", EVENTS as i64);
    process.signal("TERM");
    let log = process.expect(0, DEADLINE).log;
    assert!(full < EVENTS, "the disk was never full");
    let expected: Vec<_> = (0..EVENTS).map(|n| n.to_string()).collect();
    assert_eq!(bench.column("SELECT k FROM store ORDER BY entry"), expected);
    assert_eq!(bench.output_texts(), documents);
    assert!(log.len() < 16 * 1024, "{} bytes of log", log.len());
}
