//! World: what a start finds outside, held against what the ledger remembers of it.
//!
//! In:        the job's topics with their ids, its partitions with the ledger's and the consumer group's positions
//! Out:       every [`Odd`] thing, each with the command that takes a side; none: the job may go on
//! Fails:     never: a start that finds something odd halts, and does not guess
//! Not here:  no reading of any of it; batches and the progress topic (recovery)
//!
//! The group may lag: a job that was killed has written the ledger and not yet the group; offsets of a group expire. What
//! this job commits bears its mark, so a position without the mark was put there by somebody else. And the ledger is
//! written before the group, so a marked position beyond the ledger's means that the ledger has gone back.

use crate::model::{NextOffset, Offset};
use std::fmt::Write;

/// A topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundTopic {
    /// Its name.
    pub name: String,
    /// What it is to the job.
    pub role: Role,
    /// The id that the ledger remembers.
    pub was: Option<String>,
    /// The id that the broker tells.
    pub is: Option<String>,
}

/// What a topic is to the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Positions count in it.
    Input,
    /// Batch numbers stand in it.
    Progress,
    /// Outputs or dead letters go there.
    Sent,
}

/// An input partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundPartition {
    /// Its topic's name.
    pub topic: String,
    /// Its number.
    pub partition: i32,
    /// The ledger's position; none: the job has not begun it.
    pub ledger: Option<NextOffset>,
    /// Its first record.
    pub first: Offset,
    /// Its end.
    pub end: NextOffset,
    /// The group's position, and whether it bears this job's mark.
    pub group: Option<(NextOffset, bool)>,
}

/// Everything that is held against the ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct World {
    /// The job's topics.
    pub topics: Vec<FoundTopic>,
    /// Its input partitions.
    pub partitions: Vec<FoundPartition>,
    /// This job has marked the group's positions before: one without a mark is somebody else's.
    pub marked: bool,
    /// The ledger has batches with outputs, so the progress topic must know them.
    pub has_outputs: bool,
}

/// Something that does not fit the ledger.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Odd {
    /// The name of an input topic belongs to another topic now.
    #[error(
        "topic {topic} was made anew: the ledger's positions count in the topic with id {was}, and the one of that name has \
         id {is}"
    )]
    TopicAnew {
        /// Its name.
        topic: String,
        /// The id that the ledger remembers.
        was: String,
        /// The id that the broker tells.
        is: String,
    },
    /// The same of the progress topic.
    #[error(
        "the progress topic {topic} was made anew (it had id {was}, and has {is}): which batches Kafka has is not known any \
         more"
    )]
    ProgressAnew {
        /// Its name.
        topic: String,
        /// The id that the ledger remembers.
        was: String,
        /// The id that the broker tells.
        is: String,
    },
    /// Records were deleted before they were read.
    #[error(
        "{at}: the next position is {ledger} (the ledger's), but the partition holds {first} to {end} (exclusive): records \
         were deleted before they were read"
    )]
    BelowStart {
        /// `topic/partition`
        at: String,
        /// The ledger's position.
        ledger: NextOffset,
        /// Of the partition.
        first: Offset,
        /// Of the partition.
        end: NextOffset,
    },
    /// The ledger knows records that are not there.
    #[error(
        "{at}: the next position is {ledger} (the ledger's), but the partition holds {first} to {end} (exclusive): the topic \
         was made anew or has lost records, or the ledger belongs to another Kafka"
    )]
    BeyondEnd {
        /// `topic/partition`
        at: String,
        /// The ledger's position.
        ledger: NextOffset,
        /// Of the partition.
        first: Offset,
        /// Of the partition.
        end: NextOffset,
    },
    /// Somebody has moved the consumer group.
    #[error(
        "{at}: somebody else has set the consumer group's position to {group}, and the ledger's is {ledger}"
    )]
    GroupMoved {
        /// `topic/partition`
        at: String,
        /// The ledger's position.
        ledger: NextOffset,
        /// The group's.
        group: NextOffset,
    },
    /// The ledger has gone back.
    #[error(
        "{at}: this job has committed position {group} to its consumer group, and the ledger's is {ledger}, which is written \
         first: the database was put back to an earlier state"
    )]
    LedgerBehindGroup {
        /// `topic/partition`
        at: String,
        /// The ledger's position.
        ledger: NextOffset,
        /// The group's.
        group: NextOffset,
    },
}

impl Odd {
    /// What it is about, as `--only` takes it.
    fn place(&self) -> &str {
        match self {
            Odd::TopicAnew { topic, .. } | Odd::ProgressAnew { topic, .. } => topic,
            Odd::BelowStart { at, .. }
            | Odd::BeyondEnd { at, .. }
            | Odd::GroupMoved { at, .. }
            | Odd::LedgerBehindGroup { at, .. } => at,
        }
    }

