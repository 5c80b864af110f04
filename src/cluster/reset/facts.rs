//! What a reset has to know: the same that a start looks at.
//!
//! In:        the job, a wish     Out: facts for protocol::reset, and the rows that they were made of
//! Order:     rows before the progress topic, as at a start
//! Fails:     a job that has not run, or has run with other key groups; an outage behind its limit

use crate::cluster::start::outbox::{self, Emitted};
use crate::cluster::start::{DEADLINE, StartSetup, first, parse, row_of, world};
use crate::database::{FrontierRow, JobRow, OutboxRow, PositionRow};
use crate::kafka::progress_topic_name;
use crate::model::{NextOffset, Offset, TopicPartition};
use crate::operator::exchange::owned_groups;
use crate::protocol::halt::{Halt, HaltKind};
use crate::protocol::recovery;
use crate::protocol::reset::{Facts, Group, Partition, Target, Wish};
use crate::protocol::world::{FoundTopic, Role};

/// Facts, and what is needed to carry out what comes of them.
pub(super) struct Gathered {
    pub(super) job: JobRow,
    pub(super) facts: Facts,
    pub(super) topics: Vec<FoundTopic>,
    pub(super) outbox: Vec<OutboxRow>,
    pub(super) emitted: Emitted,
}

type Result<T> = std::result::Result<T, super::Failed>;

/// Asks everybody.
pub(super) async fn gather(setup: &StartSetup, wish: &Wish) -> Result<Gathered> {
    let job = job_row(setup).await?;
    let partitions = first::partitions(setup).await?;
    let rows = setup.patience.ledger(&setup.ledger, async |session| session.positions().await).await?;
    let frontier = setup.patience.ledger(&setup.ledger, async |session| session.frontier().await).await?;
    let topics = world::topics(setup).await?;
    let emitted = emitted(setup, &job).await?;
    let all = owned_groups(setup.spec.key_groups, 0, 1);
    let outbox = setup.patience.ledger(&setup.ledger, async |session| session.outbox(&all).await).await?;
    let disagreement = disagreement(setup, &rows, &frontier, &outbox, &emitted, &topics)?;
    let facts = Facts {
        partitions: found(setup, &partitions, &frontier, &rows, &topics, wish).await?,
        groups: rows.iter().map(|row| group(row, &outbox, &emitted)).collect(),
        disagreement,
        sends: setup.spec.sends(),
    };
    Ok(Gathered { job, facts, topics, outbox, emitted })
}

async fn job_row(setup: &StartSetup) -> Result<JobRow> {
    let found = setup.patience.ledger(&setup.ledger, async |session| session.job_row().await).await?;
    let name = &setup.spec.name;
    let Some(job) = found else {
        let text = format!(
            "the ledger knows no job \"{name}\": it has not run yet, and source.start says where it will begin; or \
             database.url names another database"
        );
        return Err(Halt::new(HaltKind::Misconfigured, text).into());
    };
    if job.key_groups != setup.spec.key_groups {
        let text = format!(
            "job.key_groups is {}, and the ledger of job \"{name}\" was begun with {}: put it back",
            setup.spec.key_groups, job.key_groups
        );
        return Err(Halt::new(HaltKind::Misconfigured, text).into());
    }
    Ok(job)
}

/// What the progress topic says; nothing, where it is gone.
async fn emitted(setup: &StartSetup, job: &JobRow) -> Result<Emitted> {
    let name = [progress_topic_name(&setup.spec.name)];
    let counts = setup.patience.log(async || setup.log.partition_counts(&name, DEADLINE).await).await?;
    if matches!(counts.as_slice(), [None]) {
        return Ok(Emitted::new());
    }
    Ok(outbox::progress(setup, job).await?)
}

/// Why nobody can say which batches of the outbox Kafka has.
fn disagreement(
    setup: &StartSetup,
    rows: &[PositionRow],
    frontier: &[FrontierRow],
    outbox: &[OutboxRow],
    emitted: &Emitted,
    topics: &[FoundTopic],
) -> Result<Option<String>> {
    let progress = topics.iter().find(|topic| topic.role == Role::Progress);
    let has_outputs = rows.iter().any(|row| row.output_batch.0 > 0);
    if let Some(FoundTopic { name, was: Some(was), is, .. }) = progress
        && has_outputs
        && is.as_ref().is_some_and(|is| is != was)
    {
        return Ok(Some(format!("the progress topic {name} was made anew")));
    }
    if let Some(gap) = outbox::gap(setup, rows, frontier, emitted, outbox)? {
        return Ok(Some(gap.to_string()));
    }
    let planned = recovery::plan(&outbox::found(rows, outbox, emitted));
    Ok(planned.err().map(|found| found.to_string()))
}

fn group(row: &PositionRow, outbox: &[OutboxRow], emitted: &Emitted) -> Group {
    let emitted = emitted.get(&row.group).copied().unwrap_or_default();
    let pending = outbox.iter().filter(|o| o.group == row.group && o.batch > emitted);
    Group {
        group: row.group,
        batch: row.batch,
        output_batch: row.output_batch,
        emitted,
        pending: pending.map(|o| o.batch).collect(),
        places: row.positions.clone(),
    }
}

async fn found(
    setup: &StartSetup,
    partitions: &[TopicPartition],
    frontier: &[FrontierRow],
    rows: &[PositionRow],
    topics: &[FoundTopic],
    wish: &Wish,
) -> Result<Vec<Partition>> {
    let group = setup.patience.log(async || setup.log.group_positions(partitions, DEADLINE).await).await?;
    let moments = match wish.to {
        Target::Time(at) => {
            setup.patience.log(async || setup.log.offsets_at(partitions, at, DEADLINE).await).await?
        }
        _ => Vec::new(),
    };
    let mut found = Vec::with_capacity(partitions.len());
    for at in partitions {
        let topic = setup.spec.topic_of(*at).to_owned();
        let (first, end): (Offset, NextOffset) =
            setup.patience.log(async || setup.log.ends(*at, DEADLINE).await).await?;
        let ledger = row_of(frontier, &topic, at.partition).map(|row| row.next);
        let handled = handled(setup, rows, *at)?.max(ledger.unwrap_or(NextOffset(first.0)));
        let known = topics.iter().find(|found| found.name == topic);
        found.push(Partition {
            partition: at.partition,
            ledger,
            handled,
            first,
            end,
            group: group.iter().find(|position| position.at == *at).map(|position| position.next),
            moment: moments.iter().find(|(of, _)| of == at).map(|(_, next)| *next),
            anew: known
                .is_some_and(|found| found.was.is_some() && found.is.is_some() && found.was != found.is),
            topic,
        });
    }
    Ok(found)
}

/// The highest place of any key group.
fn handled(setup: &StartSetup, rows: &[PositionRow], at: TopicPartition) -> Result<NextOffset> {
    let mut highest = NextOffset(0);
    for row in rows {
        let (places, _strangers) = parse(&row.positions, row.group, &setup.spec)?;
        if let Some(place) = places.get(at) {
            highest = highest.max(NextOffset(place.offset.0.saturating_add(i64::from(place.events > 0))));
        }
    }
    Ok(highest)
}
