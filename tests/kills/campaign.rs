//! A campaign: one job under constant input, its rounds, and both judges at the end.

use super::faults::{self, Aftermath};
use super::feeder::Feeder;
use super::instance::Instance;
use super::job::Job;
use super::process::start;
use super::progress::Progress;
use super::proxy::{self, Proxy, kafka::Answers, mariadb::Commits};
use super::script::{self, Ending, Moment, Round, Shape};
use super::services::Services;
use super::verify;
use super::wait::say;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

/// A verify reads everything.
const VERIFY: Duration = Duration::from_secs(600);

/// The job, and all that can be done to it.
pub struct World {
    pub services: &'static Services,
    pub job: Job,
    pub db: Proxy,
    pub commits: Commits,
    pub kafka: Proxy,
    pub answers: Answers,
    /// For the message of a failure.
    doing: String,
}

/// Runs so many rounds of the seed's script.
///
/// # Panics
/// When anything is not as it must be. The message says the seed, and the job's folder is left: its file, a log per
/// process, incident files. So are its topics and its schema.
pub fn run(services: &'static Services, seed: u64, rounds: usize) {
    let feeder = Feeder::start(services, seed);
    let (commits, answers) = (Commits::default(), Answers::default());
    let db = proxy::mariadb::start(&services.db, &commits);
    let kafka = proxy::kafka::start(&services.kafka, &answers);
    let mut job = Job::new(services, feeder.input(), "kills");
    job.db.clone_from(&db.address);
    job.kafka.clone_from(&kafka.address);
    // Short, so that what a frozen process has locked is free within a round.
    job.deadline_s = 10;
    job.dir.disable_cleanup(true);
    let folder = job.dir.path().to_owned();
    say(&format!("kills: seed {seed}, {rounds} rounds, logs in {}", folder.display()));
    let mut world = World { services, job, db, commits, kafka, answers, doing: String::new() };
    let played = catch_unwind(AssertUnwindSafe(|| play(&mut world, feeder, seed, rounds)));
    if let Err(panic) = played {
        say(&format!(
            "kills: FAILED in {}: scripts/kills {rounds} {seed} plays the same script; job {}, logs in {}",
            world.doing,
            world.job.name,
            folder.display()
        ));
        // Its topics and its schema are evidence.
        std::mem::forget(world);
        resume_unwind(panic);
    }
    world.job.dir.disable_cleanup(false);
}

fn play(world: &mut World, feeder: Feeder, seed: u64, rounds: usize) {
    let mut progress = Progress::new(&world.job);
    let mut running: Option<Instance> = None;
    for (index, round) in script::rounds(seed, rounds).iter().enumerate() {
        feeder.assert_runs();
        let number = index + 1;
        world.doing = format!("round {number}/{rounds}, seed {seed}: {round}");
        let line = play_one(world, &mut progress, round, &mut running);
        say(&format!("kills: round {number}/{rounds}, seed {seed}: {line}"));
        if index == rounds / 2 {
            judged_clean(world, "while the job runs");
        }
    }
    world.doing = format!("the end, seed {seed}");
    if let Some(instance) = running {
        instance.drain(0);
    }
    world.job.input = feeder.finish(world.services);
    Instance::start(&world.job, Shape { processes: 1, workers: 2 }, &["--until-end"]).expect(0);
    judged_clean(world, "behind the job");
    verify::all(&world.job);
    say(&format!("kills: seed {seed}: {} events, each once and in order", world.job.input.plan.events.len()));
}

/// One round; gives its line.
fn play_one(world: &World, progress: &mut Progress, round: &Round, running: &mut Option<Instance>) -> String {
    match (running.take(), round.ending) {
        (Some(instance), Ending::Drain) => drop(instance.drain(0)),
        (Some(instance), Ending::Kill) => instance.kill(),
        (None, _) => {}
    }
    faults::prepare(world, &round.fault);
    let mut instance = Instance::start(&world.job, round.shape, &[]);
    let before = progress.now(&mut instance);
    let after = match round.moment {
        Moment::Starting(after) => after,
        Moment::Working(after) => {
            progress.beyond(&mut instance, before);
            after
        }
    };
    std::thread::sleep(after);
    let mut logs = instance.logs();
    let Aftermath { running: left, says } = faults::happen(world, progress, round, instance);

    let repaired = Instant::now();
    let mut instance = left.unwrap_or_else(|| Instance::start(&world.job, round.then, &[]));
    let before = progress.now(&mut instance);
    progress.beyond(&mut instance, before);
    let again = repaired.elapsed();
    progress.level(&mut instance);
    let level = repaired.elapsed();
    if round.fault.ends_the_instance() {
        logs = format!("{logs} {}", instance.logs());
    }
    *running = Some(instance);
    format!(
        "{round}{}{says}: again after {} ms, level after {} ms ({logs})",
        if says.is_empty() { "" } else { ", " },
        again.as_millis(),
        level.as_millis()
    )
}

/// The product's own judge.
fn judged_clean(world: &World, when: &str) {
    let file = world.job.write_file();
    let file = file.to_str().expect("a temporary path is text");
    let ended = start(world.job.dir.path(), &["verify", file]).expect(0, VERIFY);
    let verdict = ended.log.lines().last().unwrap_or_default();
    assert_eq!(verdict, "0 lost, 0 doubled, 0 out of order", "{}", ended.log);
    say(&format!("kills: verify {when}: {verdict}, {} ms", ended.took.as_millis()));
}
