//! Steps 3 and 4 of a start: what is stored and not in Kafka is sent, before anything else.
//!
//! In:        the claimed key groups' rows, a fenced producer     Out: the producer, and what Kafka has now
//! Order:     per key group by batch number
//! Fails:     an outage -> a new producer, and everything is looked at again; a disagreement -> halt

use super::first::beyond;
use super::{DEADLINE, StartSetup, Stopped, claim, transactional_id};
use crate::database::{FrontierRow, JobRow, OutboxRow, PositionRow};
use crate::job::JobSpec;
use crate::kafka::{AsyncWriter, LogErrorClass, ProgressRow};
use crate::model::{BatchNumber, KeyGroup};
use crate::operator::gate::{BadOutbox, Outputs, is_of_retry};
use crate::operator::sink::EmitterSetup;
use crate::protocol::halt::{Halt, HaltKind};
use crate::protocol::recovery::{Disagreement, Found, knows_confirmed, lacks_retries_alone, plan};
use crate::protocol::world::DRY_RUN;
use std::collections::BTreeMap;

pub(in crate::cluster) type Emitted = BTreeMap<KeyGroup, BatchNumber>;

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
        // Of all key groups, and before the progress topic: what it lacks of another worker's batches halts this one, too.
        let all = setup.patience.ledger(&setup.ledger, async |session| session.positions().await).await?;
        let frontier = setup.patience.ledger(&setup.ledger, async |session| session.frontier().await).await?;
        let mut emitted = progress(setup, job).await?;
        see_progress(setup, job, (&all, &frontier), &emitted).await?;
        emitted.retain(|group, _| groups.contains(group));
        let outbox =
            setup.patience.ledger(&setup.ledger, async |session| session.outbox(&groups).await).await?;
        let missing = missing(rows, &outbox, &emitted, &setup.spec)?;
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

/// The last batch in Kafka, per key group.
pub(in crate::cluster) async fn progress(setup: &StartSetup, job: &JobRow) -> Result<Emitted, Stopped> {
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
        emitted.insert(row.group, row.batch);
    }
    Ok(emitted)
}

/// The frontier moves only over what Kafka has. So a key group whose work lies behind it is whole in the progress topic,
/// also where the outbox still holds its last batches: else that topic has lost records, and they would be sent again. Batches
/// of parked events that were tried again are the exception, and the outbox tells them apart.
async fn see_progress(
    setup: &StartSetup,
    job: &JobRow,
    (rows, frontier): (&[PositionRow], &[FrontierRow]),
    emitted: &Emitted,
) -> Result<(), Stopped> {
    if gap(setup, rows, frontier, emitted, &[])?.is_none() {
        return Ok(());
    }
    let groups: Vec<KeyGroup> = rows.iter().map(|row| row.group).collect();
    let outbox = setup.patience.ledger(&setup.ledger, async |session| session.outbox(&groups).await).await?;
    // Another worker of this start may have sent since, and gone on, which deletes outbox rows: what Kafka has now counts.
    let emitted = progress(setup, job).await?;
    match gap(setup, rows, frontier, &emitted, &outbox)? {
        Some(gap) => Err(disagree(&gap, &setup.spec.name).into()),
        None => Ok(()),
    }
}

/// What the progress topic does not know and must.
pub(in crate::cluster) fn gap(
    setup: &StartSetup,
    rows: &[PositionRow],
    frontier: &[FrontierRow],
    emitted: &Emitted,
    outbox: &[OutboxRow],
) -> Result<Option<Disagreement>, Halt> {
    for row in rows {
        let emitted = emitted.get(&row.group).copied().unwrap_or_default();
        if let Err(gap) = knows_confirmed(row.group, row.confirmed, emitted) {
            return Ok(Some(gap));
        }
        let of_group = outbox.iter().filter(|outbox| outbox.group == row.group);
        let of_group = of_group.map(|outbox| (outbox.batch, is_of_retry(&outbox.outputs)));
        if emitted < row.output_batch
            && beyond(setup, row, frontier)?.is_none()
            && !lacks_retries_alone(emitted, row.output_batch, of_group)
        {
            let (group, stored) = (row.group, row.output_batch);
            return Ok(Some(Disagreement::ProgressBehind { group, emitted, stored }));
        }
    }
    Ok(None)
}

fn disagree(disagreement: &Disagreement, job: &str) -> Halt {
    let text = format!(
        "ledger and progress topic of job \"{job}\" do not fit together: {disagreement}. Nothing was read, stored or sent. \
         {}. {DRY_RUN}",
        disagreement.remedy()
    );
    Halt::new(HaltKind::Fenced, text)
}

pub(in crate::cluster) type Missing = Vec<(KeyGroup, BatchNumber, Outputs)>;

fn missing(
    rows: &[PositionRow],
    outbox: &[OutboxRow],
    emitted: &Emitted,
    spec: &JobSpec,
) -> Result<Missing, Halt> {
    let plan =
        plan(&found(rows, outbox, emitted)).map_err(|disagreement| disagree(&disagreement, &spec.name))?;
    let is_missing = |o: &&OutboxRow| plan.get(&o.group).is_some_and(|list| list.contains(&o.batch));
    decoded(outbox.iter().filter(is_missing), spec)
}

/// The key groups as recovery looks at them.
pub(in crate::cluster) fn found(rows: &[PositionRow], outbox: &[OutboxRow], emitted: &Emitted) -> Vec<Found> {
    let one = |row: &PositionRow| Found {
        group: row.group,
        batch: row.batch,
        output_batch: row.output_batch,
        outbox: outbox.iter().filter(|o| o.group == row.group).map(|o| o.batch).collect(),
        emitted: emitted.get(&row.group).copied().unwrap_or_default(),
    };
    rows.iter().map(one).collect()
}

/// Outbox rows with their outputs.
pub(in crate::cluster) fn decoded<'a>(
    rows: impl Iterator<Item = &'a OutboxRow>,
    spec: &JobSpec,
) -> Result<Missing, Halt> {
    let read = |row: &OutboxRow| {
        let outputs = Outputs::from_outbox(&row.outputs, &spec.output_topics).map_err(|bad| {
            let text = format!("outbox of key group {}, batch {}: {bad}", row.group, row.batch);
            let kind = match bad {
                BadOutbox::Format { .. } | BadOutbox::Damaged { .. } => HaltKind::Fenced,
                BadOutbox::Topic { .. } | BadOutbox::Nameless { .. } => HaltKind::Misconfigured,
            };
            Halt::new(kind, text)
        })?;
        Ok((row.group, row.batch, outputs))
    };
    rows.map(read).collect()
}

/// Sends them, with what they are in the progress topic.
pub(in crate::cluster) async fn send_all(
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
