//! Marks that a person makes while a job runs, on a worker that has no partition.

use super::super::instance::How;
use super::super::world::World;
use super::universe::Universe;
use std::time::Duration;
use tidegate::database::ParkedMark;
use tidegate::job::RejectRule;
use tidegate::testing::Random;
use tokio::task::LocalSet;

#[test]
fn a_worker_without_partitions_tries_parked_events_of_its_key_groups() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    LocalSet::new().block_on(&runtime.unwrap(), async {
        let mut universe = Universe::new(World::refusing(RejectRule::Park), 1);
        let world = &mut universe.world;
        world.input.produce(&world.broker, &mut Random::new(1), 12, 60);
        // Three partitions at the most, and eight key groups.
        universe.start("job", How { until_end: false, ..How::well(8) });
        universe.pass(Duration::from_secs(10)).await;
        assert_ne!(universe.world.parked(), []);
        universe.world.database.mend();
        let keys = universe.world.parked();
        let mut session = universe.world.database.handle().connect().await.unwrap();
        session.mark_parked(&keys, ParkedMark::Retry, &[]).await.unwrap();
        let free = |universe: &mut Universe| universe.world.parked().is_empty();
        universe.run_until(Duration::from_secs(60), free).await;
        assert_eq!(universe.world.parked(), [], "a minute after they were marked");
    });
}
