//! What a fault does to a running instance, and what is left of it.

use super::campaign::World;
use super::instance::{Instance, codes};
use super::progress::Progress;
use super::proxy::kafka::Api;
use super::proxy::mariadb::Lost;
use super::script::{By, Fault, Round};
use super::services::Server;
use super::sql::Sql;
use std::time::{Duration, Instant};

/// What the broker takes at most to write the markers of a decision.
const MARKERS: Duration = Duration::from_millis(300);

/// What a fault has left.
pub struct Aftermath {
    /// The instance that runs now; `None`: another one has to be started.
    pub running: Option<Instance>,
    /// Exit codes of what has ended, or what else there is to say.
    pub says: String,
}

impl Aftermath {
    fn ended(says: String) -> Aftermath {
        Aftermath { running: None, says }
    }

    fn runs(running: Instance, says: impl Into<String>) -> Aftermath {
        Aftermath { running: Some(running), says: says.into() }
    }
}

/// Lets the round's fault happen, and waits until nothing of it is in the way any more.
pub fn happen(world: &World, progress: &mut Progress, round: &Round, mut instance: Instance) -> Aftermath {
    match &round.fault {
        Fault::KillOne { victim } => Aftermath::ended(instance.kill_one(*victim)),
        Fault::KillAll => {
            instance.kill();
            Aftermath::ended("KILL".to_owned())
        }
        Fault::Drain { asked } => Aftermath::ended(instance.drain(*asked)),
        Fault::Zombie { lasts } => zombie(world, progress, round, instance, *lasts),
        Fault::Standstill { everybody, lasts } => {
            let signal = |name: &str| {
                if *everybody { instance.signal(name) } else { instance.signal_one(0, name) }
            };
            signal("STOP");
            std::thread::sleep(*lasts);
            signal("CONT");
            Aftermath::runs(instance, "")
        }
        Fault::Outage { server, verb, lasts } => {
            take_down(world, *server, verb);
            last(&mut instance, *lasts);
            world.services.act(*server, if *verb == "freeze" { "thaw" } else { "start" });
            Aftermath::runs(instance, "")
        }
        Fault::Disconnected(cuts) => {
            let closed = disconnect(world, &mut instance, cuts);
            Aftermath::runs(instance, format!("{closed} connections"))
        }
        Fault::Commits(lost) => {
            commits(world, &mut instance, lost);
            Aftermath::runs(instance, "")
        }
        Fault::CutOff(pauses) => {
            let mut closed = 0;
            for pause in pauses {
                closed += world.kafka.cut_all();
                last(&mut instance, *pause);
            }
            Aftermath::runs(instance, format!("{closed} connections"))
        }
        Fault::Answers(apis) => {
            // The first was armed before the start.
            wait_lost(world, &mut instance, "the answer to InitProducerId");
            for api in &apis[1..] {
                world.answers.lose(*api);
                wait_lost(world, &mut instance, &format!("the answer to {api:?}"));
            }
            Aftermath::runs(instance, "")
        }
        Fault::Undecided => {
            world.answers.lose_until_given_up(Api::EndTxn);
            wait_lost(world, &mut instance, "a producer that is given up");
            let taken = world.answers.taken();
            Aftermath::runs(instance, format!("{taken} answers"))
        }
    }
}

/// A broker that is killed or stopped between a decision and its markers can lose the markers for good, and with them a
/// transaction that it has confirmed (docs/decisions/0010): then the job rightly holds or halts. This very moment is left out. What
/// the broker has decided before has its markers after a moment; what is open stays so until it comes back.
fn take_down(world: &World, server: Server, verb: &str) {
    let spares = server == Server::Kafka && verb != "freeze";
    if spares {
        world.answers.keep_undecided(true);
        std::thread::sleep(MARKERS);
    }
    world.services.act(server, verb);
    if spares {
        world.answers.keep_undecided(false);
    }
}

/// Lets an outage last; the job must live through it.
fn last(instance: &mut Instance, lasts: Duration) {
    let start = Instant::now();
    while start.elapsed() < lasts {
        instance.assert_runs();
        std::thread::sleep(Duration::from_millis(20).min(lasts));
    }
}

/// Another instance takes over while this one stands still; then it wakes up, and must hear from Kafka or the ledger
/// that it is not the newest any more. Input is constant, so there is always something that it tries to do.
fn zombie(
    world: &World,
    progress: &mut Progress,
    round: &Round,
    old: Instance,
    lasts: Duration,
) -> Aftermath {
    let start = Instant::now();
    old.signal("STOP");
    let mut new = Instance::start(&world.job, round.then, &[]);
    let before = progress.now(&mut new);
    progress.beyond(&mut new, before);
    let taken_over = start.elapsed();
    last(&mut new, lasts.saturating_sub(start.elapsed()));
    let awake = Instant::now();
    old.signal("CONT");
    let ended = old.expect(76);
    let says = format!(
        "{}, taken over within {} ms, the zombie ended {} ms after SIGCONT",
        codes(ended),
        taken_over.as_millis(),
        awake.elapsed().as_millis()
    );
    Aftermath::runs(new, says)
}

fn disconnect(world: &World, instance: &mut Instance, cuts: &[(By, Duration)]) -> usize {
    let mut root = world.services.root();
    let mut closed = 0;
    for (by, pause) in cuts {
        closed += match by {
            By::Server => kill_connections(&mut root, &world.job.schema),
            By::Wire => world.db.cut_all(),
        };
        last(instance, *pause);
    }
    closed
}

/// Through the server's own account; gives how many there were.
fn kill_connections(root: &mut Sql, schema: &str) -> usize {
    let mut ids = Vec::new();
    root.each(
        &format!("SELECT id FROM information_schema.processlist WHERE user = 'app' AND db = '{schema}'"),
        |id: u64| ids.push(id),
    );
    for id in &ids {
        // It may have ended by itself.
        root.try_run(&format!("KILL CONNECTION {id}"));
    }
    ids.len()
}

fn commits(world: &World, instance: &mut Instance, lost: &[Lost]) {
    for one in lost {
        world.commits.lose(*one);
        Progress::wait(instance, "a COMMIT to be lost", || world.commits.are_lost().then_some(()));
    }
}

fn wait_lost(world: &World, instance: &mut Instance, what: &str) {
    Progress::wait(instance, &format!("{what} to be lost"), || world.answers.are_lost().then_some(()));
}

/// What has to be in place before the instance of this round is started.
pub fn prepare(world: &World, fault: &Fault) {
    // Nowhere else: a broker that comes back and ends what has outlived its time-out before its partitions have a leader
    // loses the markers of that (docs/decisions/0010), too.
    let stands_still = matches!(fault, Fault::Standstill { .. } | Fault::Zombie { .. });
    world.answers.shorten_time_outs(stands_still);
    if let Fault::Answers(apis) = fault {
        world.answers.lose(apis[0]);
    }
}
