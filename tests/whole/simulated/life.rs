//! A simulated life: instances one after the other and one beside the other, and all that can happen to them and to the
//! two worlds, by a seed; and at last an instance that is left in peace.

use super::super::check::check;
use super::super::input::TOPICS;
use super::super::instance::How;
use super::super::life::CLAIMS_MAX;
use super::super::world::World;
use super::process::Process;
use super::universe::Universe;
use std::sync::Arc;
use std::time::Duration;
use tidegate::cluster::Ended;
use tidegate::database::ParkedMark;
use tidegate::job::RejectRule;
use tidegate::protocol::halt::HaltKind;
use tidegate::testing::{DatabaseFaults, History, Lie, LogFaults, Outage, Random, Tables};
use tokio::task::LocalSet;

/// What a healthy world may need for anything.
const PATIENCE: Duration = Duration::from_secs(300);

/// How a life went.
pub struct Lived {
    pub wrong: Vec<String>,
    pub history: Arc<History>,
}

/// Lives the life of this seed.
pub fn live(seed: u64) -> Lived {
    live_with(seed, None)
}

/// The same with servers that lie.
pub fn live_with(seed: u64, lie: Option<Lie>) -> Lived {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let local = LocalSet::new();
    local.block_on(&runtime.unwrap(), async {
        let world = match lie {
            None if seed.is_multiple_of(4) => World::of_many(match seed % 32 {
                4 | 20 => Some(RejectRule::Park),
                12 => Some(RejectRule::DeadLetter),
                28 => Some(RejectRule::Discard),
                _ => None,
            }),
            None if seed % 8 == 1 => World::new(),
            None if seed % 2 == 1 => World::with_unique_events(),
            None if seed % 4 == 2 => World::refusing(match seed % 16 {
                6 => RejectRule::DeadLetter,
                14 => RejectRule::Discard,
                _ => RejectRule::Park,
            }),
            lie => World::lying(lie),
        };
        let history = Arc::clone(&world.history);
        let mut life = Life {
            universe: Universe::new(world, seed),
            keys: 0,
            added: false,
            backup: None,
            wrong: Vec::new(),
        };
        life.live().await;
        Lived { wrong: life.wrong, history }
    })
}

struct Life {
    universe: Universe,
    keys: u64,
    /// A partition was added.
    added: bool,
    /// The database as it was some time ago.
    backup: Option<Tables>,
    wrong: Vec<String>,
}

impl Life {
    fn random(&mut self) -> &mut Random {
        &mut self.universe.random
    }

    fn some(&mut self, below: u64) -> usize {
        usize::try_from(self.random().below(below)).unwrap()
    }

    fn some_ms(&mut self, below: u64) -> Duration {
        Duration::from_millis(self.random().below(below))
    }

    async fn live(&mut self) {
        self.keys = 1 + self.random().below(12);
        let records = 10 + self.some(40);
        self.produce(records);
        for round in 0..1 + self.random().below(3) {
            self.round(round).await;
        }
        self.last_round().await;
        // A process that has ended takes its tasks with it, and they their connections.
        self.universe.processes.iter_mut().for_each(Process::kill);
        self.universe.pass(Duration::from_millis(1)).await;
        if self.wrong.is_empty() {
            self.wrong = check(&self.universe.world);
        }
    }

    fn produce(&mut self, records: usize) {
        let (keys, added) = (self.keys, self.added);
        let Universe { world, random, .. } = &mut self.universe;
        world.produce(random, keys, records);
        if added && world.many.is_none() {
            let records = usize::try_from(random.below(6)).unwrap();
            world.input.produce_added(&world.broker, random, records);
        }
    }

    fn how(&mut self) -> How {
        let rate = *self.random().pick(&[0, 5, 30, 100, 200]).unwrap();
        let log = LogFaults { slow: self.slow(), ..LogFaults::all(rate) };
        let rate = *self.random().pick(&[0, 5, 30, 100, 200]).unwrap();
        let database = DatabaseFaults { slow: self.slow(), ..DatabaseFaults::all(rate) };
        let workers = 1 + self.some(3);
        How { workers, until_end: self.random().chance(200), log, database, seed: self.random().draw() }
    }

