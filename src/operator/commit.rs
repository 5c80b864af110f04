//! Commit: moves the job's frontier in the ledger, and the consumer group's offsets for lag tools, behind the dataflow's.
//!
//! In:        what each epoch covers (source of the same worker); the sink's frontier     Out: nothing; ends when all is written
//! Holds:     what open epochs cover; the capability of its own output until the last position is written
//! Order:     positions only rise
//! Fails:     the ledger out -> tries again each second, nothing is lost by waiting; the group's commit failing is only said
//! Not here:  what makes an epoch close (gate and sink hold it open)

use super::budget::Budget;
use super::host::Host;
use super::mailbox::{Sender, mailbox};
use super::source::Covered;
use super::stop::StopRequest;
use crate::model::{Epoch, NextOffset, TopicPartition};
use crate::protocol::halt::Halt;
use crate::status::Board;
use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use timely::dataflow::StreamVec;
use timely::dataflow::channels::pact::Pipeline;
use timely::dataflow::operators::generic::builder_rc::OperatorBuilder;
use timely::progress::frontier::MutableAntichain;
use tokio::time::Instant;

/// Positions that are safe.
pub type Positions = Vec<(TopicPartition, NextOffset)>;

/// How a write of positions ended.
#[derive(Debug)]
pub enum Written {
    /// They are in the ledger.
    Yes,
    /// Not this time.
    NotNow,
    /// And never will be.
    Halt(Halt),
}

/// Writes positions to the ledger, and then shows them to the consumer group.
pub type WritePositions =
    Arc<dyn Fn(Positions) -> Pin<Box<dyn Future<Output = Written> + Send>> + Send + Sync>;

/// What commit needs.
pub struct CommitSetup {
    /// Where positions go.
    pub write: WritePositions,
    /// Where the write runs.
    pub host: Host,
    /// What closed epochs give back.
    pub budget: Arc<Budget>,
    /// Where counts go.
    pub board: Arc<Board>,
    /// For a halt.
    pub stop: StopRequest,
}

/// What comes back to the operator.
#[derive(Debug)]
enum Report {
    Written(Written),
    /// It is time to look again.
    Due,
}

/// How often positions are written, while they move.
const PERIOD: Duration = Duration::from_secs(1);

/// Adds the operator. Its output is done when the last position is written.
pub fn commit<'scope>(
    covered: StreamVec<'scope, Epoch, Covered>,
    sunk: StreamVec<'scope, Epoch, ()>,
    setup: CommitSetup,
) -> StreamVec<'scope, Epoch, ()> {
    let scope = covered.scope();
    let mut builder = OperatorBuilder::new("5-commit".to_owned(), scope);
    let info = builder.operator_info();
    let wake = scope.worker().sync_activator_for(info.address.to_vec());
    let mut covered = builder.new_input(covered, Pipeline);
    let mut sunk = builder.new_input(sunk, Pipeline);
    let (_output, done) = builder.new_output::<Vec<()>>();
    let (sender, reports) = mailbox::<Report>(setup.host.wake(wake));
    builder.build_reschedule(move |capabilities| {
        let mut capability = Some(capabilities);
        let mut ledger = Pending::new(setup);
        move |frontiers| {
            // One container at a time: grouping by stamp sorts unstably, and would mix up the containers of an epoch.
            covered.for_each(|capability, data| {
                if let Some(epoch) = capability.least().copied() {
                    ledger.opened(epoch, data.drain(..));
                }
            });
            sunk.for_each(|_, data| data.clear());
            let closed = frontiers.iter().map(MutableAntichain::frontier);
            let closed = closed.filter_map(|frontier| frontier.first().copied()).min();
            ledger.close_before(closed);
            reports.take().into_iter().for_each(|report| ledger.hear(report));
            let ending = closed.is_none();
            ledger.write(ending, &sender);
            let finished = ending && ledger.is_clean();
            if finished {
                capability = None;
            }
            let _held = &capability;
            !finished
        }
    });
    done
}

/// Positions between "the epoch is closed" and "it is in the ledger".
struct Pending {
    setup: CommitSetup,
    /// What open epochs cover, oldest first.
    open: VecDeque<(Epoch, Covered)>,
    /// Closed, and not in the ledger yet.
    closed: BTreeMap<TopicPartition, NextOffset>,
    /// On its way.
    writing: Option<Positions>,
    last: Option<Instant>,
    /// A wake-up is on its way.
    waits: bool,
    /// The oldest open epoch, since when it is that, and when that was said.
    oldest: Option<(Epoch, Instant, Option<Instant>)>,
}

