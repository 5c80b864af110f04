//! Reset: where positions go when a person moves them, and what becomes of batches and places.
//!
//! In:        a [`Wish`], and what was found: partitions with their positions and ends, key groups with their batches
//! Out:       a [`Plan`]: per partition from where to where; per key group its new row; or why not
//! Fails:     with a [`Refusal`]: a position that does not exist, a group that has none, outputs in doubt without a word
//!            about them
//! Not here:  no reading and no writing of any of it
//!
//! A partition that moves back loses its places: exactly the records from the new position on are handled again, by
//! all key groups. One that stays or moves forward keeps them: what lies behind a place is handled already. Batch numbers
//! never go back: a number is used once, and the progress topic keeps the highest.

use crate::model::{BatchNumber, KeyGroup, NextOffset, Offset};
use std::collections::BTreeMap;

/// Where positions are to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Where the ledger has them.
    Ledger,
    /// Where the consumer group has them.
    Group,
    /// To the first record that there is.
    Earliest,
    /// To the end.
    Latest,
    /// To the first record with this timestamp or a later one, in milliseconds since 1970.
    Time(i64),
    /// To these offsets; other partitions stay where they are.
    Offsets(BTreeMap<(String, i32), NextOffset>),
}

/// What becomes of outbox batches of which nobody can say whether Kafka has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InDoubt {
    /// They are sent; twice, where Kafka has them.
    Send,
    /// They count as sent; lost, where Kafka has not.
    Drop,
}

/// What a person wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// Where to.
    pub to: Target,
    /// Only these topics (no partition) and partitions; empty: all.
    pub only: Vec<(String, Option<i32>)>,
    /// About outputs in doubt.
    pub in_doubt: Option<InDoubt>,
}

/// An input partition as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Its topic's name.
    pub topic: String,
    /// Its number.
    pub partition: i32,
    /// The ledger's position; none: the job has not begun it.
    pub ledger: Option<NextOffset>,
    /// No record at or behind it is handled.
    pub handled: NextOffset,
    /// Its first record.
    pub first: Offset,
    /// Its end.
    pub end: NextOffset,
    /// The group's position.
    pub group: Option<NextOffset>,
    /// Where the wished moment lies, for [`Target::Time`].
    pub moment: Option<NextOffset>,
    /// The topic was made anew since the ledger's position was written.
    pub anew: bool,
}

/// A key group as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The key group.
    pub group: KeyGroup,
    /// The last batch stored.
    pub batch: BatchNumber,
    /// The last batch stored that had something to send.
    pub output_batch: BatchNumber,
    /// The last batch that Kafka has, by the progress topic; of a job that sends nothing any more: the last one with outputs.
    pub emitted: BatchNumber,
    /// The outbox's batches that the progress topic does not know.
    pub pending: Vec<BatchNumber>,
    /// Places, as the ledger's text.
    pub places: String,
}

/// Everything that was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// All input partitions.
    pub partitions: Vec<Partition>,
    /// All key groups.
    pub groups: Vec<Group>,
    /// Ledger and progress topic do not fit together: nobody can say what of the outbox Kafka has. Why.
    pub disagreement: Option<String>,
    /// The job sends nothing now, so what is in the outbox cannot be sent.
    pub sends: bool,
}

/// Where one partition goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The partition.
    pub found: Partition,
    /// Where the job goes on; where it would without a reset, for a partition that was not chosen.
    pub to: NextOffset,
    /// It was chosen.
    pub chosen: bool,
}

impl Step {
    /// Where the job would go on without the reset.
    pub fn from(&self) -> NextOffset {
        self.found.ledger.unwrap_or(NextOffset(self.found.first.0))
    }

    /// Whether the ledger's position changes its value or its meaning.
    pub fn moves(&self) -> bool {
        self.chosen && (self.found.anew || self.found.ledger != Some(self.to))
    }

    /// Offsets that are handled a second time.
    pub fn again(&self) -> i64 {
        if !self.clears() || self.found.anew {
            0
        } else {
            self.found.handled.0.saturating_sub(self.to.0).max(0)
        }
    }

    /// Offsets that are never handled.
    pub fn skipped(&self) -> i64 {
        let from = if self.found.anew { self.found.first.0 } else { self.from().0.max(self.found.first.0) };
        if self.chosen { self.to.0.saturating_sub(from).max(0) } else { 0 }
    }

    /// Whether places of this partition go.
    fn clears(&self) -> bool {
        self.chosen && (self.found.anew || self.to < self.from())
    }
}

/// What a reset does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// All partitions, in the order of the facts.
    pub steps: Vec<Step>,
    /// Outbox batches that are to be sent first.
    pub send: Vec<(KeyGroup, BatchNumber)>,
    /// Outbox batches that count as sent.
    pub drop: Vec<(KeyGroup, BatchNumber)>,
}

/// Why positions cannot be moved so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// A wish that cannot be right: wrong usage.
    #[error("{0}")]
    Usage(String),
    /// A wish that the world does not allow.
    #[error("{0}")]
    World(String),
}

