//! What a finished job must have left behind: both tables, the output topic, the dead letters, the group's positions.

use super::customers;
use super::input::envelope;
use super::job::Job;
use super::kafka;
use super::order::{Order, id_of_key};
use super::plan::{PARTITIONS, Slot};
use super::tally::Tally;
use super::unreadable;
use rdkafka::Message;
use rdkafka::message::{BorrowedMessage, Headers};

type HeaderList = Vec<(String, Option<Vec<u8>>)>;

/// Everything, for a job that has come to the end of its input.
pub fn all(job: &Job) {
    journal(job);
    orders(job);
    outputs(job);
    dead_letters(job);
    assert_eq!(job.input_positions().committed(), job.input.plan.ends, "the group's committed positions");
}

type JournalRow =
    (String, i64, i64, String, Option<String>, String, String, Option<String>, String, i32, i64);

/// The append-only table: each event once, in the order of its key, with the values of its document and its place.
fn journal(job: &Job) {
    let plan = &job.input.plan;
    let mut tally = Tally::new("the journal", plan);
    job.sql().each(
        "SELECT id, number, customer, customer_name, tier, CAST(total AS CHAR), CAST(placed_at AS CHAR), note, \
         topic, part, at_offset FROM journal ORDER BY entry",
        |row: JournalRow| {
            let number = row.1 as usize;
            tally.saw(number);
            if let Some(event) = plan.events.get(number) {
                let order = Order::new(plan.seed, *event);
                let expected = (
                    order.id.clone(),
                    row.1,
                    order.customer,
                    customers::name(order.customer),
                    customers::tier(order.customer),
                    order.total(),
                    order.placed_at(),
                    order.note(),
                    job.input.topic.clone(),
                    event.partition,
                    event.offset,
                );
                // Tuples of this length have no Debug of their own to print: the parts have.
                tally.equal(format!("event {number}, id"), &row.0, &expected.0);
                tally.equal(format!("event {number}, customer"), row.2, expected.2);
                tally.equal(format!("event {number}, customer_name"), &row.3, &expected.3);
                tally.equal(format!("event {number}, tier"), &row.4, &expected.4);
                tally.equal(format!("event {number}, total"), &row.5, &expected.5);
                tally.equal(format!("event {number}, placed_at"), &row.6, &expected.6);
                tally.equal(format!("event {number}, note"), &row.7, &expected.7);
                tally.equal(
                    format!("event {number}, place"),
                    (&row.8, row.9, row.10),
                    (&expected.8, expected.9, expected.10),
                );
            }
        },
    );
    tally.finish();
}

/// The upserted table: the last event of each key, and how many there were.
fn orders(job: &Job) {
    let plan = &job.input.plan;
    let mut expected = std::collections::BTreeMap::new();
    for event in &plan.events {
        let order = Order::new(plan.seed, *event);
        let row = (i64::from(event.number), order.total(), i64::from(event.sequence) + 1);
        expected.insert(id_of_key(event.key), row);
    }
    let mut found = std::collections::BTreeMap::new();
    job.sql().each(
        "SELECT id, number, CAST(total AS CHAR), times FROM orders",
        |(id, number, total, times): (String, i64, String, i64)| {
            found.insert(id, (number, total, times));
        },
    );
    let wrong: Vec<_> = expected
        .iter()
        .filter(|(id, row)| found.get(*id) != Some(row))
        .map(|(id, row)| (id, row, found.get(id)))
        .collect();
    assert!(wrong.is_empty(), "{} keys are wrong in orders: {:?}", wrong.len(), &wrong[..wrong.len().min(3)]);
    assert_eq!(found.len(), expected.len(), "keys in orders");
}

