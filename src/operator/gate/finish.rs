//! Finish: the ledger's part of a transaction, last of all: parked events, outputs, positions.
//!
//! In:        a transaction whose events are handled or have a fate     Out: what it comes to, once it is committed
//! Order:     parked events first, position rows last
//! Fails:     fenced: the ledger does not take the positions
//! Not here:  COMMIT (attempt)

use super::Queued;
use super::aside::{Fate, key_of};
use super::attempt::Run;
use super::lane::{Failure, Work};
use super::looked::Looked;
use super::outputs::Outputs;
use crate::database::{Advance, DatabaseError, ErrorClass, ParkedAt, ParkedRow, ParkedState, Session};
use crate::model::{KeyId, Timestamp};
use crate::operator::exchange::key_id_of;
use crate::protocol::gate::{Batch, Changes, Outcome, Transaction};
use crate::protocol::halt::{Halt, HaltKind};
use std::collections::BTreeSet;

/// The reason of an event that only waits for those in front of it.
const BEHIND: &str = "behind";

pub(super) async fn finish(
    work: &Work,
    session: &mut Box<dyn Session>,
    transaction: &Transaction<Queued>,
    run: &mut Run<'_>,
) -> Result<Vec<Outcome<Outputs>>, Failure> {
    let mut outcomes = Vec::with_capacity(transaction.batches.len());
    let mut parked = Vec::new();
    let mut first = 0;
    for batch in &transaction.batches {
        let (rows, keys) = parked_of(work, batch, first, run);
        let outputs = outputs_of(work, batch, first, run);
        outcomes.push(Outcome { outputs, changes: Changes { parked: keys, ..Changes::default() } });
        parked.extend(rows);
        first += batch.events.len();
    }
    if !parked.is_empty() {
        session.park(&parked).await.map_err(cannot_park)?;
    }
    advance(work, session, transaction, &outcomes).await?;
    Ok(outcomes)
}

/// What cannot be parked either has no place left to go to.
fn cannot_park(error: DatabaseError) -> Failure {
    if error.class != ErrorClass::Reject {
        return error.into();
    }
    let text = format!(
        "an event is to be parked, and the ledger cannot take its record: {}. Raise max_allowed_packet, or set another rule in \
         [rejects], and start again; the job goes on with this very event",
        error.message
    );
    let code = error.code.map(|code| code.to_string());
    Failure::Refused(Halt::new(HaltKind::Reject, text).because("cannot be parked", code))
}

/// Writes outbox and positions.
pub(super) async fn advance(
    work: &Work,
    session: &mut Box<dyn Session>,
    transaction: &Transaction<Queued>,
    outcomes: &[Outcome<Outputs>],
) -> Result<(), Failure> {
    let batches = transaction.batches.iter().zip(outcomes);
    let writes = batches.map(|(batch, outcome)| advance_of(work, batch, &outcome.outputs));
    let writes: Vec<Advance> = writes.collect::<Result<_, _>>()?;
    match session.advance(&writes).await {
        Ok(true) => Ok(()),
        Ok(false) => Err(Failure::Fenced),
        // The outputs are too much for the outbox. (A newer instance that has written the same row is found by whoever asks.)
        Err(error) if error.class == ErrorClass::Reject => Err(Failure::Outbox(error)),
        Err(error) => Err(error.into()),
    }
}

fn advance_of(work: &Work, batch: &Batch<Queued>, outputs: &Outputs) -> Result<Advance, Failure> {
    let outbox = outputs.to_outbox(&work.spec.output_topics).map_err(|e| {
        Failure::Halt(Halt::new(HaltKind::Internal, format!("cannot encode an outbox row: {e}")))
    })?;
    Ok(Advance {
        group: batch.group,
        incarnation: batch.incarnation,
        batch: batch.number,
        positions: batch.places.to_text(&work.spec.source.topics),
        outbox,
        confirmed: batch.confirmed,
        cleared: batch.cleared,
    })
}

/// What a batch sends: outputs, and the letters of those that go to the dead-letter topic, in event order. The outputs are taken
/// out of the run: whatever becomes of it, they are not asked for again.
fn outputs_of(work: &Work, batch: &Batch<Queued>, first: usize, run: &mut Run<'_>) -> Outputs {
    let mut records = Vec::with_capacity(batch.events.len());
    let mut sends = Vec::with_capacity(batch.events.len());
    for (index, queued) in (first..).zip(&batch.events) {
        match run.fates.of(index) {
            None => {
                let sent = run.sent.get_mut(index);
                sends.push(sent.as_ref().map_or(0, |sent| sent.wanted));
                records.extend(sent.into_iter().flat_map(|sent| std::mem::take(&mut sent.records)));
            }
            Some(Fate::DeadLetter(reason)) => {
                records.push(work.outputs.letter(&queued.event, reason));
                sends.push(1);
            }
            Some(Fate::Discard(_) | Fate::Park(_)) => sends.push(0),
        }
    }
    Outputs { sends, ..Outputs::of(records) }
}

/// The rows of a batch's parked events, and the keys that were not parked before.
fn parked_of(
    work: &Work,
    batch: &Batch<Queued>,
    first: usize,
    run: &Run<'_>,
) -> (Vec<ParkedRow>, Vec<KeyId>) {
    let end = first + batch.events.len();
    let mut rows = Vec::new();
    let mut keys = BTreeSet::new();
    for (index, fate) in run.fates.iter().filter(|(index, _)| (first..end).contains(index)) {
        let Fate::Park(reason) = fate else { continue };
        let Some(looked) = run.events.get(index) else { continue };
        let Some(key) = key_of(looked.event) else { continue };
        let at = ParkedAt {
            group: batch.group,
            batch: batch.number,
            place: u32::try_from(rows.len()).unwrap_or(u32::MAX),
        };
        let mut row = row_of(work, looked, at, key_id_of(key));
        if let Some(reason) = reason {
            (row.reason, row.detail, row.tries) = (reason.code.as_str().to_owned(), reason.detail.clone(), 1);
        }
        keys.insert(row.key_id);
        rows.push(row);
    }
    for index in &batch.waiting {
        let key = run.events.get(first + index).and_then(|looked| key_of(looked.event));
        key.iter().for_each(|key| _ = keys.remove(&key_id_of(key)));
    }
    (rows, keys.into_iter().collect())
}

fn row_of(work: &Work, looked: &Looked<'_>, at: ParkedAt, key_id: KeyId) -> ParkedRow {
    let event = looked.event;
    let now = moment(looked.now);
    ParkedRow {
        at,
        key_id,
        key: event.key.clone(),
        topic: work.spec.topic_of(event.at.at).to_owned(),
        partition: event.at.at.partition,
        offset: event.at.offset,
        index: event.at.index,
        record: event.record.as_ref().clone(),
        reason: BEHIND.to_owned(),
        detail: "an earlier event of its key is parked".to_owned(),
        parked_at: now.clone(),
        tried_at: now,
        tries: 0,
        state: ParkedState::Waiting,
    }
}

/// A moment as the ledger's rows have it: to the second, so that texts sort as times do.
pub(super) fn moment(at: Timestamp) -> String {
    Timestamp { micros: 0, ..at }.to_string()
}