/// What a wish comes to.
///
/// # Errors
/// The first [`Refusal`].
pub fn plan(facts: &Facts, wish: &Wish) -> Result<Plan, Refusal> {
    see_names(facts, wish)?;
    let steps = facts.partitions.iter().map(|found| step(found, wish)).collect::<Result<Vec<Step>, _>>()?;
    if let Some(half) = steps.iter().find(|step| {
        step.found.anew && !step.chosen && steps.iter().any(|s| s.chosen && s.found.topic == step.found.topic)
    }) {
        let text = format!(
            "topic {} was made anew, so all its partitions begin anew: partition {} is not among those that are to move",
            half.found.topic, half.found.partition
        );
        return Err(Refusal::Usage(text));
    }
    let pending: Vec<(KeyGroup, BatchNumber)> =
        facts.groups.iter().flat_map(|g| g.pending.iter().map(|batch| (g.group, *batch))).collect();
    let (send, drop) = outbox(facts, wish, pending)?;
    Ok(Plan { steps, send, drop })
}

/// Names that are typed must exist.
fn see_names(facts: &Facts, wish: &Wish) -> Result<(), Refusal> {
    let is_there = |topic: &str, partition: Option<i32>| {
        facts.partitions.iter().any(|p| p.topic == topic && partition.is_none_or(|n| n == p.partition))
    };
    let offsets = match &wish.to {
        Target::Offsets(offsets) => offsets.keys().map(|(topic, n)| (topic.clone(), Some(*n))).collect(),
        _ => Vec::new(),
    };
    for (topic, partition) in wish.only.iter().chain(&offsets) {
        if !is_there(topic, *partition) {
            let name = partition.map_or_else(|| topic.clone(), |partition| format!("{topic}/{partition}"));
            return Err(Refusal::Usage(format!("the job reads no {name}")));
        }
    }
    if let Target::Offsets(offsets) = &wish.to
        && let Some((topic, partition)) =
            offsets.keys().find(|(topic, partition)| !is_chosen(wish, topic, *partition))
    {
        let text = format!("{topic}/{partition} is given a position, and --only leaves it out");
        return Err(Refusal::Usage(text));
    }
    Ok(())
}

/// Whether the wish is about this partition.
fn is_chosen(wish: &Wish, topic: &str, partition: i32) -> bool {
    let names =
        |(name, number): &(String, Option<i32>)| name == topic && number.is_none_or(|n| n == partition);
    wish.only.is_empty() || wish.only.iter().any(names)
}

fn step(found: &Partition, wish: &Wish) -> Result<Step, Refusal> {
    let from = found.ledger.unwrap_or(NextOffset(found.first.0));
    let at = format!("{}/{}", found.topic, found.partition);
    let stays = Step { found: found.clone(), to: from, chosen: false };
    if !is_chosen(wish, &found.topic, found.partition) {
        return Ok(stays);
    }
    let to = match &wish.to {
        Target::Ledger => from,
        Target::Earliest => NextOffset(found.first.0),
        Target::Latest => found.end,
        Target::Group => found.group.ok_or_else(|| {
            Refusal::World(format!("{at}: the consumer group has no position: name another place to go to"))
        })?,
        Target::Time(_) => found.moment.unwrap_or(found.end),
        Target::Offsets(offsets) => match offsets.get(&(found.topic.clone(), found.partition)) {
            Some(next) => *next,
            None => return Ok(stays),
        },
    };
    if to.0 < found.first.0 || to > found.end {
        let text = format!(
            "{at}: position {to} does not exist, the partition holds {} to {} (exclusive): `--to earliest` and `--to latest` \
             always exist",
            found.first, found.end
        );
        return Err(match wish.to {
            Target::Offsets(_) => Refusal::Usage(text),
            _ => Refusal::World(text),
        });
    }
    Ok(Step { found: found.clone(), to, chosen: true })
}

type Batches = Vec<(KeyGroup, BatchNumber)>;

fn outbox(facts: &Facts, wish: &Wish, pending: Batches) -> Result<(Batches, Batches), Refusal> {
    if pending.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let count = pending.len();
    match (&facts.disagreement, wish.in_doubt) {
        (_, Some(InDoubt::Drop)) => Ok((Vec::new(), pending)),
        _ if !facts.sends => Err(Refusal::World(format!(
            "the outbox holds {count} batches that Kafka has not, and the job file has neither [output] nor dead letters now: \
             put them back, or let the batches go with `--outbox drop`"
        ))),
        (None, _) | (Some(_), Some(InDoubt::Send)) => Ok((pending, Vec::new())),
        (Some(why), None) => Err(Refusal::World(format!(
            "{why}. The outbox holds {count} batches, and whether Kafka has them cannot be known: `--outbox drop` takes them as \
             sent (lost, where they were not), `--outbox send` sends them (twice, where they were)"
        ))),
    }
}

/// A key group's row behind the reset. `sent`: the last of its batches that was sent just now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRow {
    /// The last batch stored.
    pub batch: BatchNumber,
    /// The last one with outputs; Kafka has it.
    pub output_batch: BatchNumber,
    /// Places, as the ledger's text.
    pub places: String,
}

/// What becomes of a key group. Kafka has its batches up to `emitted`, those included that were sent just now.
pub fn new_row(group: &Group, emitted: BatchNumber, steps: &[Step]) -> NewRow {
    let cleared: Vec<String> = steps
        .iter()
        .filter(|step| step.clears())
        .map(|step| format!("{}:{}", step.found.topic, step.found.partition))
        .collect();
    let stays = |entry: &&str| {
        let name = entry.rsplit_once('=').map_or(*entry, |(name, _)| name);
        cleared.iter().all(|gone| gone != name)
    };
    let places: Vec<&str> = group.places.split(';').filter(|entry| !entry.is_empty()).filter(stays).collect();
    NewRow { batch: group.batch.max(emitted), output_batch: emitted, places: places.join(";") }
}

#[cfg(test)]
mod tests;
