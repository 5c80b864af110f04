//! A real broker that does not answer, or is gone.

use super::super::{Log, LogErrorClass, ProgressRow};
use super::broker::OwnBroker;
use super::support::{SOON, at, eventually, from_start, job, output, read_all, texts};
use crate::model::{BatchNumber, KeyGroup, NextOffset, Outgoing};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

fn row(batch: u64) -> ProgressRow {
    ProgressRow { group: KeyGroup(0), batch: BatchNumber(batch), ledger_id: "ledger".to_owned() }
}

/// CPU time of each of the process's threads so far, in ticks of 10 ms.
fn ticks_by_thread() -> BTreeMap<String, u64> {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let ticks = threads.filter_map(|thread| {
        // A thread may end between the listing and the reading.
        let stat = std::fs::read_to_string(thread.ok()?.path().join("stat")).ok()?;
        let (name, rest) = stat.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split(' ').collect();
        Some((name.to_owned(), fields[11].parse::<u64>().ok()? + fields[12].parse::<u64>().ok()?))
    });
    ticks.collect()
}

/// Sends the batches that the progress topic lacks, as the sink does after an outage.
fn go_on(log: &dyn Log, batches: &[(u64, Vec<Outgoing>)]) {
    let mut writer = None;
    eventually("a new writer takes over", || {
        writer = log.writer("w-outage", Duration::from_secs(5)).ok();
        writer.is_some()
    });
    let emitted = log.progress(SOON).unwrap().first().map_or(0, |row| row.batch.0);
    for (batch, records) in batches.iter().filter(|(batch, _)| *batch > emitted) {
        writer.as_mut().unwrap().transact(&records.iter().collect::<Vec<_>>(), &[row(*batch)], SOON).unwrap();
    }
    drop(writer);
    log.fence(&["w-outage".to_owned()], SOON).unwrap();
}

fn batch(number: u64) -> (u64, Vec<Outgoing>) {
    (number, (0..100).map(|n| output("k", &format!("{number}:{n}"))).collect())
}

fn transact(
    log: &dyn Log,
    first: &(u64, Vec<Outgoing>),
    second: &(u64, Vec<Outgoing>),
    trouble: impl FnOnce(),
) -> Result<(), super::super::LogError> {
    let mut writer = log.writer("w-outage", SOON).unwrap();
    writer.transact(&first.1.iter().collect::<Vec<_>>(), &[row(first.0)], SOON).unwrap();
    // The markers are written: a broker that is killed before may lose them, and with them the decision, when all
    // replicas of a partition are on it.
    eventually("the first batch is seen", || log.ends(at(0), SOON).unwrap().1 == NextOffset(101));
    log.progress(SOON).unwrap();
    trouble();
    let deadline = Duration::from_secs(2);
    let began = Instant::now();
    let result = writer.transact(&second.1.iter().collect::<Vec<_>>(), &[row(second.0)], deadline);
    assert!(began.elapsed() < deadline + Duration::from_secs(2), "{:?}", began.elapsed());
    let began = Instant::now();
    drop(writer);
    assert!(began.elapsed() < Duration::from_millis(200), "letting go took {:?}", began.elapsed());
    result
}

#[test]
fn a_frozen_broker_is_an_outage_and_nothing_is_lost_or_doubled() {
    let broker = OwnBroker::start();
    let (_, log) = job(&broker.address, 1);
    let batches = [batch(1), batch(2), batch(3)];
    let mut reader = from_start(&*log);
    let error = transact(&*log, &batches[0], &batches[1], || broker.freeze()).unwrap_err();
    assert_eq!(error.class, LogErrorClass::Outage, "{error}");

    // Nothing spins while the broker is frozen: neither what was let go nor a reader that is asked again.
    while reader.position(at(0)).is_none()
        && reader.read(1000, usize::MAX, Duration::from_millis(100)).is_ok_and(|r| !r.is_empty())
    {}
    let (before, began) = (ticks_by_thread(), Instant::now());
    while began.elapsed() < Duration::from_secs(3) {
        drop(reader.read(1000, usize::MAX, Duration::from_millis(200)));
    }
    // By thread, as other tests run beside this one: none of theirs keeps a thread busy all the time.
    let busiest =
        ticks_by_thread().into_iter().max_by_key(|(name, ticks)| ticks - before.get(name).unwrap_or(&0));
    let (name, ticks) = busiest.unwrap();
    let share = 10 * (ticks - before.get(&name).unwrap_or(&0)) * 100
        / u64::try_from(began.elapsed().as_millis()).unwrap();
    assert!(share < 50, "the thread {name} took {share} % of a core while the broker was frozen");
    let began = Instant::now();
    drop(reader);
    assert!(
        began.elapsed() < Duration::from_millis(200),
        "letting go of a reader took {:?}",
        began.elapsed()
    );

    let error = log.writer("w-outage", Duration::from_secs(1)).err().unwrap();
    assert_eq!(error.class, LogErrorClass::Outage, "{error}");
    let error = log.probe(Duration::from_secs(1)).unwrap_err();
    assert_eq!(error.class, LogErrorClass::Outage, "{error}");
    broker.thaw();
    eventually("the broker answers", || log.probe(Duration::from_secs(1)).is_ok());
    go_on(&*log, &batches);
    assert_eq!(texts(&read_all(&*log)), expected(&batches));
    assert_eq!(log.progress(SOON).unwrap(), [row(3)]);
}

#[test]
fn a_killed_broker_is_an_outage_and_nothing_is_lost_or_doubled() {
    let broker = OwnBroker::start();
    let (_, log) = job(&broker.address, 1);
    let batches = [batch(1), batch(2), batch(3)];
    let error = transact(&*log, &batches[0], &batches[1], || broker.kill()).unwrap_err();
    assert_eq!(error.class, LogErrorClass::Outage, "{error}");
    let error = log.probe(Duration::from_secs(1)).unwrap_err();
    assert_eq!(error.class, LogErrorClass::Outage, "{error}");
    assert!(error.message.contains("last word"), "the reason is told: {error}");
    let mut reader = log.reader(&[(at(0), NextOffset(0))]).unwrap();
    broker.restart();
    eventually("the broker answers", || log.probe(Duration::from_secs(1)).is_ok());
    go_on(&*log, &batches);
    assert_eq!(texts(&read_all(&*log)), expected(&batches));
    let mut seen = Vec::new();
    eventually("a reader that was opened in the outage reads on", || {
        seen.extend(reader.read(1000, usize::MAX, Duration::from_millis(200)).unwrap_or_default());
        seen.len() >= 300
    });
    assert_eq!(texts(&seen), expected(&batches));
}

fn expected(batches: &[(u64, Vec<Outgoing>)]) -> Vec<String> {
    let values = batches.iter().flat_map(|(_, records)| records).map(|record| record.value.clone().unwrap());
    values.map(|value| String::from_utf8(value.to_vec()).unwrap()).collect()
}
