//! Retry: a batch of events that were parked, out of the ledger and through the very same steps.
//!
//! In:        a batch with a number and no events     Out: it is committed; or why not
//! Holds:     nothing that the ledger does not hold: killed at any point, the next start begins with what is there
//! Order:     a key's events in the order in which they were parked; the first that is refused again ends its key's turn
//! Fails:     as an attempt does. A rule that is "halt" leaves a parked event parked: it halted nobody when it was parked, either
//! Not here:  who asked for it (a person, by marks in the ledger)

use super::Queued;
use super::aside::{Ahead, Asides, Fate, Kind, Wrong, because};
use super::attempt::{Alone, Run, alone, in_hand, in_time};
use super::finish::{advance, moment};
use super::lane::{Committing, Failure, Work, begin, is_mine};
use super::looked::{Looked, now};
use super::outputs::Outputs;
use crate::database::{
    ErrorClass, ParkedAt, ParkedDone, ParkedLeft, ParkedOutcome, ParkedRow, ParkedState, Session,
};
use crate::kafka::ReadRecord;
use crate::model::{Body, Coordinates, Event, KeyId, Outgoing, Reason, ReasonCode, Record, TopicPartition};
use crate::operator::decode::only_event;
use crate::protocol::gate::{Changes, Outcome, Transaction};
use crate::protocol::guard::Stage;
use crate::protocol::halt::{Halt, HaltKind};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Events of one batch of a pass, and bytes of their records. Each runs by itself.
const ROWS_MAX: usize = 100;
const BYTES_MAX: usize = 4 << 20;

/// What a retry has found out from one run of it to the next.
#[derive(Default)]
pub(super) struct Tried {
    /// Whose refusal took the transaction with it.
    refused: BTreeMap<ParkedAt, Fate>,
    /// Of the last run: handled, refused again, dropped.
    counts: [usize; 3],
    /// For the log.
    told: Vec<(Event, Fate)>,
    /// Runs in a row that were too much for the outbox: each takes half of the events of the one before.
    halved: u32,
    /// What is parked cannot be read at the moment: the marks stay.
    unreadable: bool,
}

impl Tried {
    /// The run is committed.
    pub(super) fn were(&self, asides: &Asides) {
        let [handled, refused, dropped] = self.counts;
        tracing::info!(handled, refused, dropped, "parked events were tried again");
        self.told.iter().for_each(|(event, fate)| asides.tell(event, fate));
        asides.were_retried(self.counts[0], self.told.len());
    }
}

pub(super) async fn retry(
    work: &Work,
    slot: &mut Option<Box<dyn Session>>,
    transaction: &Transaction<Queued>,
    run: &mut Run<'_>,
    committing: &mut Committing,
) -> Result<(), Failure> {
    let [batch] = &transaction.batches[..] else { return Err(not_alone()) };
    let Some(tried) = &mut run.tried else { return Err(not_alone()) };
    let session = in_time(work, begin(work, slot)).await?;
    let rows_max = ROWS_MAX.checked_shr(tried.halved).unwrap_or(0).max(1);
    let rows = if tried.unreadable {
        Vec::new()
    } else {
        let rows = async { Ok(session.parked_work(batch.group, rows_max, BYTES_MAX).await?) };
        match in_time(work, rows).await {
            Err(Failure::Database(error, _)) if error.class == ErrorClass::Reject => {
                // Not a reason to stop all other keys.
                let said = error.message;
                tracing::warn!(
                    said,
                    "parked events cannot be read: raise max_allowed_packet; they stay, and are tried again"
                );
                tried.unreadable = true;
                drop(slot.take());
                return Err(Failure::Again);
            }
            other => other?,
        }
    };
    let mut pass = Pass { ahead: work.asides.ahead(), ..Pass::default() };
    for row in rows {
        pass.row(work, session, tried, row).await?;
    }
    let Pass { records, done, counts, told, .. } = pass;
    let only = done.iter().find(|done| done.outcome == ParkedOutcome::Handled).map(|done| done.at);
    let handled = done.iter().filter(|done| done.outcome == ParkedOutcome::Handled).count();
    let end = async {
        let left = match done[..] {
            [] => ParkedLeft::default(),
            _ => session.settle_parked(batch.group, &done).await?,
        };
        let outputs = Outputs { is_retry: true, ..Outputs::of(records) };
        let changes = Changes { parked: Vec::new(), freed: left.freed, more: left.more };
        let outcomes = vec![Outcome { outputs, changes }];
        advance(work, session, transaction, &outcomes).await?;
        *committing = Some(outcomes);
        session.commit().await?;
        Ok(())
    };
    let ended = in_time(work, end).await;
    (tried.counts, tried.told) = (counts, told);
    let Err(Failure::Outbox(error)) = ended else { return ended };
    drop(slot.take());
    if !is_mine(work, transaction).await? {
        return Err(Failure::Fenced);
    }
    tried.halved = tried.halved.saturating_add(1);
    if rows_max == 1 && only.is_none() {
        return Err(Failure::Database(error, None));
    }
    if let (1, Some(at)) = (handled, only) {
        let detail = format!("the ledger's outbox cannot take its outputs: {}", error.message);
        tried.refused.insert(at, Fate::Park(Some(because(ReasonCode::TooLarge, detail))));
    }
    Err(Failure::Again)
}

fn not_alone() -> Failure {
    Failure::Halt(Halt::new(HaltKind::Internal, "a retry of parked events shares its transaction"))
}

