//! Feeder: the shop's till, a thread that sends changes to the job's input topic at a rate.
//!
//! In:        where to begin and to end, how fast     Out: records, each change behind the one before
//! Order:     by number; one writer, so also per key
//! Fails:     the first failed transaction ends it, with a text
//! Not here:  it never runs further ahead than [`AHEAD_MAX`] of the slower of job and collector: the embedded broker keeps
//!            about 5 MB for each partition and drops what is older without a word

use super::shop::Shop;
use crate::kafka::Log;
use crate::model::Outgoing;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Records sent and not yet settled, at most.
const AHEAD_MAX: u64 = 20_000;
/// Changes in one transaction, at most.
const CHUNK_MAX: u64 = 2_000;
/// Between two transactions.
const TICK: Duration = Duration::from_millis(40);
const DEADLINE: Duration = Duration::from_secs(30);

/// What is sent, and how fast.
pub(super) struct Plan {
    pub(super) shop: Shop,
    /// The last change that was sent before.
    pub(super) behind: u64,
    /// The last change to send.
    pub(super) last: u64,
    /// Changes for each second.
    pub(super) rate: f64,
}

/// A feeder at work.
pub(super) struct Feeder {
    shop: Shop,
    sent: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<(), String>>,
}

impl Feeder {
    /// Starts it. `settled`: how many records, of all that were ever sent, nobody will ask the broker for again.
    pub(super) fn start(
        plan: Plan,
        log: Arc<dyn Log>,
        settled: impl Fn() -> u64 + Send + 'static,
    ) -> Result<Feeder, String> {
        let (sent, stop) = (Arc::new(AtomicU64::new(plan.behind)), Arc::new(AtomicBool::new(false)));
        let shop = plan.shop;
        let (counter, stopped) = (Arc::clone(&sent), Arc::clone(&stop));
        let thread = std::thread::Builder::new()
            .name("demo-feeder".to_owned())
            .spawn(move || feed(&plan, &*log, &settled, &counter, &stopped))
            .map_err(|error| format!("no thread for the demo's feeder: {error}"))?;
        Ok(Feeder { shop, sent, stop, thread })
    }

    /// Changes sent so far, counted from the first of the demo.
    pub(super) fn changes(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    /// Records sent so far: changes and what is planted between them.
    pub(super) fn records(&self) -> u64 {
        let changes = self.changes();
        changes + self.shop.planted_within(changes)
    }

    /// Whether it will send no more.
    pub(super) fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }

    /// Tells it to send no more.
    pub(super) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Waits for its end: the number of changes sent.
    pub(super) fn join(self) -> Result<u64, String> {
        self.thread.join().map_err(|_panicked| "the demo's feeder panicked".to_owned())??;
        Ok(self.sent.load(Ordering::Relaxed))
    }
}

fn feed(
    plan: &Plan,
    log: &dyn Log,
    settled: &dyn Fn() -> u64,
    sent: &AtomicU64,
    stop: &AtomicBool,
) -> Result<(), String> {
    let failed = |error| format!("the demo cannot send orders to the embedded broker: {error}");
    let mut writer = log.writer("demo-shop", DEADLINE).map_err(failed)?;
    let began = Instant::now();
    let mut done = plan.behind;
    while done < plan.last && !stop.load(Ordering::Relaxed) {
        let due = plan.behind.saturating_add(due_after(began.elapsed(), plan.rate)).min(plan.last);
        let ahead = (done + plan.shop.planted_within(done)).saturating_sub(settled());
        let room = AHEAD_MAX.saturating_sub(ahead).min(CHUNK_MAX);
        let upto = due.min(done.saturating_add(room));
        if upto == done {
            std::thread::sleep(TICK);
            continue;
        }
        let records: Vec<Outgoing> =
            (done + 1..=upto).flat_map(|number| records(plan.shop, number)).collect();
        let records: Vec<&Outgoing> = records.iter().collect();
        writer.transact(&records, &[], DEADLINE).map_err(failed)?;
        done = upto;
        sent.store(done, Ordering::Relaxed);
        if upto == due {
            std::thread::sleep(TICK);
        }
    }
    Ok(())
}

/// A change, and what is planted behind it.
fn records(shop: Shop, number: u64) -> impl Iterator<Item = Outgoing> {
    let planted = shop.planted_behind(number).map(|planted| shop.planted(planted));
    std::iter::once(shop.change(number).record()).chain(planted)
}

/// Whole changes that are due by now.
fn due_after(elapsed: Duration, rate: f64) -> u64 {
    // A stretched duration has as many whole seconds as changes are due.
    elapsed.mul_f64(rate).as_secs()
}
