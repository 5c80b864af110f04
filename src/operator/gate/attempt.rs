//! Attempt: one transaction from BEGIN to COMMIT, without the events that were set aside.
//!
//! In:        a transaction, and the fates of its events so far     Out: it is committed; or why not
//! Holds:     per transaction the fates of its events, until it is committed or given up
//! Order:     wave by wave, step by step (plan); or, once too many events are refused, one by one in queue order, which has
//!            the same outcome
//! Fails:     `Again` when an event was set aside: nothing of the transaction is stored
//! Not here:  the rules (aside), the ledger's part (finish)
//!
//! Who is to blame is asked in two ways. Where the engine names the row, the event is set aside and all the others run together
//! once more: two round trips for a rare bad event. Where it names none, or where there are many, each event runs by itself
//! behind a savepoint, and one pass finds all of them.

use super::aside::{Asides, Fate, Fates, Kind, Wrong, because};
use super::finish::finish;
use super::lane::{Committing, Failure, Work, begin, is_mine, no_answer};
use super::looked::{Looked, now};
use super::outputs::{CannotEncode, Sent};
use super::plan::waves;
use super::steps::{Stuck, refusal, run_steps};
use super::{Queued, retry::Tried};
use crate::database::{DatabaseError, Session};
use crate::job::Verdicts;
use crate::model::{Body, Coordinates, Event, Reason, ReasonCode};
use crate::operator::guard::{InHand, Taken};
use crate::protocol::gate::Transaction;
use crate::protocol::guard::Stage;
use crate::protocol::halt::{Halt, HaltKind};
use std::future::Future;
use tokio::time::timeout;

/// So many events are set aside one after the other, each at the cost of one more run; then they run one by one.
const TOGETHER_MAX: usize = 2;

/// What is known of a transaction from one run of it to the next.
pub(super) struct Run<'a> {
    pub(super) events: Vec<Looked<'a>>,
    pub(super) fates: Fates,
    /// What each event sends; known once its steps have run.
    pub(super) sent: Vec<Sent>,
    one_by_one: bool,
    /// Events that were found while it ran.
    found: usize,
    /// Of a retry.
    pub(super) tried: Option<Tried>,
}

