//! Left: what closed epochs have left unsettled, in words.
//!
//! In:        edges and differences that did not cancel     Out: which events are lost, which are doubled
//! Order:     by partition and offset, within an epoch
//! Not here:  what happens then (audit)

use crate::job::JobSpec;
use crate::model::{Epoch, TopicPartition};
use crate::operator::account::Edge;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Edges that did not cancel, by epoch, partition and event index; offsets rise.
#[derive(Debug, Default)]
pub(super) struct Left(BTreeMap<(Epoch, TopicPartition, u32), Vec<(i64, isize)>>);

/// Runs of one kind that a message names at the most.
const NAMED_MAX: usize = 20;

/// A run of events with the same trouble.
#[derive(Debug, PartialEq, Eq)]
struct Run {
    at: TopicPartition,
    index: u32,
    /// First and last offset.
    offsets: (i64, i64),
    /// How often each was counted too often, or missed.
    times: usize,
}

impl Left {
    /// Takes an edge. Those of one epoch, partition and index come with rising offsets.
    pub(super) fn add(&mut self, epoch: Epoch, edge: Edge, difference: isize) {
        self.0.entry((epoch, edge.at, edge.index)).or_default().push((edge.offset, difference));
    }

    /// The message of the halt; none: everything is settled.
    pub(super) fn verdict(&self, spec: &JobSpec) -> Option<String> {
        let (lost, doubled) = self.runs();
        let list: Vec<String> = [("lost", &lost), ("doubled", &doubled)]
            .into_iter()
            .filter(|(_, runs)| !runs.is_empty())
            .map(|(what, runs)| describe(what, runs, spec))
            .collect();
        (!list.is_empty()).then(|| {
            format!(
                "the audit found {}. Lost: read, and its epoch closed without an outcome; doubled: more than one outcome. \
                 That is a fault of this program or of a library: keep this message and the log, and see \"When the audit \
                 speaks\" in docs/operating.md before the next start",
                list.join("; ")
            )
        })
    }

    /// Lost and doubled runs: the sum of the differences up to an offset is how often it was missed.
    fn runs(&self) -> (Vec<Run>, Vec<Run>) {
        let (mut lost, mut doubled) = (Vec::new(), Vec::new());
        for ((_, at, index), edges) in &self.0 {
            let mut missed = 0_isize;
            for (n, (from, difference)) in edges.iter().enumerate() {
                missed = missed.saturating_add(*difference);
                let Some((to, _)) = edges.get(n.saturating_add(1)).filter(|_| missed != 0) else { continue };
                let run = Run {
                    at: *at,
                    index: *index,
                    offsets: (*from, to.saturating_sub(1)),
                    times: missed.unsigned_abs(),
                };
                if missed > 0 { lost.push(run) } else { doubled.push(run) }
            }
        }
        (lost, doubled)
    }
}

fn describe(what: &str, runs: &[Run], spec: &JobSpec) -> String {
    let events: i128 = runs
        .iter()
        .map(|run| {
            let (first, last) = run.offsets;
            let times = i128::try_from(run.times).unwrap_or(i128::MAX);
            (i128::from(last) - i128::from(first) + 1).saturating_mul(times)
        })
        .sum();
    let mut text = format!("{events} {what}: ");
    for (n, run) in runs.iter().take(NAMED_MAX).enumerate() {
        let (first, last) = run.offsets;
        let separator = if n > 0 { ", " } else { "" };
        // Writing to a String cannot fail.
        let _infallible = write!(text, "{separator}{}/{}/{first}", spec.topic_of(run.at), run.at.partition);
        if last > first {
            let _infallible = write!(text, " to {last}");
        }
        if run.index > 0 {
            let _infallible = write!(text, ", event {}", run.index);
        }
        if run.times > 1 {
            let _infallible = write!(text, " ({} times)", run.times);
        }
    }
    if runs.len() > NAMED_MAX {
        let _infallible = write!(text, " and {} more", runs.len() - NAMED_MAX);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::check;

    fn spec() -> JobSpec {
        let text = "[job]\nname = \"a\"\n[source]\nbootstrap_servers = \"127.0.0.1:9\"\ntopics = [\"in\", \"on\"]\n\
                    [output]\ntopic = \"out\"\n[database]\nurl = \"sqlite:x\"\n";
        check("job.toml", text, &|_| None).unwrap().spec
    }

    fn verdict(edges: &[(Epoch, u16, u32, i64, isize)]) -> Option<String> {
        let mut left = Left::default();
        for (epoch, topic, index, offset, difference) in edges {
            let at = TopicPartition { topic: *topic, partition: 3 };
            left.add(*epoch, Edge { at, index: *index, offset: *offset }, *difference);
        }
        left.verdict(&spec()).map(|text| text.split('.').next().unwrap().to_owned())
    }

    #[test]
    fn nothing_left_is_nothing_to_say() {
        assert_eq!(verdict(&[]), None);
    }

    #[test]
    fn what_is_left_is_named() {
        let text = verdict(&[
            (1, 0, 0, 7, 1),
            (1, 0, 0, 8, -1),
            (1, 0, 0, 9, 1),
            (1, 0, 0, 12, -2),
            (1, 0, 0, 13, 1),
            (2, 1, 4, 7, -2),
            (2, 1, 4, 8, 2),
        ]);
        assert_eq!(
            text.unwrap(),
            "the audit found 4 lost: in/3/7, in/3/9 to 11; 3 doubled: in/3/12, on/3/7, event 4 (2 times)"
        );
    }

    #[test]
    fn a_long_list_is_cut() {
        let edges: Vec<_> = (0..25).flat_map(|n| [(1, 0, 0, 3 * n, 1), (1, 0, 0, 3 * n + 1, -1)]).collect();
        let text = verdict(&edges).unwrap();
        assert!(
            text.starts_with("the audit found 25 lost: in/3/0, in/3/3") && text.ends_with(" and 5 more"),
            "{text}"
        );
    }
}
