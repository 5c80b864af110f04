//! The constant input: a thread that sends the plan's next records at a steady rate until it is told to end.

use super::input::{Input, Sender};
use super::plan::{PARTITIONS, Plan, Size};
use super::services::Services;
use super::{input, kafka};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Few keys: events of one key meet in every batch.
const KEYS: u32 = 300;
/// 200 a second: a job on a busy machine must be able to become level with it.
const EVENTS_PER_TICK: u32 = 10;
const TICK: Duration = Duration::from_millis(50);
const LINGER: Duration = Duration::from_millis(200);

/// A running feeder. It reaches the broker directly, whatever stands in front of it for the job.
pub struct Feeder {
    topic: String,
    end: Arc<AtomicBool>,
    thread: Option<JoinHandle<Plan>>,
}

impl Feeder {
    /// Makes the topic and begins.
    pub fn start(services: &'static Services, seed: u64) -> Feeder {
        let now = std::time::UNIX_EPOCH.elapsed().expect("a clock after 1970").as_millis() as i64;
        input::FIRST_TIMESTAMP_MS.set(now - 20 * 3_600_000).expect("one campaign a process");
        let topic = input::unique("fed");
        kafka::create_topics(&services.kafka, &[&topic], PARTITIONS);
        let end = Arc::new(AtomicBool::new(false));
        let (name, told) = (topic.clone(), Arc::clone(&end));
        let thread = std::thread::spawn(move || feed(services, &name, seed, &told));
        Feeder { topic, end, thread: Some(thread) }
    }

    /// The topic, with nothing of its plan: that is known when the feeder has ended.
    pub fn input(&self) -> &'static Input {
        // As long as the test process, like every input.
        let plan = Plan::new(Size { events: 0, keys: 1 }, 0);
        Box::leak(Box::new(Input { topic: self.topic.clone(), plan }))
    }

    /// Whether it has failed.
    pub fn assert_runs(&self) {
        let runs = self.thread.as_ref().is_some_and(|thread| !thread.is_finished());
        assert!(runs, "the feeder has ended; its message is above");
    }

    /// Ends it; gives the topic with all that was sent.
    pub fn finish(mut self, services: &Services) -> &'static Input {
        self.end.store(true, Ordering::Release);
        let plan = self.thread.take().expect("it runs").join().expect("the feeder has sent everything");
        let ends = kafka::Positions::new(&services.kafka, &self.topic, PARTITIONS, "tests", "read_committed")
            .ends(Duration::from_secs(30));
        assert_eq!(ends.as_deref(), Some(&plan.ends[..]), "the topic holds what was planned");
        Box::leak(Box::new(Input { topic: self.topic.clone(), plan }))
    }
}

impl Drop for Feeder {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Release);
    }
}

fn feed(services: &Services, topic: &str, seed: u64, end: &AtomicBool) -> Plan {
    let sender = Sender::new(services, topic, LINGER);
    let mut plan = Plan::new(Size { events: 0, keys: KEYS }, seed);
    let mut next = Instant::now();
    while !end.load(Ordering::Acquire) {
        let first = plan.slots.len();
        plan.grow(EVENTS_PER_TICK);
        for slot in &plan.slots[first..] {
            sender.send(plan.seed, slot);
        }
        // A rate, not a wait for something: what is behind after a slow moment is sent at once.
        next += TICK;
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    sender.finish();
    plan
}
