//! Lives by seed.

use super::life::live;
use super::world::World;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Of a plain `cargo test`.
const SEEDS: u64 = 300;
const SEEDS_ON_SQLITE: u64 = 30;
/// Beside each other.
const AT_A_TIME: usize = 32;

#[test]
fn whatever_happens_each_record_takes_effect_once_and_in_order() {
    let world = |seed| match seed % 4 {
        0 => World::new(),
        2 => World::of_many(None),
        _ => World::with_unique_events(),
    };
    run(SEEDS, world, "whatever_happens");
}

#[test]
fn whatever_happens_the_real_ledger_on_sqlite_keeps_it() {
    run(SEEDS_ON_SQLITE, |_| World::on_sqlite(), "on_sqlite");
}

fn run(count: u64, world: fn(u64) -> World, test: &str) {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let seeds = match (number("TIDEGATE_SEED"), number("TIDEGATE_SEEDS")) {
        (Some(seed), _) => seed..seed + 1,
        (None, asked) => 0..asked.unwrap_or(count),
    };
    let next = AtomicU64::new(seeds.start);
    let failed = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..AT_A_TIME {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        return;
                    }
                    if let Some(report) = report(world(seed), seed, test) {
                        failed.lock().unwrap().push(report);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} seeds failed\n{}", failed.len(), failed.join("\n"));
}

fn report(mut world: World, seed: u64, test: &str) -> Option<String> {
    let wrong = live(&mut world, seed);
    if wrong.is_empty() {
        return None;
    }
    let path = std::env::temp_dir().join(format!("tidegate-{test}-{seed}.txt"));
    std::fs::write(&path, world.history.text()).expect("the history is written");
    let shown: Vec<&String> = wrong.iter().take(20).collect();
    Some(format!(
        "seed {seed}: {} things are wrong: {shown:#?}\nhistory: {}\nagain: TIDEGATE_SEED={seed} cargo test --test whole {test}",
        wrong.len(),
        path.display()
    ))
}
