//! Reset: moves a job's positions, in the ledger and in the consumer group together, when a person has taken a side.
//!
//! In:        a job that is down, a wish     Out: what it comes to; and, when it is told to, that it is so now
//! Order:     as a start's: claim all key groups, fence all producers, read the progress topic, send what the outbox has and
//!            Kafka has not; then the ledger in one transaction, then the group
//! Fails:     a wish that cannot be, an outage, another instance that claims meanwhile: nothing was moved. The group's commit
//!            failing alone: said, and done again by the same command
//! Not here:  where positions go (protocol::reset)
//!
//! An instance that runs meanwhile is fenced by the claim: none of its batches can be stored, and its next write of
//! positions is refused, since the ledger counts resets.

mod facts;

use super::Job;
use super::ledger::{LedgerClient, Trouble};
use super::start::{DEADLINE, Patience, StartSetup, Stopped, claim, fence, group_mark, log_trouble, outbox};
use crate::database::{Move, PositionRow, TopicRow};
use crate::model::{BatchNumber, KeyGroup, NextOffset, TopicPartition};
use crate::protocol::halt::{Halt, HaltKind};
use crate::protocol::reset::{Plan, Refusal, Step, Wish, new_row, plan};
use facts::{Gathered, gather};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// How long a world may be out before the command gives up.
const LIMIT: Duration = Duration::from_secs(20);

/// Why positions were not moved.
#[derive(Debug)]
pub enum Failed {
    /// The wish cannot be right.
    Usage(String),
    /// It cannot be done, with the exit code that a start would have.
    Halt(Halt),
}

impl From<Halt> for Failed {
    fn from(halt: Halt) -> Failed {
        Failed::Halt(halt)
    }
}

impl From<Stopped> for Failed {
    fn from(stopped: Stopped) -> Failed {
        match stopped {
            Stopped::Halt(halt) => Failed::Halt(halt),
            Stopped::Cancelled => Failed::Halt(Halt::new(HaltKind::Internal, "a reset was cancelled")),
        }
    }
}

impl From<Refusal> for Failed {
    fn from(refusal: Refusal) -> Failed {
        match refusal {
            Refusal::Usage(text) => Failed::Usage(text),
            Refusal::World(text) => Failed::Halt(Halt::new(HaltKind::Fenced, text)),
        }
    }
}

/// What a reset does, or has done.
#[derive(Clone, Debug)]
pub struct Preview {
    /// Per partition, and the outbox.
    pub plan: Plan,
    /// Key groups whose batch number is raised to the progress topic's: before and after.
    pub raised: Vec<(KeyGroup, BatchNumber, BatchNumber)>,
    /// Why ledger and progress topic do not fit together.
    pub disagreement: Option<String>,
    /// The group that is moved with the ledger.
    pub group_id: String,
    /// Why the group was not moved although the ledger was.
    pub group_failed: Option<String>,
}

/// A job whose positions can be moved.
pub struct Reset {
    setup: StartSetup,
    runtime: Runtime,
}

