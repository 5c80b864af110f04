//! Emitter: owns the transactional producer on a thread of its own, so that the worker never waits for Kafka.
//!
//! In:        batches to send, or "build a new producer"     Out: one report per command
//! Holds:     the producer while it is good; none through an outage, for a producer with records in its queue burns a core
//! Order:     one command at a time
//! Fails:     by report, with the class that the log gave. After a deadline the outcome is unknown: the producer is dropped
//! Not here:  no decision (protocol::sink)

use super::StoredBatch;
use crate::kafka::{AsyncLog, AsyncWriter, LogError, LogErrorClass, ProgressRow};
use crate::model::{BatchNumber, KeyGroup};
use crate::operator::host::Host;
use crate::operator::mailbox::Sender;
use crate::operator::prober::Prober;
use crate::operator::refusals::Refusals;
use crate::protocol::halt::{Halt, HaltKind};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// What the emitter needs.
pub struct EmitterSetup {
    /// Where it sends.
    pub log: Arc<dyn AsyncLog>,
    /// The producer that the start has built.
    pub writer: Box<dyn AsyncWriter>,
    /// This worker's transactional id.
    pub transactional_id: String,
    /// The ledger that the batch numbers belong to.
    pub ledger_id: String,
    /// The key groups of this worker.
    pub groups: Vec<KeyGroup>,
}

/// What the emitter is told.
pub(super) enum Command {
    Emit { batches: Arc<Vec<StoredBatch>>, aborted: u32 },
    Rebuild,
}

/// What the sink hears.
pub(super) enum Report {
    Committed { batches: Arc<Vec<StoredBatch>> },
    Aborted,
    Lost { said: String },
    Fenced,
    Rebuilt(BTreeMap<KeyGroup, BatchNumber>),
    NotRebuilt { said: String },
    Owner { mine: bool },
    Up,
    Halt(Halt),
}

/// How long a transaction, and the building of a producer, may take before it counts as an outage.
pub(crate) const DEADLINE: Duration = Duration::from_secs(15);

/// The sink's end. Dropping it ends the emitter after its command.
pub(super) struct Emitter(mpsc::Sender<Command>);

impl Emitter {
    pub(super) fn start(
        setup: EmitterSetup,
        reports: Sender<Report>,
        prober: Arc<Prober>,
        host: &Host,
    ) -> Emitter {
        let (sender, commands) = mpsc::channel(1);
        let failed = reports.clone();
        let name = setup.transactional_id.clone();
        if let Err(error) = host.spawn_blocking(name, move || serve(setup, commands, reports, prober)) {
            let halt = Halt::new(
                HaltKind::Internal,
                format!("cannot start the thread that sends to Kafka: {error}"),
            );
            failed.send(Report::Halt(halt));
        }
        Emitter(sender)
    }

    /// `false`: the thread has ended.
    pub(super) fn tell(&self, command: Command) -> bool {
        self.0.try_send(command).is_ok()
    }
}

async fn serve(
    setup: EmitterSetup,
    mut commands: mpsc::Receiver<Command>,
    reports: Sender<Report>,
    prober: Arc<Prober>,
) {
    let EmitterSetup { log, writer, transactional_id, ledger_id, groups } = setup;
    let mut writer = Some(writer);
    let mut refusals = Refusals::default();
    // Apart from those of initialisations: a right on a topic may be gone while the id is taken over without trouble.
    let mut sending = Refusals::default();
    while let Some(command) = commands.recv().await {
        let question = prober.ask();
        let report = match command {
            Command::Emit { batches, aborted } => {
                let refused = if sending.goes_on() { REFUSED_PAUSE } else { Duration::ZERO };
                tokio::time::sleep(pause(aborted).max(refused)).await;
                emit(&mut writer, batches, &ledger_id, &mut sending).await
            }
            Command::Rebuild => {
                writer = None;
                match rebuild(&*log, &transactional_id, &ledger_id, &groups, &mut refusals).await {
                    Ok((new, progress)) => {
                        refusals.end();
                        writer = Some(new);
                        Report::Rebuilt(progress)
                    }
                    Err(report) => report,
                }
            }
        };
        drop(question);
        reports.send(report);
    }
}

/// The wait before something is sent again that the account was not allowed to send.
const REFUSED_PAUSE: Duration = Duration::from_secs(1);