    /// Most calls take some time: what else happens in between is the point.
    fn slow(&mut self) -> u32 {
        *self.random().pick(&[200, 500, 900]).unwrap()
    }

    async fn round(&mut self, round: u64) {
        if self.random().chance(200) {
            self.put_backup_in_place(round).await;
        }
        let how = self.how();
        let newest = self.universe.start(&format!("run {round}"), how);
        if self.random().chance(150) {
            let twin = How { workers: 1 + self.some(3), seed: self.random().draw(), ..how };
            self.universe.start(&format!("twin {round}"), twin);
        }
        let time = self.some_ms(600);
        self.universe.pass(time).await;
        if self.random().chance(500) {
            let records = self.some(20);
            self.produce(records);
        }
        if self.random().chance(100) {
            self.add_partition();
        }
        if self.random().chance(400) {
            self.backup = Some(self.universe.world.tables());
        }
        if self.random().chance(400) {
            self.outage().await;
        }
        self.thaw_some();
        if self.random().chance(500) {
            self.mend_or_retry().await;
        }
        let time = self.some_ms(400);
        self.universe.pass(time).await;
        self.fate_of(newest).await;
    }

    /// A person mends the schema, or has parked events tried, too early or in time.
    async fn mend_or_retry(&mut self) {
        if self.universe.world.refused != Some(RejectRule::Park) {
            return;
        }
        if self.random().chance(400) {
            self.say("a person", "mends the schema");
            self.universe.world.database.mend();
        }
        self.retry_all().await;
        // Marks are looked for every two seconds: what happens next may come in the middle of a pass.
        let time = match self.random().chance(500) {
            true => self.some_ms(3_000),
            false => Duration::from_millis(1_950) + self.some_ms(150),
        };
        self.universe.pass(time).await;
    }

    /// Marks every parked key for a retry, if the database answers.
    async fn retry_all(&mut self) {
        let keys = self.universe.world.parked();
        let database = self.universe.world.database.handle();
        let Ok(mut session) = database.connect().await else { return };
        let marked = session.mark_parked(&keys, ParkedMark::Retry, &[]).await;
        self.say("a person", &format!("wants {} keys tried: {marked:?}", keys.len()));
    }

    async fn fate_of(&mut self, index: usize) {
        match self.random().below(5) {
            0 => self.universe.processes[index].kill(),
            1 | 2 => {
                self.universe.processes[index].freeze();
                if self.random().chance(200) {
                    let time = self.some_ms(40_000);
                    self.universe.pass(time).await;
                }
            }
            3 => self.drain(index).await,
            // The next one starts beside it.
            _ => {}
        }
    }

    async fn drain(&mut self, index: usize) {
        let process = &mut self.universe.processes[index];
        process.link.say("is told to drain");
        process.signals.drain();
        let ended = |universe: &mut Universe| universe.processes[index].ended().is_some();
        if !self.universe.run_until(Duration::from_secs(2), ended).await {
            self.universe.processes[index].link.calm();
            if !self.universe.run_until(PATIENCE, ended).await {
                self.wrong.push(format!("{} does not drain", self.universe.processes[index].name));
            }
        }
    }

    async fn outage(&mut self) {
        let time = if self.random().chance(100) { self.some_ms(60_000) } else { self.some_ms(300) };
        if self.random().chance(500) {
            let how = *self.random().pick(&[Outage::AtOnce, Outage::AtDeadline]).unwrap();
            self.say("broker", &format!("is out for {} ms, {how:?}", time.as_millis()));
            self.universe.world.broker.set_outage(Some(how));
            self.universe.pass(time).await;
            self.universe.world.broker.set_outage(None);
        } else {
            self.say("database", &format!("is out for {} ms", time.as_millis()));
            self.universe.world.database.set_outage(true);
            self.universe.pass(time).await;
            self.universe.world.database.set_outage(false);
        }
    }

    fn say(&self, who: &str, what: &str) {
        self.universe.world.history.say(who, what);
    }

    fn add_partition(&mut self) {
        let (topic, partitions) = TOPICS[0];
        self.say("broker", &format!("{topic} gets a partition"));
        self.universe.world.broker.create_topic(topic, partitions + 1);
        self.added = true;
        self.produce(0);
    }