impl Reset {
    /// Makes ready; asks nobody yet.
    ///
    /// # Errors
    /// Internal: no runtime.
    pub fn new(job: &Job) -> Result<Reset, Failed> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.map_err(|error| {
            Halt::new(HaltKind::Internal, format!("cannot start the tokio runtime: {error}"))
        })?;
        let setup = StartSetup {
            spec: Arc::clone(&job.spec),
            log: Arc::clone(&job.log),
            ledger: LedgerClient::new(Arc::clone(&job.database)),
            worker: 0,
            workers: 1,
            until_end: false,
            watches: false,
            patience: Patience {
                board: Arc::clone(&job.board),
                cancelled: Arc::new(AtomicBool::new(false)),
                limit: Some(LIMIT),
            },
        };
        Ok(Reset { setup, runtime })
    }

    /// What the wish comes to. Changes nothing.
    ///
    /// # Errors
    /// [`Failed`].
    pub fn preview(&self, wish: &Wish) -> Result<Preview, Failed> {
        self.runtime.block_on(self.look(wish))
    }

    async fn look(&self, wish: &Wish) -> Result<Preview, Failed> {
        let gathered = gather(&self.setup, wish).await?;
        let plan = plan(&gathered.facts, wish)?;
        Ok(self.shown(&gathered, plan, None))
    }

    /// Moves.
    ///
    /// # Errors
    /// [`Failed`]: nothing was moved, or, where the text says so, it is not known.
    pub fn execute(&self, wish: &Wish) -> Result<Preview, Failed> {
        self.runtime.block_on(self.carry_out(wish))
    }

    async fn carry_out(&self, wish: &Wish) -> Result<Preview, Failed> {
        let setup = &self.setup;
        // What is refused is refused before an instance that may be running is ended.
        self.look(wish).await?;
        let claims = claim::all(setup).await?;
        let mut writer = fence(setup).await?;
        let rows = claim::rows_of_mine(setup, &claims).await?;
        if setup.spec.sends() {
            setup.patience.log(async || setup.log.create_progress_topic(DEADLINE).await).await?;
        }
        let mut gathered = gather(setup, wish).await?;
        let plan = plan(&gathered.facts, wish)?;
        if let Some(writer) = writer.as_deref_mut() {
            let wanted = |row: &&crate::database::OutboxRow| plan.send.contains(&(row.group, row.batch));
            let missing = outbox::decoded(gathered.outbox.iter().filter(wanted), &setup.spec)?;
            outbox::send_all(writer, &missing, &gathered.job)
                .await
                .map_err(|error| not_sent(log_trouble(error)))?;
            gathered.emitted.extend(plan.send.iter().copied());
        }
        self.write(&gathered, &plan, &rows).await?;
        let group_failed = self.commit(&gathered, &plan).await.err();
        Ok(self.shown(&gathered, plan, group_failed))
    }

    fn shown(&self, gathered: &Gathered, plan: Plan, group_failed: Option<String>) -> Preview {
        let raised = gathered.facts.groups.iter().filter(|group| group.emitted > group.batch);
        Preview {
            raised: raised.map(|group| (group.group, group.batch, group.emitted)).collect(),
            plan,
            disagreement: gathered.facts.disagreement.clone(),
            group_id: self.setup.spec.source.group_id.clone(),
            group_failed,
        }
    }

    /// The ledger's part, once: an answer that is lost is not asked for again.
    async fn write(&self, gathered: &Gathered, plan: &Plan, rows: &[PositionRow]) -> Result<(), Failed> {
        let reset = crate::database::Reset {
            at: jiff::Timestamp::now().to_string(),
            positions: new_rows(gathered, plan, rows),
            moves: moves(gathered, plan),
            topics: topics(gathered, plan),
        };
        let setup = &self.setup;
        let text = match setup.ledger.ask(async |session| session.reset(&reset).await).await {
            Ok(true) => return Ok(()),
            Ok(false) => {
                "another instance of the job was started meanwhile: nothing was moved; stop it, and say it again".to_owned()
            }
            Err(Trouble::Halt(halt)) => return Err(halt.into()),
            Err(Trouble::Later(said)) => {
                let text = format!(
                    "whether the ledger's positions were moved is not known ({said}): `tidegate offsets show` tells, and the \
                     same command may be given again"
                );
                return Err(Halt::new(HaltKind::Outage, text).into());
            }
        };
        Err(Halt::new(HaltKind::Fenced, text).into())
    }

    /// The group's part.
    async fn commit(&self, gathered: &Gathered, plan: &Plan) -> Result<(), String> {
        let setup = &self.setup;
        let at = |step: &Step| {
            let topic = setup.spec.topic_index(&step.found.topic)?;
            Some((TopicPartition { topic, partition: step.found.partition }, step.to))
        };
        let positions: Vec<(TopicPartition, NextOffset)> =
            plan.steps.iter().filter(|step| step.chosen).filter_map(at).collect();
        let mark = group_mark(&gathered.job.ledger_id);
        setup.log.commit_group(&positions, &mark, DEADLINE).await.map_err(|error| error.message)?;
        let name = setup.spec.source.group_id.as_str();
        let marked =
            setup.patience.ledger(&setup.ledger, async |session| session.mark_group(name).await).await;
        marked.map_err(|stopped| match stopped {
            Stopped::Halt(halt) => halt.message,
            Stopped::Cancelled => "cancelled".to_owned(),
        })
    }
}

fn not_sent(trouble: Trouble) -> Failed {
    let (kind, said) = match trouble {
        Trouble::Later(said) => (HaltKind::Outage, said),
        Trouble::Halt(halt) => (halt.kind, halt.message),
    };
    let text = format!("what the outbox holds could not be sent, so nothing was moved: {said}; say it again");
    Failed::Halt(Halt::new(kind, text))
}

fn new_rows(gathered: &Gathered, plan: &Plan, rows: &[PositionRow]) -> Vec<PositionRow> {
    let emitted: &BTreeMap<KeyGroup, BatchNumber> = &gathered.emitted;
    let one = |row: &PositionRow| {
        let found = gathered.facts.groups.iter().find(|group| group.group == row.group)?;
        let emitted = emitted.get(&row.group).copied().unwrap_or_default();
        let new = new_row(found, emitted, &plan.steps);
        Some(PositionRow {
            group: row.group,
            incarnation: row.incarnation,
            batch: new.batch,
            output_batch: new.output_batch,
            positions: new.places,
            confirmed: emitted,
        })
    };
    rows.iter().filter_map(one).collect()
}

/// What the ledger keeps of it. Where it was behind Kafka, whatever a partition holds may have been handled before.
fn moves(gathered: &Gathered, plan: &Plan) -> Vec<Move> {
    let went_back = gathered
        .facts
        .groups
        .iter()
        .any(|group| group.emitted > group.output_batch && group.emitted > group.batch);
    let moves = plan.steps.iter().filter(|step| step.moves() || (went_back && step.chosen));
    moves
        .map(|step| Move {
            topic: step.found.topic.clone(),
            partition: step.found.partition,
            from: step.from(),
            handled: if went_back { step.found.end } else { step.found.handled },
            to: step.to,
        })
        .collect()
}

/// The ids that count from now on: of topics whose partitions were chosen, and of all that no position counts in.
fn topics(gathered: &Gathered, plan: &Plan) -> Vec<TopicRow> {
    let kept = |name: &str| plan.steps.iter().any(|step| step.found.topic == name && !step.chosen);
    let topics = gathered.topics.iter().filter(|topic| !kept(&topic.name));
    topics.filter_map(|topic| Some(TopicRow { topic: topic.name.clone(), id: topic.is.clone()? })).collect()
}
