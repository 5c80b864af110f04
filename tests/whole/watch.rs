//! The watch: of two processes over real sockets one hangs, its connection open. The other must notice and end; and the
//! one that hung must end, too, once it goes on.

use super::instance::{How, Instance, PATIENCE};
use super::world::{World, job_file};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tidegate::cluster::{Cluster, Ended};
use tidegate::model::{Coordinates, Offset, TopicPartition};
use tidegate::operator::planted::{Fault, Planted};
use tidegate::protocol::halt::HaltKind;

const LIMIT_S: u64 = 5;

fn hosts() -> Vec<String> {
    let free: Vec<TcpListener> = (0..2).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    free.iter().map(|listener| listener.local_addr().unwrap().to_string()).collect()
}

/// k4 is in partition 2 of `in-a`, which the worker of process 0 reads.
fn world() -> World {
    let mut world = World::new();
    world.set_job_file(&format!("{}\n[limits]\npeer_silence_s = {LIMIT_S}\n", job_file()));
    for key in 0..5 {
        world.input.produce_key(&world.broker, key, 30);
    }
    world
}

fn start(world: &World, process: usize, hosts: &[String], planted: Option<Arc<Planted>>) -> Instance {
    let how = How { until_end: false, ..How::well(1) };
    let cluster = Cluster { workers: 1, process, hosts: hosts.to_vec() };
    Instance::start_process(world, &format!("process {process}"), how, cluster, planted)
}

fn lost(instance: &mut Instance) -> String {
    let name = instance.name.clone();
    match instance.wait(PATIENCE) {
        Some(Ok(Ended::Halted(halt))) if halt.kind == HaltKind::PeerLost => halt.message.clone(),
        other => panic!("{name} ended with {other:?}"),
    }
}

#[test]
fn a_process_that_hangs_ends_the_others_and_itself_when_it_goes_on() {
    let world = world();
    let event = Coordinates { at: TopicPartition { topic: 0, partition: 2 }, offset: Offset(7), index: 0 };
    let planted = Planted::new(Fault::Hang, event, "in-a/2/7");
    let hosts = hosts();
    let mut hanging = start(&world, 0, &hosts, Some(Arc::clone(&planted)));
    let mut other = start(&world, 1, &hosts, None);
    let begun = Instant::now();
    let message = lost(&mut other);
    assert!(planted.has_happened());
    assert!(message.contains("process 0 of the cluster"), "{message}");
    assert!(message.contains(&format!("nothing for {LIMIT_S} s")), "{message}");
    assert!(begun.elapsed() >= Duration::from_secs(LIMIT_S), "not before its limit: {:?}", begun.elapsed());
    assert!(hanging.wait(Duration::ZERO).is_none(), "it hangs: {:?}", hanging.ended);
    planted.release();
    lost(&mut hanging);
}

#[test]
fn processes_that_only_wait_are_not_taken_for_lost() {
    let world = world();
    // Nothing can be stored: for longer than the limit there is nothing to do but to be alive.
    world.database.set_outage(true);
    let hosts = hosts();
    let mut both = [start(&world, 0, &hosts, None), start(&world, 1, &hosts, None)];
    for instance in &mut both {
        let ended = instance.wait(Duration::from_secs(LIMIT_S + 3));
        assert!(ended.is_none(), "{ended:?}");
    }
    world.database.set_outage(false);
    both.iter().for_each(|instance| instance.signals.drain());
    for instance in &mut both {
        let ended = instance.wait(PATIENCE);
        assert!(matches!(ended, Some(Ok(Ended::Drained | Ended::NotStarted))), "{ended:?}");
    }
}
