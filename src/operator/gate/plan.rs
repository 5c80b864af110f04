//! Plan: a transaction's events in waves, so that working set by set has the outcome of one by one.
//!
//! In:        the job's [`SetPlan`], events in queue order     Out: their indexes in waves
//! Order:     of two events that may meet, or that have one key, the earlier one is in an earlier wave
//! Not here:  which events may meet (job::sets), what is done per wave (attempt)

use super::looked::Looked;
use super::values::Scope;
use crate::job::{JobSpec, Meeting, SetMode, SetPlan};
use std::collections::HashMap;

/// What tells two events apart where they may meet; none: it may be the same as anything.
type Value = Option<Vec<u8>>;

/// The waves of the events with these indexes.
pub(super) fn waves(
    spec: &JobSpec,
    plan: &SetPlan,
    events: &[Looked<'_>],
    list: &[usize],
) -> Vec<Vec<usize>> {
    // The rows of two events of one key may be others, and the order of a key is kept all the same.
    let values = |index: &usize| match events.get(*index) {
        Some(looked) => {
            let key = Some(looked.event.key.to_vec());
            let met = plan.meetings.iter().map(|meeting| value(spec, looked, meeting));
            std::iter::once(key).chain(met).collect()
        }
        None => vec![None; plan.meetings.len().saturating_add(1)],
    };
    let numbered: Vec<Option<usize>> = match plan.mode {
        SetMode::Together => return vec![list.to_vec()],
        SetMode::OneByOne => return list.iter().map(|index| vec![*index]).collect(),
        SetMode::Waves => by_turn(list.iter().map(values)),
        SetMode::WavesInOrder => in_order(list.iter().map(values)),
    };
    let mut waves: Vec<Vec<usize>> = Vec::new();
    for (index, wave) in list.iter().zip(numbered) {
        let wave = wave.unwrap_or(waves.len());
        if waves.len() <= wave {
            waves.resize(wave.saturating_add(1), Vec::new());
        }
        if let Some(wave) = waves.get_mut(wave) {
            wave.push(*index);
        }
    }
    waves
}

fn value(spec: &JobSpec, looked: &Looked<'_>, meeting: &Meeting) -> Value {
    let scope = Scope::of(spec, looked);
    let mut whole = Vec::new();
    for (of, fold) in &meeting.parts {
        let part = fold.fold(&scope.value(of))?;
        // With its length in front no two lists of parts are the same bytes.
        whole.extend_from_slice(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        whole.extend_from_slice(&part);
    }
    Some(whole)
}

/// Where events with a value of one meeting stand.
#[derive(Default)]
struct Stand {
    /// Per value the first wave that is free for it.
    #[allow(clippy::disallowed_types, reason = "only looked up, never iterated")]
    free: HashMap<Vec<u8>, usize>,
    /// The first wave that is free for any value.
    floor: usize,
    /// The first wave that nobody is in.
    top: usize,
}

impl Stand {
    fn next(&self, value: &Value) -> usize {
        match value {
            Some(value) => self.free.get(value).copied().unwrap_or(0).max(self.floor),
            None => self.top,
        }
    }

    fn take(&mut self, value: Value, wave: usize) {
        let behind = wave.saturating_add(1);
        self.top = self.top.max(behind);
        match value {
            Some(value) => {
                self.free.insert(value, behind);
            }
            None => self.floor = behind,
        }
    }
}

/// Each event in the first wave behind all those that it may meet.
fn by_turn(events: impl Iterator<Item = Vec<Value>>) -> Vec<Option<usize>> {
    let mut stands: Vec<Stand> = Vec::new();
    let mut of = |values: Vec<Value>| {
        stands.resize_with(values.len(), Stand::default);
        let wave = stands.iter().zip(&values).map(|(stand, value)| stand.next(value)).max().unwrap_or(0);
        stands.iter_mut().zip(values).for_each(|(stand, value)| stand.take(value, wave));
        Some(wave)
    };
    events.map(&mut of).collect()
}

/// A new wave begins with an event that may meet one of the wave before: so all earlier events are in earlier waves, or in
/// its own.
fn in_order(events: impl Iterator<Item = Vec<Value>>) -> Vec<Option<usize>> {
    let mut stands: Vec<Stand> = Vec::new();
    let mut wave = 0_usize;
    let mut of = |values: Vec<Value>| {
        stands.resize_with(values.len(), Stand::default);
        wave = stands.iter().zip(&values).map(|(stand, value)| stand.next(value)).fold(wave, usize::max);
        stands.iter_mut().zip(values).for_each(|(stand, value)| stand.take(value, wave));
        Some(wave)
    };
    events.map(&mut of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn one(text: &str) -> Vec<Value> {
        vec![Some(text.as_bytes().to_vec())]
    }

    fn numbers(list: Vec<Option<usize>>) -> Vec<usize> {
        list.into_iter().flatten().collect()
    }

    #[test]
    fn a_value_occurs_once_per_wave() {
        let events = ["a", "b", "a", "a", "c", "b"];
        assert_eq!(numbers(by_turn(events.iter().map(|text| one(text)))), [0, 0, 1, 2, 0, 1]);
        assert_eq!(numbers(in_order(events.iter().map(|text| one(text)))), [0, 0, 1, 2, 2, 2]);
    }

    #[test]
    fn what_may_be_anything_is_alone() {
        let events = || [one("a"), vec![None], one("b"), one("a"), vec![None], vec![None]].into_iter();
        assert_eq!(numbers(by_turn(events())), [0, 1, 2, 2, 3, 4]);
        assert_eq!(numbers(in_order(events())), [0, 1, 2, 2, 3, 4]);
    }

    #[test]
    fn two_events_are_apart_where_they_meet_in_one_of_two_ways() {
        let two = |a: &str, b: &str| [one(a), one(b)].concat();
        let events = || [two("a", "x"), two("b", "x"), two("b", "y"), two("c", "z")].into_iter();
        assert_eq!(numbers(by_turn(events())), [0, 1, 2, 0]);
        assert_eq!(numbers(in_order(events())), [0, 1, 2, 2]);
    }

    proptest! {
        #[test]
        fn who_may_meet_keeps_the_order(
            events in proptest::collection::vec((proptest::option::of(0_u8..4), proptest::option::of(0_u8..4)), 0..60)
        ) {
            let values = |(a, b): &(Option<u8>, Option<u8>)| vec![a.map(|n| vec![n]), b.map(|n| vec![n])];
            let meet = |a: &Vec<Value>, b: &Vec<Value>| {
                a.iter().zip(b).any(|(a, b)| a.is_none() || b.is_none() || a == b)
            };
            let list: Vec<Vec<Value>> = events.iter().map(values).collect();
            let turns = numbers(by_turn(list.iter().cloned()));
            let ordered = numbers(in_order(list.iter().cloned()));
            for (later, value) in list.iter().enumerate() {
                for earlier in 0..later {
                    if meet(&list[earlier], value) {
                        prop_assert!(turns[earlier] < turns[later]);
                        prop_assert!(ordered[earlier] < ordered[later]);
                    }
                    prop_assert!(ordered[earlier] <= ordered[later]);
                }
            }
        }
    }
}