/// An epoch that is open for so long is said, once in this time: it may be a hold, which says so itself, or something that
/// nobody else sees.
const OPEN_LONG: Duration = Duration::from_secs(60);

impl Pending {
    fn new(setup: CommitSetup) -> Pending {
        Pending {
            setup,
            open: VecDeque::new(),
            closed: BTreeMap::new(),
            writing: None,
            last: None,
            waits: false,
            oldest: None,
        }
    }

    fn opened(&mut self, epoch: Epoch, covered: impl Iterator<Item = Covered>) {
        self.open.extend(covered.map(|covered| (epoch, covered)));
        self.setup.board.set_in_flight(self.setup.budget.used_bytes());
    }

    /// Every epoch before this one is closed; none: all are.
    fn close_before(&mut self, epoch: Option<Epoch>) {
        let before = |open: &Epoch| epoch.is_none_or(|epoch| *open < epoch);
        while let Some((_, covered)) = self.open.pop_front_if(|(open, _)| before(open)) {
            self.setup.budget.release(covered.bytes);
            self.setup.board.committed.add(covered.records);
            for (at, next) in covered.positions {
                let old = self.closed.insert(at, next);
                assert!(
                    old.is_none_or(|old| old <= next),
                    "the frontier of {at:?} went back from {old:?} to {next}"
                );
            }
        }
        self.setup.board.set_in_flight(self.setup.budget.used_bytes());
        self.look_at_oldest();
    }

    /// Says when the same epoch is the oldest one for long.
    fn look_at_oldest(&mut self) {
        let now = self.open.front().map(|(epoch, _)| *epoch);
        let (epoch, since, said) = match (now, self.oldest) {
            (None, _) => return self.oldest = None,
            (Some(now), Some(oldest)) if oldest.0 == now => oldest,
            (Some(now), _) => return self.oldest = Some((now, Instant::now(), None)),
        };
        if said.unwrap_or(since).elapsed() >= OPEN_LONG {
            let (seconds, epochs) = (since.elapsed().as_secs(), self.open.len());
            tracing::warn!(
                epoch,
                seconds,
                epochs,
                "the oldest records in flight are not stored and sent yet"
            );
            self.oldest = Some((epoch, since, Some(Instant::now())));
        }
    }

    fn hear(&mut self, report: Report) {
        match report {
            Report::Due => self.waits = false,
            Report::Written(written) => self.written(written),
        }
    }

    fn written(&mut self, written: Written) {
        let positions = self.writing.take().unwrap_or_default();
        match written {
            Written::Yes => {
                for (at, next) in positions {
                    self.setup.board.set_position(at.topic, at.partition, next.0);
                }
            }
            Written::NotNow => {
                for (at, next) in positions {
                    self.closed.entry(at).or_insert(next);
                }
            }
            Written::Halt(halt) => self.setup.stop.halt(halt),
        }
    }

    /// Begins a write when it is time, at once when all has ended; else asks to be woken when it will be.
    fn write(&mut self, ending: bool, reports: &Sender<Report>) {
        if self.writing.is_some() || self.closed.is_empty() {
            return;
        }
        let since = self.last.map_or(PERIOD, |last| last.elapsed());
        let period = if ending { PERIOD / 10 } else { PERIOD };
        if since < period {
            return self.wake_after(period - since, reports);
        }
        self.last = Some(Instant::now());
        let positions: Positions = std::mem::take(&mut self.closed).into_iter().collect();
        self.writing = Some(positions.clone());
        let (write, reports) = ((self.setup.write)(positions), reports.clone());
        self.setup.host.spawn(async move { reports.send(Report::Written(write.await)) });
    }

    fn wake_after(&mut self, pause: Duration, reports: &Sender<Report>) {
        if !std::mem::replace(&mut self.waits, true) {
            let reports = reports.clone();
            self.setup.host.spawn(async move {
                tokio::time::sleep(pause).await;
                reports.send(Report::Due);
            });
        }
    }

    fn is_clean(&self) -> bool {
        self.open.is_empty() && self.closed.is_empty() && self.writing.is_none()
    }
}
