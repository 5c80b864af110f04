//! Where a job begins: its ledger, its topics, and the first offset of each partition.
//!
//! In:        the job and the log's partitions     Out: a ledger that fits the job; positions to read from
//! Fails:     a topic that is missing, other key groups than at the first start, changed keys with work in doubt -> halt
//!
//! "Where to begin" is decided once, at the first start, and written down before anything is read. From then on the
//! ledger is the truth.

use super::{DEADLINE, StartSetup, Stopped, new_job_row, parse, row_of, world};
use crate::database::{ErrorClass, FrontierRow, JobRow, PositionRow, Session};
use crate::job::Start;
use crate::kafka::progress_topic_name;
use crate::model::{BatchNumber, NextOffset, Offset, Place, TopicPartition};
use crate::operator::exchange::owns;
use crate::protocol::halt::{Halt, HaltKind};
use crate::protocol::world::{DRY_RUN, Odd, PROGRESS_LOST, describe};

/// All partitions of the job's topics.
pub(in crate::cluster) async fn partitions(setup: &StartSetup) -> Result<Vec<TopicPartition>, Stopped> {
    let topics = &setup.spec.source.topics;
    let counts = setup.patience.log(async || setup.log.partition_counts(topics, DEADLINE).await).await?;
    let mut partitions = Vec::new();
    for ((topic, name), count) in (0_u16..).zip(topics).zip(counts) {
        let count = count.ok_or_else(|| missing_topic("source.topics", name))?;
        partitions.extend((0..count).map(|partition| TopicPartition { topic, partition }));
    }
    let output = setup.spec.output_topics.iter().map(|topic| ("output.topic", topic.clone()));
    let letters =
        setup.spec.rejects.dead_letter_topic.clone().map(|name| ("rejects.dead_letter_topic", name));
    for (key, name) in output.into_iter().chain(letters) {
        let counts = setup
            .patience
            .log(async || setup.log.partition_counts(std::slice::from_ref(&name), DEADLINE).await)
            .await?;
        if !matches!(counts.as_slice(), [Some(_)]) {
            return Err(missing_topic(key, &name).into());
        }
    }
    Ok(partitions)
}

fn missing_topic(key: &str, name: &str) -> Halt {
    Halt::new(
        HaltKind::Misconfigured,
        format!("{key}: topic \"{name}\" does not exist: create it, and start again"),
    )
}

/// The ledger's tables, the job's row, and the progress topic; once per cluster. Gives where the group is to be brought.
pub(super) async fn prepare_ledger(
    setup: &StartSetup,
    partitions: &[TopicPartition],
) -> Result<world::Elsewhere, Stopped> {
    setup.patience.ledger(&setup.ledger, async |session| session.create_ledger().await).await?;
    let begun = setup.patience.ledger(&setup.ledger, async |session| session.job_row().await).await?;
    if setup.spec.sends() {
        if begun.is_some() {
            progress_is_there(setup).await?;
        }
        setup.patience.log(async || setup.log.create_progress_topic(DEADLINE).await).await?;
    }
    match begun {
        Some(row) => {
            fits(setup, &row).await?;
            world::see(setup, partitions, &row).await
        }
        None => {
            let rows = first_positions(setup, partitions).await?;
            setup
                .patience
                .ledger(&setup.ledger, async |session| session.advance_frontier(&rows, 0).await)
                .await?;
            // Last: the row says that the job has begun.
            let row = begin_job(setup, &new_job_row(&setup.spec)).await?;
            fits(setup, &row).await?;
            world::see(setup, partitions, &row).await
        }
    }
}

/// A progress topic that is gone is not made anew where a batch was ever to be sent: an empty one says that nothing was,
/// and what the outbox still holds would be sent again.
async fn progress_is_there(setup: &StartSetup) -> Result<(), Stopped> {
    let name = [progress_topic_name(&setup.spec.name)];
    let counts = setup.patience.log(async || setup.log.partition_counts(&name, DEADLINE).await).await?;
    if !matches!(counts.as_slice(), [None]) {
        return Ok(());
    }
    let rows = setup.patience.ledger(&setup.ledger, async |session| session.positions().await).await?;
    if rows.iter().all(|row| row.output_batch == BatchNumber(0)) {
        return Ok(());
    }
    let text = format!(
        "the progress topic \"{}\" of job \"{}\" is gone, and the ledger has batches with outputs: which of them Kafka has \
         is not known any more. Nothing was read, stored or sent. {PROGRESS_LOST}. {DRY_RUN}",
        name.concat(),
        setup.spec.name
    );
    Err(Halt::new(HaltKind::Fenced, text).into())
}

/// Writes the job's row. An earlier attempt may have written it and its answer been lost, or another instance that
/// starts just now: what is there counts.
async fn begin_job(setup: &StartSetup, row: &JobRow) -> Result<JobRow, Stopped> {
    let begin = async |session: &mut dyn Session| {
        let refused = match session.create_job(row).await {
            Ok(()) => return Ok(row.clone()),
            Err(error) if error.class == ErrorClass::Reject => error,
            Err(error) => return Err(error),
        };
        session.job_row().await?.ok_or(refused)
    };
    setup.patience.ledger(&setup.ledger, begin).await
}