/// The output topic, read committed: each document once, in the order of its key, byte for byte, with key, headers and
/// timestamp.
fn outputs(job: &Job) {
    let plan = &job.input.plan;
    let mut tally = Tally::new("the output", plan);
    kafka::read_committed(&job.services.kafka, &job.output, PARTITIONS, |message| {
        let headers = headers(message);
        let Some(number) = number_in(&headers, "event") else {
            return tally.complain(format!("an output without its number: {headers:?}"));
        };
        tally.saw(number);
        let Some(event) = plan.events.get(number) else { return };
        let order = Order::new(plan.seed, *event);
        let envelope = envelope(&Slot::Event(*event));
        let mut expected = envelope.headers;
        let source = job.input.source(event.partition, event.offset);
        expected.push(("tidegate-source".to_owned(), Some(source.into_bytes())));
        let text = message.payload().map(String::from_utf8_lossy);
        tally.equal(format!("event {number}, document"), text.as_deref(), Some(order.enriched().as_str()));
        tally.equal(format!("event {number}, key"), message.key(), Some(order.id.as_bytes()));
        tally.equal(format!("event {number}, headers"), &headers, &expected);
        tally.equal(
            format!("event {number}, timestamp"),
            message.timestamp().to_millis(),
            Some(envelope.timestamp_ms),
        );
    });
    tally.finish();
}

/// The dead letters: each unreadable record once, as it was, with Tidegate's headers behind its own.
fn dead_letters(job: &Job) {
    let plan = &job.input.plan;
    let mut seen = vec![0_u32; plan.unreadable.len()];
    kafka::read_committed(&job.services.kafka, &job.dead_letters, PARTITIONS, |message| {
        let headers = headers(message);
        let number = number_in(&headers, "unreadable")
            .unwrap_or_else(|| panic!("a dead letter that nobody sent: {headers:?}"));
        seen[number] += 1;
        let record = plan.unreadable[number];
        let envelope = envelope(&Slot::Unreadable(record));
        let content = unreadable::content(record);
        let what = format!("unreadable record {number}");
        assert_eq!(message.payload().map(<[u8]>::to_vec), content.value, "{what}: bytes");
        assert_eq!(message.key().map(<[u8]>::to_vec), envelope.key, "{what}: key");
        assert_eq!(message.timestamp().to_millis(), Some(envelope.timestamp_ms), "{what}: timestamp");
        let (own, added) = headers.split_at(envelope.headers.len().min(headers.len()));
        assert_eq!(own, envelope.headers, "{what}: its own headers");
        let added_text = |name: &str| {
            let values: Vec<_> =
                added.iter().filter(|(key, _)| key == name).map(|(_, value)| value).collect();
            assert_eq!(values.len(), 1, "{what}: header {name} in {added:?}");
            String::from_utf8(values[0].clone().unwrap_or_default()).expect("text")
        };
        assert_eq!(
            added_text("tidegate-reason"),
            content.reason,
            "{what}: {}",
            added_text("tidegate-detail")
        );
        assert_ne!(added_text("tidegate-detail"), "", "{what}: detail");
        assert_eq!(
            added_text("tidegate-source"),
            job.input.source(record.partition, record.offset),
            "{what}"
        );
        assert_eq!(added_text("tidegate-job"), job.name, "{what}");
        assert_eq!(added.len(), 4, "{what}: {added:?}");
    });
    let not_once: Vec<_> = (0..seen.len()).filter(|&n| seen[n] != 1).collect();
    assert!(not_once.is_empty(), "unreadable records that are not there exactly once: {not_once:?}");
}

/// For a job that was asked to stop on its way: what is committed is stored, and what is stored is committed.
pub fn positions_fit(job: &Job) -> i64 {
    let committed = job.input_positions().committed();
    let mut stored = std::collections::HashSet::new();
    job.sql().each("SELECT part, at_offset FROM journal", |place: (i32, i64)| {
        assert!(stored.insert(place), "stored twice: {place:?}");
    });
    for event in &job.input.plan.events {
        let handled = event.offset < committed[event.partition as usize];
        let place = (event.partition, event.offset);
        assert_eq!(stored.contains(&place), handled, "{place:?} stored, committed are {committed:?}");
    }
    committed.iter().sum()
}

fn headers(message: &BorrowedMessage<'_>) -> HeaderList {
    let one = |header: rdkafka::message::Header<'_, &[u8]>| {
        (header.key.to_owned(), header.value.map(<[u8]>::to_vec))
    };
    message.headers().map_or(vec![], |headers| headers.iter().map(one).collect())
}

fn number_in(headers: &HeaderList, name: &str) -> Option<usize> {
    let (_, value) = headers.iter().find(|(key, _)| key == name)?;
    std::str::from_utf8(value.as_deref()?).ok()?.parse().ok()
}