/// One run over the rows.
#[derive(Default)]
struct Pass {
    records: Vec<Outgoing>,
    done: Vec<ParkedDone>,
    /// Keys whose turn is over.
    over: BTreeSet<KeyId>,
    counts: [usize; 3],
    told: Vec<(Event, Fate)>,
    /// The budget of rejects, as it would be behind this run.
    ahead: Ahead,
}

impl Pass {
    async fn row(
        &mut self,
        work: &Work,
        session: &mut Box<dyn Session>,
        tried: &mut Tried,
        row: ParkedRow,
    ) -> Result<(), Failure> {
        let (at, key_id) = (row.at, row.key_id);
        let now = now();
        if row.state == ParkedState::ToDrop {
            self.counts[2] += 1;
            let outcome = ParkedOutcome::Dropped { at: moment(now) };
            self.done.push(ParkedDone { at, key_id, outcome });
            return Ok(());
        }
        if self.over.contains(&key_id) {
            return Ok(());
        }
        let Some(event) = event_of(work, row) else {
            let why =
                because(ReasonCode::UnknownTopic, "the job does not read the topic of this event any more");
            self.refuse(at, key_id, &why, &moment(now));
            return Ok(());
        };
        let known = tried.refused.get(&at).cloned();
        let fate = match (known, &event.body) {
            (Some(fate), _) => fate,
            (None, Body::Unreadable(reason)) => of_unreadable(work, reason)?,
            (None, Body::Readable { .. } | Body::Tombstone { .. }) => {
                let mut list = [Looked::new(&event, work.spec.database.steps.len(), now)];
                match in_time(work, alone(work, session, &mut list, 0, Stage::Retry)).await? {
                    Alone::Handled(sent) => {
                        self.ahead.handled();
                        self.counts[0] += 1;
                        self.records.extend(sent.records);
                        self.done.push(ParkedDone { at, key_id, outcome: ParkedOutcome::Handled });
                        return Ok(());
                    }
                    Alone::Wrong { wrong, survived } => {
                        let fate = fate_of(work, wrong)?;
                        if !survived {
                            tried.refused.insert(at, fate);
                            return Err(Failure::Again);
                        }
                        fate
                    }
                }
            }
        };
        match &fate {
            Fate::Park(Some(reason)) => self.refuse(at, key_id, reason, &moment(now)),
            Fate::Park(None) => {}
            // More than the budget allows stays parked: nobody asked for a flood of letters.
            Fate::DeadLetter(reason) | Fate::Discard(reason) if !self.ahead.allows() => {
                self.refuse(at, key_id, reason, &moment(now));
            }
            Fate::DeadLetter(_) | Fate::Discard(_) => {
                self.counts[1] += 1;
                if let Fate::DeadLetter(reason) = &fate {
                    self.records.push(work.outputs.letter(&event, reason));
                }
                self.done.push(ParkedDone { at, key_id, outcome: ParkedOutcome::Handled });
                self.told.push((event, fate));
            }
        }
        Ok(())
    }

    fn refuse(&mut self, at: ParkedAt, key_id: KeyId, reason: &Reason, now: &str) {
        self.counts[1] += 1;
        self.over.insert(key_id);
        let (reason, detail) = (reason.code.as_str().to_owned(), reason.detail.clone());
        self.done.push(ParkedDone {
            at,
            key_id,
            outcome: ParkedOutcome::Refused { reason, detail, at: now.to_owned() },
        });
    }
}

/// By the job's rule; where that is to halt, it stays where it is.
fn fate_of(work: &Work, wrong: Wrong) -> Result<Fate, Failure> {
    let reason = wrong.reason.clone();
    match work.asides.judge(wrong) {
        Err(Failure::Refused(_)) => Ok(Fate::Park(Some(reason))),
        other => other,
    }
}

/// What can be read no more (the job file is another one) stays parked. What ends the process goes by the rule for that.
fn of_unreadable(work: &Work, reason: &Reason) -> Result<Fate, Failure> {
    if reason.code != ReasonCode::KillsTheProcess {
        return Ok(Fate::Park(Some(reason.clone())));
    }
    let halt = Halt::new(HaltKind::Reject, reason.to_string());
    fate_of(work, Wrong { kind: Kind::Unreadable, reason: reason.clone(), halt, lost_transaction: false })
}

/// A parked record, read anew; none: its topic is no topic of the job any more.
fn event_of(work: &Work, row: ParkedRow) -> Option<Event> {
    let topics = &work.spec.source.topics;
    let topic = u16::try_from(topics.iter().position(|topic| *topic == row.topic)?).ok()?;
    let at = Coordinates {
        at: TopicPartition { topic, partition: row.partition },
        offset: row.offset,
        index: row.index,
    };
    // The key group and key are the ones that it was parked under, whatever can be read of it now.
    let unread = |record: Record, reason| Event {
        at,
        // How many events it has is not known yet: unless it was sent back for one, a letter must say which it is of.
        last_of_record: only_event(&record, &work.spec.name).is_some(),
        key_group: row.at.group,
        key: row.key.clone(),
        record: Arc::new(record),
        body: Body::Unreadable(reason),
    };
    let probe = unread(row.record, because(ReasonCode::UnknownTopic, ""));
    let hand = match in_hand(work, &probe, Stage::Retry) {
        Ok(hand) => hand,
        Err(wrong) => return Some(Event { body: Body::Unreadable(wrong.reason), ..probe }),
    };
    let record = ReadRecord { at: at.at, offset: at.offset, record: probe.record.as_ref().clone() };
    let event = (work.read_again)(record, at.index);
    drop(hand);
    let gone = "the record has no event of this index any more";
    let gone = || Event { body: Body::Unreadable(because(ReasonCode::NotTheEvent, gone)), ..probe };
    Some(event.unwrap_or_else(gone))
}