    /// What to do about all of this kind. `only`: what they are about.
    fn remedy(&self, only: &str) -> String {
        match self {
            Odd::TopicAnew { .. } => format!(
                "`tidegate offsets reset JOB --to earliest --only {only}` reads what was made anew from its beginning (--to \
                 latest: from its end)"
            ),
            Odd::BelowStart { .. } => format!(
                "`tidegate offsets reset JOB --to earliest --only {only}` goes on with the first record that is left"
            ),
            Odd::BeyondEnd { .. } => format!(
                "bring the right topic back; or `tidegate offsets reset JOB --to earliest --only {only}` (or --to latest) takes \
                 it as it is"
            ),
            Odd::GroupMoved { .. } => "`tidegate offsets reset JOB --to ledger` goes on at the ledger's positions and sets the \
                                       group to them; `tidegate offsets reset JOB --to group` moves the job to the group's"
                .to_owned(),
            Odd::LedgerBehindGroup { .. } => {
                "bring the newer state of the database back; or `tidegate offsets reset JOB --to ledger` goes on from the older \
                 one: what came behind it is handled again, and its outputs are sent again; `tidegate offsets reset JOB --to \
                 group` skips it"
                    .to_owned()
            }
            Odd::ProgressAnew { .. } => PROGRESS_LOST.to_owned(),
        }
    }
}

/// What to do about a progress topic that does not know what it must.
pub const PROGRESS_LOST: &str = "bring the topic back, with what it held; or `tidegate offsets reset JOB --to ledger --outbox \
     drop` takes what the outbox holds as sent (lost, where it was not), and `--outbox send` sends it (twice, where it was)";

/// How it ends where a command is named.
pub const DRY_RUN: &str = "Such a command shows what it would do, and does it with --execute";

/// Everything that does not fit.
pub fn odds(world: &World) -> Vec<Odd> {
    let mut odds: Vec<Odd> = world.topics.iter().filter_map(|topic| anew(topic, world.has_outputs)).collect();
    let is_anew =
        |name: &str| odds.iter().any(|odd| matches!(odd, Odd::TopicAnew { topic, .. } if topic == name));
    let partitions = world.partitions.iter().filter(|found| !is_anew(&found.topic));
    let more: Vec<Odd> = partitions.filter_map(|found| odd(found, world.marked)).collect();
    odds.extend(more);
    odds
}

fn anew(topic: &FoundTopic, has_outputs: bool) -> Option<Odd> {
    let (was, is) = (topic.was.clone()?, topic.is.clone()?);
    if was == is {
        return None;
    }
    let topic_name = topic.name.clone();
    match topic.role {
        Role::Input => Some(Odd::TopicAnew { topic: topic_name, was, is }),
        Role::Progress if has_outputs => Some(Odd::ProgressAnew { topic: topic_name, was, is }),
        Role::Progress | Role::Sent => None,
    }
}

fn odd(found: &FoundPartition, marked: bool) -> Option<Odd> {
    let ledger = found.ledger?;
    let at = format!("{}/{}", found.topic, found.partition);
    let (first, end) = (found.first, found.end);
    if ledger.0 < first.0 {
        return Some(Odd::BelowStart { at, ledger, first, end });
    }
    if ledger > end {
        return Some(Odd::BeyondEnd { at, ledger, first, end });
    }
    match found.group? {
        (group, true) if group > ledger => Some(Odd::LedgerBehindGroup { at, ledger, group }),
        (group, false) if marked && group != ledger => Some(Odd::GroupMoved { at, ledger, group }),
        _ => None,
    }
}

/// So many are named; all are counted.
const NAMED_MAX: usize = 8;

/// What was found and what to do, for a person. `more`: what else was found beside it.
pub fn describe(job: &str, odds: &[Odd], more: Option<&str>) -> String {
    let mut text = format!("the world of job \"{job}\" does not fit its ledger: ");
    let named: Vec<String> = odds.iter().take(NAMED_MAX).map(Odd::to_string).collect();
    text += &named.join("; ");
    let rest = odds.len().saturating_sub(NAMED_MAX);
    if rest > 0 {
        // Writing to a String cannot fail.
        let _infallible = write!(text, "; and {rest} more");
    }
    if let Some(more) = more {
        text += "; ";
        text += more;
    }
    text += ". Nothing was read, stored or sent. ";
    let mut kinds = Vec::new();
    let mut remedies = Vec::new();
    for odd in odds {
        let kind = std::mem::discriminant(odd);
        if kinds.contains(&kind) {
            continue;
        }
        kinds.push(kind);
        let places = odds.iter().filter(|other| std::mem::discriminant(*other) == kind).map(Odd::place);
        remedies.push(odd.remedy(&places.collect::<Vec<_>>().join(",")));
    }
    text += &remedies.join(". ");
    text + ". " + DRY_RUN
}

#[cfg(test)]
mod tests;
