//! Step 0 of a start: the topics, the positions and the consumer group, held against the ledger, before anything is claimed.
//!
//! In:        the job's row, all partitions     Out: a world that fits the ledger; and, when everything else does, too, a group whose
//!            positions are the ledger's, marked
//! Order:     the group before the frontier, the frontier before the ends: whatever an older instance still writes meanwhile
//!            moves all of them forward, in the other order
//! Fails:     anything odd -> halt, with all of it and the commands that take a side
//! Not here:  what is odd (protocol::world); batches and the progress topic (outbox)

use super::{DEADLINE, StartSetup, Stopped, group_mark, row_of};
use crate::database::{FrontierRow, JobRow, TopicRow};
use crate::kafka::{GroupPosition, LogErrorClass, progress_topic_name};
use crate::model::{NextOffset, Offset, TopicPartition};
use crate::protocol::halt::{Halt, HaltKind};
use crate::protocol::recovery::Disagreement;
use crate::protocol::world::{FoundPartition, FoundTopic, Odd, Role, World, describe, odds};

/// Positions of the ledger at which the group is not, or not with this job's mark. None: the group may not be seen.
#[derive(Default)]
pub(super) struct Elsewhere(Option<Vec<(TopicPartition, NextOffset)>>);

/// Sees that the world fits the ledger.
pub(super) async fn see(
    setup: &StartSetup,
    partitions: &[TopicPartition],
    job: &JobRow,
) -> Result<Elsewhere, Stopped> {
    let group = group(setup, partitions).await?;
    let frontier = setup.patience.ledger(&setup.ledger, async |session| session.frontier().await).await?;
    let topics = topics(setup).await?;
    let world = World {
        partitions: found(setup, partitions, &frontier, group.as_deref(), job).await?,
        marked: job.marked_group == setup.spec.source.group_id,
        has_outputs: has_outputs(setup).await?,
        topics,
    };
    let odds = odds(&world);
    if !odds.is_empty() {
        let went_back = odds.iter().any(|odd| matches!(odd, Odd::LedgerBehindGroup { .. }));
        let more = if went_back { ahead_of_ledger(setup, job).await? } else { None };
        let text = describe(&setup.spec.name, &odds, more.as_deref());
        return Err(Halt::new(HaltKind::Fenced, text).into());
    }
    remember(setup, &world.topics).await?;
    Ok(Elsewhere(group.map(|_| elsewhere(setup, &world.partitions))))
}

fn elsewhere(setup: &StartSetup, partitions: &[FoundPartition]) -> Vec<(TopicPartition, NextOffset)> {
    let one = |found: &FoundPartition| {
        let next = found.ledger.filter(|next| found.group != Some((*next, true)))?;
        let topic = setup.spec.topic_index(&found.topic)?;
        Some((TopicPartition { topic, partition: found.partition }, next))
    };
    partitions.iter().filter_map(one).collect()
}

/// The group's positions; none: this account may not see them, and may do without.
async fn group(
    setup: &StartSetup,
    partitions: &[TopicPartition],
) -> Result<Option<Vec<GroupPosition>>, Stopped> {
    let ask = async || match setup.log.group_positions(partitions, DEADLINE).await {
        Err(error) if error.class == LogErrorClass::Rights => {
            let said = error.message;
            tracing::warn!(
                said,
                "the consumer group cannot be seen: whether somebody has moved it is not looked at"
            );
            Ok(None)
        }
        answer => answer.map(Some),
    };
    setup.patience.log(ask).await
}

/// The job's topics, with the ids that they had and have.
pub(in crate::cluster) async fn topics(setup: &StartSetup) -> Result<Vec<FoundTopic>, Stopped> {
    let spec = &setup.spec;
    let mut topics: Vec<(String, Role)> =
        spec.source.topics.iter().map(|name| (name.clone(), Role::Input)).collect();
    if spec.sends() {
        topics.push((progress_topic_name(&spec.name), Role::Progress));
    }
    for name in spec.output_topics.iter().chain(&spec.rejects.dead_letter_topic).cloned() {
        if topics.iter().all(|(known, _)| *known != name) {
            topics.push((name, Role::Sent));
        }
    }
    let names: Vec<String> = topics.iter().map(|(name, _)| name.clone()).collect();
    let known = setup.patience.ledger(&setup.ledger, async |session| session.topics().await).await?;
    let ids = setup.patience.log(async || setup.log.topic_ids(&names, DEADLINE).await).await?;
    let was = |name: &str| known.iter().find(|row| row.topic == name).map(|row| row.id.clone());
    Ok(topics
        .into_iter()
        .zip(ids)
        .map(|((name, role), is)| FoundTopic { was: was(&name), name, role, is })
        .collect())
}