async fn first_positions(
    setup: &StartSetup,
    partitions: &[TopicPartition],
) -> Result<Vec<FrontierRow>, Stopped> {
    let group = match setup.spec.source.start {
        Start::Group => {
            setup.patience.log(async || setup.log.group_positions(partitions, DEADLINE).await).await?
        }
        Start::Earliest | Start::Latest => Vec::new(),
    };
    let mut rows = Vec::with_capacity(partitions.len());
    for at in partitions {
        let (first, end) = setup.patience.log(async || setup.log.ends(*at, DEADLINE).await).await?;
        let committed = group.iter().find(|position| position.at == *at).map(|position| position.next);
        let next = match setup.spec.source.start {
            Start::Earliest => NextOffset(first.0),
            Start::Latest => end,
            Start::Group => committed.ok_or_else(|| nothing_committed(setup, *at))?,
        };
        rows.push(FrontierRow { topic: setup.spec.topic_of(*at).to_owned(), partition: at.partition, next });
    }
    Ok(rows)
}

fn nothing_committed(setup: &StartSetup, at: TopicPartition) -> Halt {
    Halt::new(
        HaltKind::Misconfigured,
        format!(
            "source.start is \"group\", and consumer group \"{}\" has no committed offset for {}/{}: commit one, or \
             set source.start to \"earliest\" or \"latest\"",
            setup.spec.source.group_id,
            setup.spec.topic_of(at),
            at.partition
        ),
    )
}

/// Whether the job may go on with this ledger.
async fn fits(setup: &StartSetup, row: &JobRow) -> Result<(), Stopped> {
    if row.key_groups != setup.spec.key_groups {
        let text = format!(
            "job.key_groups is {}, and the ledger of job \"{}\" was begun with {}: it is fixed for a job's life, since \
             positions are kept per key group; put it back",
            setup.spec.key_groups, setup.spec.name, row.key_groups
        );
        return Err(Halt::new(HaltKind::Misconfigured, text).into());
    }
    let fingerprint = setup.spec.fingerprint();
    if row.fingerprint == fingerprint {
        return Ok(());
    }
    if let Some(place) = in_doubt(setup).await? {
        let text = format!(
            "the job file's topics or keys have changed since the last run, and that run ended with work beyond the \
             frontier ({place}): with other keys it would be handled in other key groups, and twice. Start with the \
             old job file, let it drain (SIGTERM), then change it"
        );
        return Err(Halt::new(HaltKind::Misconfigured, text).into());
    }
    setup.patience.ledger(&setup.ledger, async |session| session.set_fingerprint(&fingerprint).await).await
}

/// A key group with work beyond the job's frontier: after a clean end there is none.
async fn in_doubt(setup: &StartSetup) -> Result<Option<String>, Stopped> {
    let frontier = setup.patience.ledger(&setup.ledger, async |session| session.frontier().await).await?;
    for row in setup.patience.ledger(&setup.ledger, async |session| session.positions().await).await? {
        if let Some(place) = beyond(setup, &row, &frontier)? {
            return Ok(Some(place));
        }
    }
    Ok(None)
}

/// A place that this key group has taken beyond the job's frontier.
pub(super) fn beyond(
    setup: &StartSetup,
    row: &PositionRow,
    frontier: &[FrontierRow],
) -> Result<Option<String>, Halt> {
    let (places, strangers) = parse(&row.positions, row.group, &setup.spec)?;
    let known = places.iter().map(|(at, place)| (setup.spec.topic_of(at).to_owned(), at.partition, place));
    let mut beyond = known.chain(strangers).filter(|(topic, partition, place)| {
        row_of(frontier, topic, *partition).is_none_or(|row| !place.is_within(row.next))
    });
    let text = |(topic, partition, place): (String, i32, Place)| {
        format!("key group {} at {topic}/{partition}/{}", row.group, place.offset)
    };
    Ok(beyond.next().map(text))
}

/// Where this worker reads its partitions from.
pub(super) async fn positions(
    setup: &StartSetup,
    partitions: &[TopicPartition],
    frontier: &[FrontierRow],
) -> Result<Vec<(TopicPartition, NextOffset)>, Stopped> {
    let mut positions = Vec::new();
    let mine = partitions.iter().filter(|at| {
        u64::try_from(at.partition).is_ok_and(|partition| owns(partition, setup.worker, setup.workers))
    });
    for at in mine {
        let (first, end) = setup.patience.log(async || setup.log.ends(*at, DEADLINE).await).await?;
        let next = match row_of(frontier, setup.spec.topic_of(*at), at.partition) {
            Some(row) => row.next,
            // Added since the first start: whatever it holds is new to the job.
            None => NextOffset(first.0),
        };
        if next.0 < first.0 || next > end {
            return Err(not_there(setup, *at, next, (first, end)).into());
        }
        positions.push((*at, next));
    }
    Ok(positions)
}

fn not_there(
    setup: &StartSetup,
    at: TopicPartition,
    next: NextOffset,
    (first, end): (Offset, NextOffset),
) -> Halt {
    let at = format!("{}/{}", setup.spec.topic_of(at), at.partition);
    let odd = if next.0 < first.0 {
        Odd::BelowStart { at, ledger: next, first, end }
    } else {
        Odd::BeyondEnd { at, ledger: next, first, end }
    };
    Halt::new(HaltKind::Fenced, describe(&setup.spec.name, &[odd], None))
}
