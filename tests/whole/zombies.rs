//! Zombies, step by step: an old instance that was frozen at the worst place and goes on when a newer one runs.

use super::check::check;
use super::instance::{How, Instance, PATIENCE};
use super::world::{KEY_GROUPS, World};
use std::time::Duration;
use tidegate::cluster::Ended;
use tidegate::operator::exchange::key_group_of;
use tidegate::protocol::halt::HaltKind;
use tidegate::testing::{Lie, Outage, Random};

/// Without an end: it reads on.
fn reading_on(workers: usize) -> How {
    How { until_end: false, ..How::well(workers) }
}

fn assert_drained(instance: &mut Instance) {
    let ended = instance.wait(PATIENCE);
    assert!(matches!(ended, Some(Ok(Ended::Drained))), "{ended:?}");
}

fn assert_fenced(instance: &mut Instance) {
    let ended = instance.wait(PATIENCE);
    assert!(
        matches!(ended, Some(Ok(Ended::Halted(halt))) if halt.kind == HaltKind::Fenced),
        "fenced: {ended:?}"
    );
}

fn assert_right(world: &World) {
    let wrong = check(world);
    assert!(wrong.is_empty(), "{wrong:#?}\n{}", world.history.text());
}

/// A key whose key group is owned by worker 1 of two.
fn odd_key() -> u64 {
    (0..).find(|key| key_group_of(format!("k{key}").as_bytes(), KEY_GROUPS).0 % 2 == 1).unwrap()
}

/// With one worker all key groups send by id 0, with two the odd ones send by id 1: no producer of the newer instance
/// fences what the older one sends of them. So it must not get a producer any more at all.
#[test]
fn a_zombie_that_builds_a_producer_between_claim_and_fence_sends_nothing() {
    for before in ["a claim", "fencing", "reading the progress topic"] {
        let mut world = World::new();
        world.input.produce_key(&world.broker, odd_key(), 3);
        let mut old = Instance::start_until(&world, "old", "beginning a transaction", reading_on(1));
        // It loses its producer, and is about to build another one.
        world.broker.set_outage(Some(Outage::AtOnce));
        old.link.stop_before("probing");
        old.link.thaw();
        old.assert_stopped();
        world.broker.set_outage(None);
        old.link.stop_before("opening a writer");
        old.link.thaw();
        old.assert_stopped();

        let mut new = Instance::start_until(&world, "new", before, How::well(2));
        old.link.stop_before("beginning a transaction");
        old.link.thaw();
        let about_to_send = old.link.wait_for_stop(Duration::from_millis(500));
        new.link.thaw();
        assert_drained(&mut new);
        old.link.thaw();
        old.signals.drain();
        assert_fenced(&mut old);
        world
            .history
            .say("test", &format!("frozen before {before}; the zombie was about to send: {about_to_send}"));
        assert_right(&world);
    }
}

/// An old instance has stored, and is frozen before it sends; a newer one runs to the end; the old one goes on.
pub fn frozen_before_it_sends(lie: Option<Lie>) -> Vec<String> {
    overtaken_while_frozen(lie, "beginning a transaction")
}

/// An old instance is frozen in its transaction; a newer one runs to the end; the old one goes on.
pub fn frozen_before_it_stores(lie: Option<Lie>) -> Vec<String> {
    overtaken_while_frozen(lie, "the ledger's writes")
}

fn overtaken_while_frozen(lie: Option<Lie>, before: &str) -> Vec<String> {
    let mut world = World::lying(lie);
    world.input.produce(&world.broker, &mut Random::new(3), 4, 12);
    let mut old = Instance::start_until(&world, "old", before, reading_on(1));
    let mut new = Instance::start(&world, "new", How::well(1));
    let drained = matches!(new.wait(PATIENCE), Some(Ok(Ended::Drained)));
    old.link.thaw();
    old.signals.drain();
    let fenced = matches!(old.wait(PATIENCE), Some(Ok(Ended::Halted(halt))) if halt.kind == HaltKind::Fenced);
    let mut wrong = check(&world);
    if lie.is_none() && !(drained && fenced) {
        wrong.push(format!("the new one ended with {:?}, the old one with {:?}", new.ended, old.ended));
    }
    wrong
}

#[test]
fn a_zombie_is_fenced_wherever_it_was_frozen() {
    for before in [
        "a claim",
        "fencing",
        "reading the progress topic",
        "reading the outbox",
        "BEGIN",
        "a look-up",
        "a store",
        "the ledger's writes",
        "COMMIT",
        "beginning a transaction",
        "ending a transaction",
    ] {
        let mut world = World::new();
        world.input.produce(&world.broker, &mut Random::new(3), 4, 40);
        let mut old = Instance::start_until(&world, "old", before, reading_on(2));
        let mut new = Instance::start(&world, "new", How::well(3));
        let drained = matches!(new.wait(Duration::from_secs(2)), Some(Ok(Ended::Drained)));
        old.link.thaw();
        if before != "a claim" {
            // Held by the row locks of the frozen one at the longest until it went on.
            if !drained {
                assert_drained(&mut new);
            }
            assert_fenced(&mut old);
        } else {
            // It claims when it wakes up, so it is the newer one then, and reads on.
            assert!(old.wait(Duration::from_millis(300)).is_none(), "{:?}", old.ended);
            old.signals.drain();
            assert_drained(&mut old);
        }
        let wrong = check(&world);
        assert!(wrong.is_empty(), "frozen before {before}: {wrong:#?}\n{}", world.history.text());
    }
}