impl<'a> Run<'a> {
    pub(super) fn new(work: &Work, transaction: &'a Transaction<Queued>) -> Run<'a> {
        let now = now();
        let events = transaction.batches.iter().flat_map(|batch| &batch.events);
        let events: Vec<Looked<'_>> =
            events.map(|queued| Looked::new(&queued.event, work.spec.database.steps.len(), now)).collect();
        let mut fates = Fates::default();
        for (index, looked) in events.iter().enumerate() {
            if let Body::Unreadable(reason) = &looked.event.body {
                fates.set(index, Fate::DeadLetter(reason.clone()));
            }
        }
        let mut first = 0;
        for batch in &transaction.batches {
            batch.waiting.iter().for_each(|index| fates.set(first + index, Fate::Park(None)));
            first += batch.events.len();
        }
        let is_retry = transaction.batches.iter().any(|batch| batch.is_retry);
        let tried = is_retry.then(Tried::default);
        Run {
            sent: vec![Sent::default(); events.len()],
            events,
            fates,
            one_by_one: !work.spec.database.together,
            found: 0,
            tried,
        }
    }

    pub(super) fn is_retry(&self) -> bool {
        self.tried.is_some()
    }

    /// Nothing that an earlier run of the transaction found or made is there in this one.
    fn forget(&mut self) {
        self.events.iter_mut().for_each(Looked::forget);
        self.sent.iter_mut().for_each(|sent| *sent = Sent::default());
    }

    /// It is committed, or may be.
    pub(super) fn was_committed(&self, work: &Work) {
        match &self.tried {
            None => work.asides.were(&self.events, &self.fates),
            Some(tried) => tried.were(&work.asides),
        }
    }

    /// Sets an event aside by the job's rule.
    fn set_aside(&mut self, asides: &Asides, index: usize, wrong: Wrong) -> Result<(), Failure> {
        let fate = asides.judge(wrong)?;
        self.found += 1;
        self.fates.set(index, fate);
        self.fates.spread(&self.events);
        Ok(())
    }
}

pub(super) async fn attempt(
    work: &Work,
    slot: &mut Option<Box<dyn Session>>,
    transaction: &Transaction<Queued>,
    run: &mut Run<'_>,
    committing: &mut Committing,
) -> Result<(), Failure> {
    let session = in_time(work, begin(work, slot)).await?;
    steps(work, session, run).await?;
    work.asides.allow(&run.events, &run.fates).map_err(Failure::Halt)?;
    let end = async {
        *committing = Some(finish(work, session, transaction, run).await?);
        session.commit().await?;
        Ok(())
    };
    match in_time(work, end).await {
        Err(Failure::Outbox(error)) => outbox_refuses(work, slot, transaction, run, error).await,
        other => other,
    }
}

/// Runs the steps of all events that have no fate, and makes what they send.
pub(super) async fn steps(
    work: &Work,
    session: &mut Box<dyn Session>,
    run: &mut Run<'_>,
) -> Result<(), Failure> {
    run.forget();
    if run.one_by_one || run.found > TOGETHER_MAX {
        run.one_by_one = true;
        one_by_one(work, session, run).await
    } else {
        together(work, session, run).await
    }
}

/// What a batch sends does not fit into one row of the outbox: fewer events do; and one that does not fit by itself is too
/// large. Unless a newer instance has written this very row.
async fn outbox_refuses(
    work: &Work,
    slot: &mut Option<Box<dyn Session>>,
    transaction: &Transaction<Queued>,
    run: &mut Run<'_>,
    error: DatabaseError,
) -> Result<(), Failure> {
    // Nothing of it stays, and the connection may be gone with it.
    drop(slot.take());
    if !is_mine(work, transaction).await? {
        return Err(Failure::Fenced);
    }
    let sending: Vec<usize> = (0..run.sent.len())
        .filter(|index| run.sent.get(*index).is_some_and(|sent| !sent.records.is_empty()))
        .collect();
    match (&sending[..], run.events.len()) {
        (_, 2..) => Err(Failure::TooMuch),
        (&[index], _) if run.fates.of(index).is_none() => {
            let Some(looked) = run.events.get(index) else { return Err(nobody()) };
            let wrong = over_packet(work, looked.event.at, &error);
            run.set_aside(&work.asides, index, wrong)?;
            Err(Failure::Again)
        }
        _ => Err(Failure::Database(error, None)),
    }
}

fn over_packet(work: &Work, at: Coordinates, error: &DatabaseError) -> Wrong {
    let detail = format!("the ledger's outbox cannot take its outputs: {}", error.message);
    let text = format!(
        "record {}: {detail}, and rejects.too_large is \"halt\": raise max_allowed_packet, or set another rule, and start again; \
         the job goes on with this very record",
        work.outputs.source_of(at)
    );
    let halt = Halt::new(HaltKind::Reject, text).about(Some(at)).because("too large", None);
    Wrong {
        kind: Kind::TooLarge,
        reason: because(ReasonCode::TooLarge, detail),
        halt,
        lost_transaction: true,
    }
}

/// Within the deadline: how long each part of a transaction may take, and each event that runs by itself.
pub(super) async fn in_time<T>(
    work: &Work,
    part: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    match timeout(work.deadline, part).await {
        Ok(done) => done,
        Err(_elapsed) => Err(no_answer("a transaction", work.deadline).into()),
    }
}

/// All events that have no fate, in the waves of the job's plan.
async fn together(work: &Work, session: &mut Box<dyn Session>, run: &mut Run<'_>) -> Result<(), Failure> {
    let to_do: Vec<usize> = (0..run.events.len()).filter(|index| run.fates.of(*index).is_none()).collect();
    for wave in waves(&work.spec, &work.plan, &run.events, &to_do) {
        let steps = async { Ok(run_steps(work, session, &mut run.events, &wave).await) };
        match in_time(work, steps).await? {
            Ok(()) => {}
            Err(Stuck::Failure(failure)) => return Err(failure),
            Err(Stuck::Wrong(list)) => return Err(refused(work, run, &wave, list)),
            Err(Stuck::Somebody(error)) => {
                // Which one is not said: each by itself.
                drop(error);
                run.one_by_one = true;
                return Err(Failure::Again);
            }
        }
        send(work, run, &wave)?;
    }
    Ok(())
}

/// Events of a wave were refused. What one by one would have said of them is believed; where that hangs on others of the
/// wave, which may still be refused themselves, all are asked one by one.
fn refused(work: &Work, run: &mut Run<'_>, wave: &[usize], list: Vec<(usize, Wrong)>) -> Failure {
    let is_missing = list.iter().all(|(_, wrong)| wrong.kind == Kind::MissingLookup);
    let first = list.iter().map(|(index, _)| *index).min().unwrap_or(0);
    let earlier = || wave.iter().filter(|index| **index < first);
    let stands = match work.plan.verdicts {
        Verdicts::All => true,
        Verdicts::First if is_missing => true,
        // Those before it have been through the store; what they send must be possible, too.
        Verdicts::First => earlier().all(|index| encode(work, run.events.get(*index), Stage::Output).is_ok()),
        Verdicts::Missing => is_missing,
        Verdicts::None => false,
    };
    if !stands {
        run.one_by_one = true;
        return Failure::Again;
    }
    for (index, wrong) in list {
        if let Err(failure) = run.set_aside(&work.asides, index, wrong) {
            return failure;
        }
    }
    Failure::Again
}

/// What the events of a wave send, before anybody builds upon them.
fn send(work: &Work, run: &mut Run<'_>, wave: &[usize]) -> Result<(), Failure> {
    let mut again = false;
    for index in wave.iter().copied() {
        match encode(work, run.events.get(index), Stage::Output) {
            Ok(sent) => place(&mut run.sent, index, sent),
            Err(wrong) => {
                run.set_aside(&work.asides, index, *wrong)?;
                again = true;
                if work.plan.verdicts != Verdicts::All {
                    // The others may have built upon it.
                    break;
                }
            }
        }
    }
    if again { Err(Failure::Again) } else { Ok(()) }
}

fn place(sent: &mut [Sent], index: usize, of_event: Sent) {
    if let Some(slot) = sent.get_mut(index) {
        *slot = of_event;
    }
}

/// Each event that has no fate by itself, in queue order; what is wrong with one takes back that one alone.
async fn one_by_one(work: &Work, session: &mut Box<dyn Session>, run: &mut Run<'_>) -> Result<(), Failure> {
    for index in 0..run.events.len() {
        if run.fates.of(index).is_some() {
            continue;
        }
        match in_time(work, alone(work, session, &mut run.events, index, Stage::Output)).await? {
            Alone::Handled(sent) => place(&mut run.sent, index, sent),
            Alone::Wrong { wrong, survived } => {
                run.set_aside(&work.asides, index, wrong)?;
                if !survived {
                    return Err(Failure::Again);
                }
            }
        }
    }
    Ok(())
}

/// How one event by itself went.
pub(super) enum Alone {
    Handled(Sent),
    /// It is taken back. `survived`: the transaction is as it was before.
    Wrong {
        wrong: Wrong,
        survived: bool,
    },
}

/// Runs one event's steps behind a savepoint, and makes its outputs.
pub(super) async fn alone(
    work: &Work,
    session: &mut Box<dyn Session>,
    events: &mut [Looked<'_>],
    index: usize,
    stage: Stage,
) -> Result<Alone, Failure> {
    session.savepoint().await?;
    let (wrong, survived) = match run_steps(work, session, events, &[index]).await {
        Ok(()) => match encode(work, events.get(index), stage) {
            Ok(sent) => {
                session.release().await?;
                return Ok(Alone::Handled(sent));
            }
            Err(wrong) => (*wrong, true),
        },
        Err(Stuck::Failure(failure)) => return Err(failure),
        Err(Stuck::Wrong(list)) => match list.into_iter().next() {
            Some((_, wrong)) => {
                let survived = !wrong.lost_transaction;
                (wrong, survived)
            }
            None => return Err(nobody()),
        },
        Err(Stuck::Somebody(error)) => {
            let survived = !error.broken && !error.rolled_back;
            match events.get(index) {
                Some(looked) => (refusal(work, looked, error), survived),
                None => return Err(nobody()),
            }
        }
    };
    if survived {
        session.undo().await?;
    }
    Ok(Alone::Wrong { wrong, survived })
}

fn nobody() -> Failure {
    Failure::Halt(Halt::new(HaltKind::Internal, "an event was refused, and it is none of the transaction's"))
}

/// Behind an unclean end: what is done with a record now may be what ended the process. Held while it is done. `Err`: it has
/// done so too often.
pub(super) fn in_hand<'a>(
    work: &'a Work,
    event: &Event,
    stage: Stage,
) -> Result<Option<InHand<'a>>, Box<Wrong>> {
    // A parked record may come long after all that the process before can have read.
    let care = work.care.as_ref().filter(|care| stage == Stage::Retry || !care.is_over());
    match care.map(|care| care.take(stage, event.at, &event.record)) {
        None | Some(Taken::Freely) => Ok(None),
        Some(Taken::InHand(hand)) => Ok(Some(hand)),
        Some(Taken::Convicted(_, reason)) => Err(Box::new(deadly(work, event.at, reason))),
    }
}

