//! Order per key through the exchange: real workers, the job's own route, bundles in random handfuls and epochs.

use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tidegate::kafka::ReadRecord;
use tidegate::model::{Body, Epoch, KeyGroup, Offset, Reading, Record, TopicPartition};
use tidegate::operator::bundle::{Bundle, Part, bundles, route};
use tidegate::operator::exchange::{key_group_of, owns};
use tidegate::testing::Random;
use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::generic::OutputBuilder;
use timely::dataflow::operators::generic::builder_rc::OperatorBuilder;
use timely::dataflow::{Scope, StreamVec};

const KEY_GROUPS: u32 = 16;

/// A source of its own partition: its epochs rise in random steps, and one activation gives some handfuls.
fn source<'scope>(
    scope: Scope<'scope, Epoch>,
    worker: usize,
    mut random: Random,
) -> StreamVec<'scope, Epoch, Bundle> {
    let mut builder = OperatorBuilder::new("source".to_owned(), scope);
    let again = scope.activator_for(builder.operator_info().address);
    let workers = scope.peers();
    let (output, stream) = builder.new_output::<Vec<Bundle>>();
    let mut output = OutputBuilder::<_, CapacityContainerBuilder<Vec<Bundle>>>::from(output);
    let keys = 1 + random.below(20);
    let mut left = random.below(3_000);
    let mut next = 0_i64;
    builder.build(move |mut capabilities| {
        let mut capability = capabilities.pop();
        move |_| {
            let Some(held) = &mut capability else { return };
            for _ in 0..=random.below(3) {
                let mut output = output.activate();
                let mut session = output.session(&*held);
                let handful = random.below(1 + left.min(700));
                for _ in 0..handful {
                    let (record, parts) = record(worker, &mut random, keys, next);
                    bundles(record, parts, workers).for_each(|bundle| session.give(bundle));
                    next += 1;
                }
                left = left.saturating_sub(handful.max(1));
                drop(session);
                if random.chance(600) {
                    let epoch = *held.time() + 1 + random.below(3);
                    held.downgrade(&epoch);
                }
            }
            if left == 0 {
                capability = None;
            } else {
                again.activate();
            }
        }
    });
    stream
}

/// A record of no event, one or many.
fn record(worker: usize, random: &mut Random, keys: u64, offset: i64) -> (ReadRecord, Vec<Part>) {
    let count = *random.pick(&[0, 1, 1, 1, 2, 9]).unwrap();
    let mut part = |index| {
        let key = format!("worker {worker} key {}", random.below(keys));
        Part {
            index,
            last_of_record: index + 1 == count,
            key_group: key_group_of(key.as_bytes(), KEY_GROUPS),
            key: key.into(),
            body: Body::Readable(Reading::default()),
        }
    };
    let parts = (0..count).map(&mut part).collect();
    let at = TopicPartition { topic: 0, partition: i32::try_from(worker).unwrap() };
    let record = Record { timestamp_ms: None, key: None, headers: Vec::new(), value: None };
    (ReadRecord { at, offset: Offset(offset), record }, parts)
}

/// What a worker took, as the gate takes it: container by container.
type Taken = Arc<Mutex<Vec<(usize, KeyGroup, String, (i64, u32))>>>;

fn take<'scope>(events: StreamVec<'scope, Epoch, Bundle>, worker: usize, taken: Taken) {
    let mut builder = OperatorBuilder::new("taker".to_owned(), events.scope());
    let mut input = builder.new_input(events, Exchange::new(route));
    builder.build(move |_| {
        move |_| {
            input.for_each(|_, data| {
                let mut taken = taken.lock().unwrap();
                for event in data.drain(..).flat_map(Bundle::into_events) {
                    let key = String::from_utf8(event.key.to_vec()).unwrap();
                    taken.push((worker, event.key_group, key, (event.at.offset.0, event.at.index)));
                }
            });
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_exchange_keeps_the_order_of_each_key(seed in any::<u64>(), workers in 1_usize..=8) {
        let taken = Taken::default();
        let for_workers = Arc::clone(&taken);
        timely::execute(timely::Config::process(workers), move |worker| {
            let index = worker.index();
            let random = Random::new(seed ^ u64::try_from(index).unwrap());
            worker.dataflow::<Epoch, _, _>(|scope| {
                take(source(scope, index, random), index, Arc::clone(&for_workers));
            });
        })
        .unwrap()
        .join()
        .into_iter()
        .for_each(|ended| ended.unwrap());

        let taken = taken.lock().unwrap();
        let mut last: BTreeMap<&str, (i64, u32)> = BTreeMap::new();
        for (worker, group, key, offset) in taken.iter() {
            prop_assert!(owns(u64::from(group.0), *worker, workers), "{group} came to worker {worker}");
            let before = last.insert(key, *offset).unwrap_or((-1, 0));
            prop_assert!(before < *offset, "{key}: {offset:?} comes behind {before:?}");
        }
    }
}