/// The wait before a transaction that was aborted is sent again: nothing at first (the one after a refused record
/// fails once more by design of the client), then up to a second.
fn pause(aborted: u32) -> Duration {
    match aborted {
        0 | 1 => Duration::ZERO,
        n => Duration::from_millis(10 << n.min(7)).min(Duration::from_secs(1)),
    }
}

async fn emit(
    writer: &mut Option<Box<dyn AsyncWriter>>,
    batches: Arc<Vec<StoredBatch>>,
    ledger_id: &str,
    refusals: &mut Refusals,
) -> Report {
    let outgoing: Vec<_> = batches.iter().flat_map(|batch| &batch.outputs.records).collect();
    let result = match writer {
        Some(writer) => writer.transact(&outgoing, &progress_of(&batches, ledger_id), DEADLINE).await,
        None => return Report::Lost { said: "there is no producer".to_owned() },
    };
    let refused = matches!(&result, Err(error) if error.class == LogErrorClass::Rights);
    let stays = if refused {
        refusals.again().is_some()
    } else {
        refusals.end();
        false
    };
    let Err(error) = result else { return Report::Committed { batches } };
    if error.class == LogErrorClass::Aborted {
        return Report::Aborted;
    }
    // Outcome unknown, or the producer is no good any more. It must not keep records through an outage.
    *writer = None;
    match error.class {
        LogErrorClass::Fenced => Report::Fenced,
        // Rights are changed by hand, and mistakes with them are put right by hand.
        LogErrorClass::Rights if !stays => Report::Lost { said: error.message },
        _ => trouble(error, |said| Report::Lost { said }),
    }
}

/// The newest batch of each key group.
fn progress_of(batches: &[StoredBatch], ledger_id: &str) -> Vec<ProgressRow> {
    let newest: BTreeMap<KeyGroup, BatchNumber> = batches.iter().map(|b| (b.group, b.number)).collect();
    let row = |(group, batch)| ProgressRow { group, batch, ledger_id: ledger_id.to_owned() };
    newest.into_iter().map(row).collect()
}

type Built = (Box<dyn AsyncWriter>, BTreeMap<KeyGroup, BatchNumber>);

async fn rebuild(
    log: &dyn AsyncLog,
    id: &str,
    ledger_id: &str,
    groups: &[KeyGroup],
    refusals: &mut Refusals,
) -> Result<Built, Report> {
    let mut out = |error: LogError| {
        // A broker that comes back may refuse for a moment, as long as it does not know its accounts yet.
        if error.class != LogErrorClass::Rights {
            refusals.end();
        } else if refusals.again().is_none() {
            return Report::NotRebuilt { said: error.message };
        }
        trouble(error, |said| Report::NotRebuilt { said })
    };
    let writer = log.writer(id, DEADLINE).await.map_err(&mut out)?;
    let rows = log.progress(DEADLINE).await.map_err(&mut out)?;
    let mut progress = BTreeMap::new();
    for row in rows.into_iter().filter(|row| groups.contains(&row.group)) {
        if row.ledger_id != ledger_id {
            let text = "the progress topic was written under another ledger while this job ran";
            return Err(Report::Halt(Halt::new(HaltKind::Fenced, text)));
        }
        progress.insert(row.group, row.batch);
    }
    Ok((writer, progress))
}

/// What an error means: an outage, or a halt.
fn trouble(error: LogError, outage: impl FnOnce(String) -> Report) -> Report {
    let (kind, what) = match error.class {
        LogErrorClass::Outage | LogErrorClass::Unknown | LogErrorClass::Aborted | LogErrorClass::Fenced => {
            return outage(error.message);
        }
        LogErrorClass::TooLarge => {
            (HaltKind::Reject, "an output is over Kafka's limit, and rejects.too_large is \"halt\"")
        }
        LogErrorClass::Misconfigured => (HaltKind::Misconfigured, "Kafka refuses what the job sends"),
        LogErrorClass::Rights => (HaltKind::Rights, "the Kafka account may not do this"),
        LogErrorClass::PositionGone => (HaltKind::Fenced, "a position of the progress topic is gone"),
    };
    let text = format!("{what}: {}; it is stored, and is sent at the next start", error.message);
    Report::Halt(Halt::new(kind, text).because(format!("kafka {}", error.class.as_str()), error.code))
}