/// What an event sends, or why it cannot be sent.
fn encode(work: &Work, looked: Option<&Looked<'_>>, stage: Stage) -> Result<Sent, Box<Wrong>> {
    let Some(looked) = looked else { return Ok(Sent::default()) };
    let _in_hand = in_hand(work, looked.event, stage)?;
    let sent = work.outputs.of_event(looked).map_err(|error| Box::new(unwritable(error)))?;
    match sent.records.iter().find_map(|record| work.outputs.over_limit(record)) {
        None => Ok(sent),
        Some(over) => Err(Box::new(too_large(work, looked.event.at, over))),
    }
}

/// Its document has ended the process before.
fn deadly(work: &Work, at: Coordinates, reason: Reason) -> Wrong {
    let text = format!(
        "record {}: {reason}, and rejects.unreadable is \"halt\": set another rule, or mend what makes its document too much for \
         the process, and start again; the job goes on with this very record",
        work.outputs.source_of(at)
    );
    let halt = Halt::new(HaltKind::Reject, text).about(Some(at)).because("unreadable", None);
    Wrong { kind: Kind::Unreadable, reason, halt, lost_transaction: false }
}

pub(super) fn unwritable(error: CannotEncode) -> Wrong {
    let halt = Halt::new(HaltKind::Reject, error.to_string()).about(Some(error.event));
    Wrong {
        kind: Kind::Refused,
        reason: because(error.code, error.why),
        halt: halt.because("unwritable output", Some(error.code.as_str().to_owned())),
        lost_transaction: false,
    }
}

/// The sentence about an output that is over its topic's limit.
pub(super) fn over_detail((topic, bytes, limit): (&str, usize, usize)) -> String {
    format!("the output is {bytes} bytes, and topic \"{topic}\" takes {limit}")
}

fn too_large(work: &Work, at: Coordinates, over: (&str, usize, usize)) -> Wrong {
    let detail = over_detail(over);
    let text = format!(
        "record {}: {detail}, and rejects.too_large is \"halt\": raise max.message.bytes of the topic, or set another rule, and \
         start again; the job goes on with this very record",
        work.outputs.source_of(at)
    );
    let halt = Halt::new(HaltKind::Reject, text).about(Some(at)).because("too large", None);
    Wrong {
        kind: Kind::TooLarge,
        reason: because(ReasonCode::TooLarge, detail),
        halt,
        lost_transaction: false,
    }
}
