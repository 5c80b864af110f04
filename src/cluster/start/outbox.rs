//! Steps 3 and 4 of a start: what is stored and not in Kafka is sent, before anything else.
//!
//! In:        the claimed key groups' rows, a fenced producer     Out: the producer, and what Kafka has now
//! Order:     per key group by batch number
//! Fails:     an outage -> a new producer, and everything is looked at again; a disagreement -> halt

use super::first::beyond;
use super::{DEADLINE, StartSetup, Stopped, claim, transactional_id};
use crate::database::{FrontierRow, JobRow, OutboxRow, PositionRow};
use crate::kafka::{AsyncWriter, LogErrorClass, ProgressRow};
use crate::model::{BatchNumber, KeyGroup};
use crate::operator::gate::Outputs;
use crate::operator::sink::EmitterSetup;
use crate::protocol::halt::{Halt, HaltKind};
use crate::protocol::recovery::{Disagreement, Found, plan};
use std::collections::BTreeMap;

type Emitted = BTreeMap<KeyGroup, BatchNumber>;

/// Records of one transaction at most; one batch may be over it.
const RECORDS_MAX: usize = 10_000;

/// Sends what the outbox has and Kafka has not. The number says how many batches that were.
pub(super) async fn send(
    setup: &StartSetup,
    writer: Option<Box<dyn AsyncWriter>>,
    job: &JobRow,
    rows: &[PositionRow],
) -> Result<(Option<EmitterSetup>, Emitted, usize), Stopped> {
    let Some(mut writer) = writer else { return Ok((None, Emitted::new(), 0)) };
    let groups: Vec<KeyGroup> = rows.iter().map(|row| row.group).collect();
    let claims: Vec<_> = rows.iter().map(|row| (row.group, row.incarnation)).collect();
    let mut sent = 0;
    loop {
        claim::standing(setup, &claims).await?;
        let frontier = setup.patience.ledger(&setup.ledger, async |session| session.frontier().await).await?;
        let mut emitted = progress(setup, job, &groups).await?;
        see_progress(setup, rows, &frontier, &emitted)?;
        let outbox =
            setup.patience.ledger(&setup.ledger, async |session| session.outbox(&groups).await).await?;
        let missing = missing(rows, &outbox, &emitted, &setup.spec.name)?;
        match send_all(&mut *writer, &missing, job).await {
            Ok(()) => {
                sent += missing.len();
                emitted.extend(missing.iter().map(|(group, batch, _)| (*group, *batch)));
                let emitter = EmitterSetup {
                    log: std::sync::Arc::clone(&setup.log),
                    writer,
                    transactional_id: transactional_id(setup),
                    ledger_id: job.ledger_id.clone(),
                    groups,
                };
                return Ok((Some(emitter), emitted, sent));
            }
            Err(error) if error.class == LogErrorClass::Aborted => {}
            Err(error) => {
                // Unknown how far it came: a new producer decides what was open, and the progress topic tells.
                drop(writer);
                let mut first = Some(error);
                let id = transactional_id(setup);
                let rebuild = async || match first.take() {
                    Some(error) => Err(error),
                    None => setup.log.writer(&id, DEADLINE).await,
                };
                writer = setup.patience.log(rebuild).await?;
            }
        }
    }
}

async fn progress(setup: &StartSetup, job: &JobRow, groups: &[KeyGroup]) -> Result<Emitted, Stopped> {
    let mut emitted = Emitted::new();
    for row in setup.patience.log(async || setup.log.progress(DEADLINE).await).await? {
        if row.ledger_id != job.ledger_id {
            let text = format!(
                "the progress topic of job \"{}\" was written under another ledger: the ledger's tables were emptied, or \
                 the database is another one. If the job is really to begin anew, delete its progress topic",
                setup.spec.name
            );
            return Err(Halt::new(HaltKind::Fenced, text).into());
        }
        if groups.contains(&row.group) {
            emitted.insert(row.group, row.batch);
        }
    }
    Ok(emitted)
}

/// The frontier moves only over what Kafka has. So a key group whose work lies behind it is whole in the progress topic,
/// also where the outbox still holds its last batches: else that topic has lost records, and they would be sent again.
fn see_progress(
    setup: &StartSetup,
    rows: &[PositionRow],
    frontier: &[FrontierRow],
    emitted: &Emitted,
) -> Result<(), Halt> {
    for row in rows {
        let emitted = emitted.get(&row.group).copied().unwrap_or_default();
        if emitted < row.output_batch && beyond(setup, row, frontier)?.is_none() {
            let (group, stored) = (row.group, row.output_batch);
            return Err(disagree(&Disagreement::ProgressBehind { group, emitted, stored }, &setup.spec.name));
        }
    }
    Ok(())
}

fn disagree(disagreement: &Disagreement, job: &str) -> Halt {
    let text = format!(
        "ledger and progress topic of job \"{job}\" do not fit together: {disagreement}. Nothing was read, stored or sent; \
         bring back the one that was changed"
    );
    Halt::new(HaltKind::Fenced, text)
}

type Missing = Vec<(KeyGroup, BatchNumber, Outputs)>;

fn missing(
    rows: &[PositionRow],
    outbox: &[OutboxRow],
    emitted: &Emitted,
    job: &str,
) -> Result<Missing, Halt> {
    let found: Vec<Found> = rows
        .iter()
        .map(|row| Found {
            group: row.group,
            batch: row.batch,
            output_batch: row.output_batch,
            outbox: outbox.iter().filter(|o| o.group == row.group).map(|o| o.batch).collect(),
            emitted: emitted.get(&row.group).copied().unwrap_or_default(),
        })
        .collect();
    let plan = plan(&found).map_err(|disagreement| disagree(&disagreement, job))?;
    let wanted = outbox.iter().filter(|o| plan.get(&o.group).is_some_and(|list| list.contains(&o.batch)));
    let read = |row: &OutboxRow| {
        let outputs = Outputs::from_outbox(&row.outputs).map_err(|bad| {
            let text = format!("outbox of key group {}, batch {}: {bad}", row.group, row.batch);
            Halt::new(HaltKind::Fenced, text)
        })?;
        Ok((row.group, row.batch, outputs))
    };
    wanted.map(read).collect()
}

async fn send_all(
    writer: &mut dyn AsyncWriter,
    missing: &Missing,
    job: &JobRow,
) -> Result<(), crate::kafka::LogError> {
    let mut rest = missing.as_slice();
    while !rest.is_empty() {
        let mut records = 0;
        let fits = |(_, _, outputs): &&(KeyGroup, BatchNumber, Outputs)| {
            records += outputs.records.len();
            records <= RECORDS_MAX
        };
        let count = rest.iter().take_while(fits).count().max(1);
        let (now, later) = rest.split_at(count.min(rest.len()));
        let outgoing: Vec<_> = now.iter().flat_map(|(_, _, outputs)| &outputs.records).collect();
        let newest: Emitted = now.iter().map(|(group, batch, _)| (*group, *batch)).collect();
        let row = |(group, batch)| ProgressRow { group, batch, ledger_id: job.ledger_id.clone() };
        let progress: Vec<ProgressRow> = newest.into_iter().map(row).collect();
        writer.transact(&outgoing, &progress, DEADLINE).await?;
        rest = later;
    }
    Ok(())
}
