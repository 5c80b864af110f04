//! What an instance does that has nothing to do.

use super::super::instance::How;
use super::super::world::World;
use super::universe::Universe;
use std::time::Duration;
use tidegate::cluster::Ended;
use tidegate::protocol::halt::HaltKind;
use tokio::task::LocalSet;

/// Nothing comes that it could store or send, so that no server would tell it.
#[test]
fn an_idle_instance_hears_that_it_is_not_the_newest_any_more() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    LocalSet::new().block_on(&runtime.unwrap(), async {
        let mut universe = Universe::new(World::new(), 1);
        let reading_on = How { until_end: false, ..How::well(2) };
        let old = universe.start("old", reading_on);
        universe.pass(Duration::from_secs(60)).await;
        assert_eq!(universe.processes[old].ended(), None);
        let new = universe.start("new", reading_on);
        let old_ended = |universe: &mut Universe| universe.processes[old].ended().is_some();
        assert!(universe.run_until(Duration::from_secs(20), old_ended).await, "the old one goes on");
        let ended = universe.processes[old].ended();
        assert!(matches!(&ended, Some(Ended::Halted(halt)) if halt.kind == HaltKind::Fenced), "{ended:?}");
        assert_eq!(universe.processes[new].ended(), None);
    });
}
