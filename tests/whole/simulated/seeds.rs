//! Simulated lives by seed: `TIDEGATE_LIVES=n` lives the first n, `TIDEGATE_LIFE=n` one, and shows its history.

use super::life::{live, live_with};
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tidegate::testing::Lie;

/// Of a plain `cargo test`.
const LIVES: u64 = 400;
/// More failures than anybody reads.
const FAILURES_MAX: usize = 10;
const SAY_EVERY: Duration = Duration::from_secs(10);

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a number"))
}

/// To the terminal, past the runner's capture.
fn say(line: &str) {
    writeln!(std::io::stderr(), "{line}").expect("standard error takes a line");
}

#[test]
fn every_schedule_takes_each_record_through_once_and_in_order() {
    if let Some(seed) = number("TIDEGATE_LIFE") {
        let lived = live(seed);
        say(&lived.history.text());
        assert!(lived.wrong.is_empty(), "life {seed}: {:#?}", lived.wrong);
        return;
    }
    let lives = number("TIDEGATE_LIVES").unwrap_or(LIVES);
    let first = number("TIDEGATE_LIFE_FROM").unwrap_or(0);
    let next = AtomicU64::new(first);
    let failed = Mutex::new(Vec::new());
    let began = Instant::now();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let workers: Vec<_> =
            (0..threads).map(|_| scope.spawn(|| live_on(&next, first + lives, &failed))).collect();
        let mut said = Instant::now();
        while workers.iter().any(|worker| !worker.is_finished()) {
            std::thread::sleep(Duration::from_millis(20));
            if said.elapsed() >= SAY_EVERY {
                said = Instant::now();
                report(next.load(Ordering::Relaxed).min(first + lives) - first, lives, began);
            }
        }
    });
    report(lives, lives, began);
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} lives failed\n{}", failed.len(), failed.join("\n"));
}

fn report(lived: u64, of: u64, began: Instant) {
    let elapsed = began.elapsed();
    let per_s = u128::from(lived) * 1000 / elapsed.as_millis().max(1);
    say(&format!("{lived} of {of} simulated lives in {} s, {per_s}/s", elapsed.as_secs()));
}

fn live_on(next: &AtomicU64, end: u64, failed: &Mutex<Vec<String>>) {
    loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed >= end || failed.lock().unwrap().len() >= FAILURES_MAX {
            return;
        }
        let lived = std::panic::catch_unwind(|| live(seed));
        let wrong = match lived {
            Ok(lived) if lived.wrong.is_empty() => continue,
            Ok(lived) => lived.wrong,
            Err(_panic) => vec!["a panic, told above".to_owned()],
        };
        let shown: Vec<&String> = wrong.iter().take(10).collect();
        failed.lock().unwrap().push(format!(
            "life {seed}: {} things are wrong: {shown:#?}\nagain, with its history: TIDEGATE_LIFE={seed} cargo test --test whole \
             every_schedule",
            wrong.len()
        ));
    }
}

#[test]
fn a_seed_is_replayed_exactly() {
    for seed in 0..20 {
        let (once, again) = (live(seed), live(seed));
        assert_eq!(once.history.text(), again.history.text(), "life {seed}");
    }
}

/// A check that cannot fail proves nothing: of each lie some life must tell.
#[test]
fn servers_that_lie_are_found_out() {
    for lie in [
        Lie::CommitAborts,
        Lie::AbortCommits,
        Lie::NoFence,
        Lie::CommitLosesRows,
        Lie::CommitForgets,
        Lie::NoCompare,
    ] {
        let finds = |seed| {
            // An invariant that does not hold any more ends a life by a panic.
            std::panic::catch_unwind(|| live_with(seed, Some(lie)))
                .map_or(true, |lived| !lived.wrong.is_empty())
        };
        let found = (0..200).find(|seed| finds(*seed));
        assert!(found.is_some(), "nothing is wrong with {lie:?}");
    }
}
