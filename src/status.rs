//! Status: what the operators write down and what a person reads.
//!
//! In:        counters and holds, from any thread     Out: a snapshot
//! Holds:     numbers, and since when and why the job holds
//! Fails:     never
//! Not here:  no decision reads the board

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// An outside world that the job can be held by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum World {
    /// MariaDB, MySQL or SQLite.
    Database,
    /// Kafka.
    Broker,
}

impl World {
    /// In words.
    pub fn as_str(self) -> &'static str {
        match self {
            World::Database => "database",
            World::Broker => "broker",
        }
    }
}

/// A counter that only rises.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// Adds.
    pub fn add(&self, n: usize) {
        self.0.fetch_add(u64::try_from(n).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// The count now.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// One process's board.
#[derive(Debug)]
pub struct Board {
    /// Records taken from Kafka.
    pub read: Count,
    /// Events stored in the database, dead letters included.
    pub stored: Count,
    /// Records that Kafka has confirmed: outputs.
    pub emitted: Count,
    /// Records that Kafka has confirmed: dead letters.
    pub dead_lettered: Count,
    /// Unreadable records that the job's rule discards.
    pub discarded: Count,
    /// Events that were refused by the database or the broker, or whose look-up found nothing, whatever became of them.
    pub refused: Count,
    /// Events that were parked, those that wait behind another one included.
    pub parked: Count,
    /// Events that an earlier run had stored already.
    pub skipped: Count,
    /// Database transactions committed.
    pub transactions: Count,
    /// Records whose epoch is closed: stored, emitted, behind the frontier.
    pub committed: Count,
    /// Bytes read and not yet committed.
    in_flight_bytes: AtomicU64,
    /// Records between the positions and the ends, per worker of this process.
    lag: Vec<AtomicI64>,
    /// Per topic (by its number in the job) and partition: the next offset, as the ledger has it.
    positions: Mutex<BTreeMap<(u16, i32), i64>>,
    holds: Mutex<Vec<Hold>>,
    started: Instant,
}

#[derive(Debug)]
struct Hold {
    world: World,
    since: Instant,
    why: String,
    said: Instant,
}

/// Why the job holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holding {
    /// Which world is out.
    pub world: World,
    /// For how long.
    pub since: Duration,
    /// What it said last.
    pub why: String,
}

impl Board {
    /// A board for so many workers.
    pub fn new(workers: usize) -> Board {
        Board {
            read: Count::default(),
            stored: Count::default(),
            emitted: Count::default(),
            dead_lettered: Count::default(),
            discarded: Count::default(),
            refused: Count::default(),
            parked: Count::default(),
            skipped: Count::default(),
            transactions: Count::default(),
            committed: Count::default(),
            in_flight_bytes: AtomicU64::new(0),
            lag: (0..workers).map(|_| AtomicI64::new(0)).collect(),
            positions: Mutex::default(),
            holds: Mutex::new(Vec::new()),
            started: Instant::now(),
        }
    }

    /// Writes down a worker's lag in records; `worker` counts within the process.
    pub fn set_lag(&self, worker: usize, records: i64) {
        if let Some(lag) = self.lag.get(worker) {
            lag.store(records, Ordering::Relaxed);
        }
    }

    /// Lag of all workers of the process, in records.
    pub fn lag(&self) -> i64 {
        self.lag.iter().map(|lag| lag.load(Ordering::Relaxed)).sum()
    }

    /// Writes down the bytes in flight.
    pub fn set_in_flight(&self, bytes: usize) {
        self.in_flight_bytes.store(u64::try_from(bytes).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Bytes in flight.
    pub fn in_flight_bytes(&self) -> u64 {
        self.in_flight_bytes.load(Ordering::Relaxed)
    }

    /// Writes down that the ledger has this position: the topic's number in the job, the partition, the next offset.
    pub fn set_position(&self, topic: u16, partition: i32, next: i64) {
        let mut positions = self.positions.lock().unwrap_or_else(PoisonError::into_inner);
        positions.insert((topic, partition), next);
    }

    /// The ledger's positions of the partitions that this process reads.
    pub fn positions(&self) -> BTreeMap<(u16, i32), i64> {
        self.positions.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Since the board was made.
    pub fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    /// The job holds because of this world. Said once when it begins and once a minute.
    pub fn holds(&self, world: World, why: &str) {
        const SAY_AGAIN: Duration = Duration::from_secs(60);
        let mut holds = self.lock();
        let now = Instant::now();
        if let Some(hold) = holds.iter_mut().find(|hold| hold.world == world) {
            why.clone_into(&mut hold.why);
            if now.duration_since(hold.said) >= SAY_AGAIN {
                hold.said = now;
                let seconds = now.duration_since(hold.since).as_secs();
                tracing::warn!(world = world.as_str(), seconds, why, "still holding");
            }
            return;
        }
        tracing::warn!(world = world.as_str(), why, "holding: the job keeps its place and goes on by itself");
        holds.push(Hold { world, since: now, why: why.to_owned(), said: now });
    }

    /// The world works again.
    pub fn resumes(&self, world: World) {
        let mut holds = self.lock();
        if let Some(index) = holds.iter().position(|hold| hold.world == world) {
            let hold = holds.swap_remove(index);
            let held_ms = u64::try_from(hold.since.elapsed().as_millis()).unwrap_or(u64::MAX);
            tracing::info!(world = world.as_str(), held_ms, "going on");
        }
    }

    /// Why the job holds now, longest first.
    pub fn holding(&self) -> Vec<Holding> {
        let mut list: Vec<Holding> = self
            .lock()
            .iter()
            .map(|hold| Holding { world: hold.world, since: hold.since.elapsed(), why: hold.why.clone() })
            .collect();
        list.sort_by_key(|hold| std::cmp::Reverse(hold.since));
        list
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Hold>> {
        self.holds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
