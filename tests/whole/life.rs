//! Life: a job's instances, one after the other and one beside the other, by a seed: faults, outages, kills, freezes,
//! drains, and at last an instance that is left in peace.

use super::check::check;
use super::instance::{How, Instance, PATIENCE};
use super::world::World;
use std::time::Duration;
use tidegate::cluster::Ended;
use tidegate::protocol::halt::HaltKind;
use tidegate::testing::{DatabaseFaults, LogFaults, Outage, Random};

/// What happens to an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Kill,
    Freeze,
    Drain,
    /// The next one starts beside it.
    Overtake,
}

/// Claims of one start: the answer to one may be lost, and no life is so unlucky that it is lost three times.
pub const CLAIMS_MAX: usize = 3;

/// Lives a life, and gives everything that is wrong.
pub fn live(world: &mut World, seed: u64) -> Vec<String> {
    let mut random = Random::new(seed);
    let random = &mut random;
    let keys = 1 + random.below(12);
    let mut instances = Vec::new();
    let mut wrong = Vec::new();
    let records = usize::try_from(20 + random.below(100)).unwrap();
    world.produce(random, keys, records);
    for round in 0..1 + random.below(4) {
        round_of(world, random, keys, round, &mut instances, &mut wrong);
    }
    last_round(world, random, &mut instances, &mut wrong);
    if wrong.is_empty() {
        wrong = check(world);
    }
    wrong
}

fn round_of(
    world: &mut World,
    random: &mut Random,
    keys: u64,
    round: u64,
    instances: &mut Vec<Instance>,
    wrong: &mut Vec<String>,
) {
    let rate = |random: &mut Random| *random.pick(&[0, 2, 10, 30, 60]).unwrap();
    let how = How {
        workers: usize::try_from(1 + random.below(4)).unwrap(),
        until_end: random.chance(200),
        log: LogFaults::all(rate(random)),
        // A frozen process would keep SQLite's one lock.
        database: DatabaseFaults {
            given_up: if world.sqlite.is_some() { 1000 } else { 500 },
            ..DatabaseFaults::all(rate(random))
        },
        seed: random.draw(),
    };
    let mut instance = Instance::start(world, &format!("run {round}"), how);
    if random.chance(150) {
        let workers = usize::try_from(1 + random.below(4)).unwrap();
        let twin = How { workers, seed: random.draw(), ..how };
        instances.push(Instance::start(world, &format!("twin {round}"), twin));
    }
    let stored = world.tables().rows.len();
    let some = usize::try_from(random.below(60)).unwrap();
    world.wait_for_rows(stored + some, Duration::from_millis(random.below(800)));
    if random.chance(500) {
        let records = usize::try_from(random.below(60)).unwrap();
        world.produce(random, keys, records);
    }
    if random.chance(500) {
        outage(world, random);
    }
    thaw_some(random, instances);
    world.wait_for_rows(stored + some + 20, Duration::from_millis(random.below(300)));
    let fate = *random.pick(&[Fate::Kill, Fate::Freeze, Fate::Freeze, Fate::Drain, Fate::Overtake]).unwrap();
    match fate {
        Fate::Kill => instance.kill(),
        Fate::Freeze => {
            instance.link.freeze();
            if random.chance(100) {
                // Longer than a transaction may take: it is given up while it stands still.
                std::thread::sleep(Duration::from_millis(1_100));
            }
        }
        Fate::Drain => {
            instance.link.say("is told to drain");
            instance.signals.drain();
            if instance.wait(Duration::from_secs(1)).is_none() {
                instance.link.calm();
            }
            if instance.wait(PATIENCE).is_none() {
                wrong.push(format!("{} does not drain", instance.name));
            }
        }
        Fate::Overtake => {}
    }
    instances.push(instance);
}

fn outage(world: &World, random: &mut Random) {
    let pause = Duration::from_millis(random.below(100));
    if world.sqlite.is_some() || random.chance(500) {
        let how = *random.pick(&[Outage::AtOnce, Outage::AtDeadline]).unwrap();
        world.history.say("broker", &format!("is out for {} ms, {how:?}", pause.as_millis()));
        world.broker.set_outage(Some(how));
        std::thread::sleep(pause);
        world.broker.set_outage(None);
    } else {
        world.history.say("database", &format!("is out for {} ms", pause.as_millis()));
        world.database.set_outage(true);
        std::thread::sleep(pause);
        world.database.set_outage(false);
    }
}

fn thaw_some(random: &mut Random, instances: &[Instance]) {
    for instance in instances {
        if random.chance(300) {
            instance.link.thaw();
        }
    }
}

/// Instances without faults beside zombies that wake up when they like; then everybody ends. A zombie that was frozen in
/// its start claims when it wakes up, and is the newest then, and claims again where the answer to that was lost: so there may be
/// as many last runs as claims, and one more.
fn last_round(world: &World, random: &mut Random, instances: &mut [Instance], wrong: &mut Vec<String>) {
    thaw_some(random, instances);
    let claims = CLAIMS_MAX * instances.len();
    for attempt in 0..=claims {
        let workers = usize::try_from(1 + random.below(4)).unwrap();
        let mut last = Instance::start(world, &format!("last run {attempt}"), How::well(workers));
        std::thread::sleep(Duration::from_millis(random.below(200)));
        thaw_some(random, instances);
        match last.wait(PATIENCE) {
            Some(Ok(Ended::Drained)) => {
                nothing_in_flight(&last, wrong);
                break;
            }
            Some(Ok(Ended::Halted(halt))) if halt.kind == HaltKind::Fenced && attempt < claims => {}
            other => return wrong.push(format!("last run {attempt} ended with {other:?}")),
        }
    }
    for instance in instances.iter() {
        instance.link.calm();
        instance.link.thaw();
        if !instance.killed {
            instance.signals.drain();
        }
    }
    // Of a killed process nothing is expected: what of it waits for a server gives up after the job's limit.
    for instance in instances.iter_mut().filter(|instance| !instance.killed) {
        let name = instance.name.clone();
        match instance.wait(PATIENCE) {
            Some(Ok(Ended::NotStarted)) => {}
            Some(Ok(Ended::Drained)) => nothing_in_flight(instance, wrong),
            Some(Ok(Ended::Halted(halt))) if matches!(halt.kind, HaltKind::Fenced | HaltKind::Rights) => {}
            other => wrong.push(format!("{name} ended with {other:?}")),
        }
    }
    // Who claimed at the very last may have been told to drain before it had sent what it took over.
    let mut sweep = Instance::start(world, "sweep", How::well(1));
    let ended = sweep.wait(PATIENCE);
    if !matches!(ended, Some(Ok(Ended::Drained))) {
        wrong.push(format!("the sweep ended with {ended:?}"));
    }
}

fn nothing_in_flight(instance: &Instance, wrong: &mut Vec<String>) {
    let bytes = instance.board.in_flight_bytes();
    if bytes > 0 {
        wrong.push(format!("{} has drained with {bytes} bytes in flight", instance.name));
    }
}