    /// Somebody restores an old backup of the database while nothing runs. The job notices that what Kafka has is not
    /// stored, or it was not there yet when the backup was made and is done again.
    async fn put_backup_in_place(&mut self, round: u64) {
        let Some(backup) = self.backup.take() else { return };
        for process in &mut self.universe.processes {
            process.kill();
        }
        let world = &self.universe.world;
        // What is on its way is lost, as with a server that is stopped for it.
        world.database.set_outage(true);
        self.universe.pass(Duration::from_secs(1)).await;
        let world = &self.universe.world;
        let now = world.tables();
        world.database.set_outage(false);
        world.database.restore(backup);
        self.say("database", "is restored from a backup");
        let index = self.universe.start(&format!("restored {round}"), How::well(1));
        let ended = |universe: &mut Universe| universe.processes[index].ended().is_some();
        if !self.universe.run_until(PATIENCE, ended).await {
            return self.wrong.push(format!("restored {round} does not end"));
        }
        match self.universe.processes[index].ended() {
            Some(Ended::Drained) => {}
            Some(Ended::Halted(halt)) if halt.kind == HaltKind::Fenced => {
                self.say("database", "has its rows again");
                self.universe.world.database.restore(now);
            }
            other => self.wrong.push(format!("restored {round} ended with {other:?}")),
        }
    }

    fn thaw_some(&mut self) {
        let Universe { random, processes, .. } = &mut self.universe;
        for process in processes {
            if random.chance(300) {
                process.thaw();
            }
        }
    }

    /// Instances without faults beside zombies that wake up when they like; then everybody ends. A zombie that was frozen
    /// in its start claims when it wakes up, and is the newest then, and claims again where the answer to that was lost: so
    /// there may be as many last runs as claims, and one more.
    async fn last_round(&mut self) {
        self.thaw_some();
        if self.universe.world.refused == Some(RejectRule::Park) {
            self.universe.world.database.mend();
        }
        let claims = CLAIMS_MAX * self.universe.processes.len();
        for attempt in 0..=claims {
            let workers = 1 + self.some(3);
            let last = self.universe.start(&format!("last run {attempt}"), How::well(workers));
            let time = self.some_ms(300);
            self.universe.pass(time).await;
            self.thaw_some();
            let ended = |universe: &mut Universe| universe.processes[last].ended().is_some();
            self.universe.run_until(PATIENCE, ended).await;
            match self.universe.processes[last].ended() {
                Some(Ended::Drained) => break,
                Some(Ended::Halted(halt)) if halt.kind == HaltKind::Fenced && attempt < claims => {}
                other => return self.wrong.push(format!("last run {attempt} ended with {other:?}")),
            }
        }
        self.everybody_ends().await;
        // What is parked is tried once more in a world that has nothing against it.
        self.retry_all().await;
        // Who claimed at the very last may have been told to drain before it had sent what it took over.
        let sweep = self.universe.start("sweep", How::well(1));
        let ended = |universe: &mut Universe| universe.processes[sweep].ended().is_some();
        self.universe.run_until(PATIENCE, ended).await;
        let ended = self.universe.processes[sweep].ended();
        if ended != Some(Ended::Drained) {
            self.wrong.push(format!("the sweep ended with {ended:?}"));
        }
    }

    async fn everybody_ends(&mut self) {
        for process in &mut self.universe.processes {
            process.link.calm();
            process.thaw();
            process.signals.drain();
        }
        let all = |universe: &mut Universe| {
            universe.processes.iter_mut().all(|process| process.is_killed() || process.ended().is_some())
        };
        self.universe.run_until(PATIENCE, all).await;
        for process in self.universe.processes.iter_mut().filter(|process| !process.is_killed()) {
            match process.ended() {
                Some(Ended::NotStarted) => {}
                Some(Ended::Drained) if process.board.in_flight_bytes() == 0 => {}
                // An outage, or the time in which it was frozen, may have been longer than the job allows.
                Some(Ended::Halted(halt)) if matches!(halt.kind, HaltKind::Fenced | HaltKind::Outage) => {}
                other => self.wrong.push(format!(
                    "{} ended with {other:?} and {} bytes in flight",
                    process.name,
                    process.board.in_flight_bytes()
                )),
            }
        }
    }
}
