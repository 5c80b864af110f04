//! How much an instance takes in while the database is out.

use super::super::check::check;
use super::super::instance::How;
use super::super::world::{World, job_file};
use super::universe::Universe;
use std::time::Duration;
use tidegate::testing::Random;
use tokio::task::LocalSet;

const RECORDS: usize = 6_000;
/// A mebibyte, and half of one more for each of two readers, at a kibibyte and some bytes for each record.
const READ_MAX: u64 = 2_048;

#[test]
fn a_hold_reads_no_more_than_its_budget_and_what_a_reader_takes_at_a_time() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    LocalSet::new().block_on(&runtime.unwrap(), async {
        let mut world = World::new();
        world.set_job_file(&format!("{}\n[limits]\nin_flight_bytes = \"1MiB\"\n", job_file()));
        let mut universe = Universe::new(world, 1);
        let job = universe.start("job", How { until_end: false, ..How::well(2) });
        universe.pass(Duration::from_secs(2)).await;
        universe.world.database.set_outage(true);
        let world = &mut universe.world;
        world.input.produce(&world.broker, &mut Random::new(1), 12, RECORDS);
        universe.pass(Duration::from_secs(15)).await;
        let read = universe.processes[job].board.read.get();
        assert!((500..READ_MAX).contains(&read), "{read} records were read in a hold");

        universe.world.database.set_outage(false);
        universe.pass(Duration::from_secs(60)).await;
        universe.processes[job].signals.drain();
        let ended = |universe: &mut Universe| universe.processes[job].ended().is_some();
        assert!(universe.run_until(Duration::from_secs(60), ended).await, "the job does not drain");
        assert_eq!(check(&universe.world), Vec::<String>::new());
    });
}