async fn found(
    setup: &StartSetup,
    partitions: &[TopicPartition],
    frontier: &[FrontierRow],
    group: Option<&[GroupPosition]>,
    job: &JobRow,
) -> Result<Vec<FoundPartition>, Stopped> {
    let mark = group_mark(&job.ledger_id);
    let mut all = Vec::with_capacity(partitions.len());
    for at in partitions {
        let topic = setup.spec.topic_of(*at).to_owned();
        let (first, end): (Offset, NextOffset) =
            setup.patience.log(async || setup.log.ends(*at, DEADLINE).await).await?;
        let ledger = row_of(frontier, &topic, at.partition).map(|row| row.next);
        let group = group.and_then(|group| group.iter().find(|position| position.at == *at));
        let group = group.map(|position| (position.next, position.mark == mark));
        all.push(FoundPartition { topic, partition: at.partition, ledger, first, end, group });
    }
    Ok(all)
}

async fn has_outputs(setup: &StartSetup) -> Result<bool, Stopped> {
    let rows = setup.patience.ledger(&setup.ledger, async |session| session.positions().await).await?;
    Ok(rows.iter().any(|row| row.output_batch.0 > 0))
}

/// What the progress topic says beside it: a batch that the ledger never stored. It is read before the rows, since an
/// older instance may still store and send.
async fn ahead_of_ledger(setup: &StartSetup, job: &JobRow) -> Result<Option<String>, Stopped> {
    if !setup.spec.sends() {
        return Ok(None);
    }
    // Nobody is fenced yet, so a transaction may be open: then it stays unsaid.
    let progress = setup.log.progress(DEADLINE).await.unwrap_or_default();
    let rows = setup.patience.ledger(&setup.ledger, async |session| session.positions().await).await?;
    let ahead = progress.iter().filter(|row| row.ledger_id == job.ledger_id).find_map(|row| {
        let stored = rows.iter().find(|stored| stored.group == row.group)?.output_batch;
        (row.batch > stored).then_some(Disagreement::LedgerBehind {
            group: row.group,
            emitted: row.batch,
            stored,
        })
    });
    Ok(ahead.map(|ahead| ahead.to_string()))
}

/// Writes down the ids of topics that are new to the job. A topic that is only sent to may be another one: its outputs are
/// gone, which is a matter of whoever deleted it.
async fn remember(setup: &StartSetup, topics: &[FoundTopic]) -> Result<(), Stopped> {
    let new = topics.iter().filter(|topic| topic.is.is_some() && topic.is != topic.was);
    let mut rows = Vec::new();
    for topic in new {
        if topic.was.is_some() && topic.role == Role::Sent {
            tracing::warn!(topic = topic.name, "was made anew: what was sent to the one before is gone");
        }
        rows.extend(topic.is.clone().map(|id| TopicRow { topic: topic.name.clone(), id }));
    }
    setup.patience.ledger(&setup.ledger, async |session| session.remember_topics(&rows).await).await
}

/// Brings the group to the ledger's positions, marked, where it is elsewhere: a job that was killed left it behind.
pub(super) async fn show(setup: &StartSetup, elsewhere: &Elsewhere, job: &JobRow) -> Result<(), Stopped> {
    let Some(positions) = &elsewhere.0 else { return Ok(()) };
    let mark = group_mark(&job.ledger_id);
    if let Err(error) = setup.log.commit_group(positions, &mark, DEADLINE).await {
        // A display for lag tools. It is not marked then, and nobody is accused at the next start.
        tracing::debug!(said = error.message, "the consumer group's offsets were not updated");
        return Ok(());
    }
    let name = setup.spec.source.group_id.as_str();
    if job.marked_group == name {
        return Ok(());
    }
    setup.patience.ledger(&setup.ledger, async |session| session.mark_group(name).await).await
}
