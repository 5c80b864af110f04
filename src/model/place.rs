//! How far each partition has been taken: the positions of a key group, and of the job.

use super::{Coordinates, NextOffset, Offset, TopicPartition};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;

/// A place in a partition: everything before it is handled. Finer than an offset, since a record may give
/// several events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    /// Every record before this offset is handled whole.
    pub offset: Offset,
    /// Of the record at `offset`, this many events are handled, too.
    pub events: u32,
}

impl Place {
    /// The place behind one event. `last`: it is its record's last one.
    pub fn behind(at: Coordinates, last: bool) -> Place {
        if last {
            Place { offset: Offset(at.offset.next().0), events: 0 }
        } else {
            Place { offset: at.offset, events: at.index.saturating_add(1) }
        }
    }

    /// Whether an event lies before this place.
    pub fn covers(self, at: Coordinates) -> bool {
        (at.offset, at.index) < (self.offset, self.events)
    }

    /// Whether nothing at or behind `next` has been handled.
    pub fn is_within(self, next: NextOffset) -> bool {
        (self.offset.0, self.events) <= (next.0, 0)
    }
}

/// Places per partition. A partition that is not there has been taken nowhere beyond the job's frontier.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Places(BTreeMap<TopicPartition, Place>);

/// A place in a topic that the job does not read any more: topic, partition, place.
pub type Stranger = (String, i32, Place);

/// Text of [`Places`] that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "positions text is not `topic:partition=offset[+events]` joined by `;`: entry {entry}, byte length {bytes}"
)]
pub struct BadPlaces {
    /// Number of the entry, from 1.
    pub entry: usize,
    /// Length of the whole text.
    pub bytes: usize,
}

impl Places {
    /// The place of a partition.
    pub fn get(&self, at: TopicPartition) -> Option<Place> {
        self.0.get(&at).copied()
    }

    /// Whether an event has been handled already.
    pub fn covers(&self, at: Coordinates) -> bool {
        self.get(at.at).is_some_and(|place| place.covers(at))
    }

    /// Moves a partition's place forward.
    ///
    /// # Panics
    /// When it would not move forward: positions never go back, and going on would apply an event twice.
    pub fn advance(&mut self, at: TopicPartition, to: Place) {
        if let Some(old) = self.0.insert(at, to) {
            assert!(old < to, "the place of {at:?} must move forward: {old:?} to {to:?}");
        }
    }

    /// All places in order of topic and partition.
    pub fn iter(&self) -> impl Iterator<Item = (TopicPartition, Place)> + '_ {
        self.0.iter().map(|(at, place)| (*at, *place))
    }

    /// The text that the ledger keeps: readable for a person with a SQL prompt, and stable when topics are reordered.
    pub fn to_text(&self, topics: &[String]) -> String {
        let mut text = String::new();
        for (at, place) in self.iter() {
            let Some(topic) = topics.get(usize::from(at.topic)) else { continue };
            let separator = if text.is_empty() { "" } else { ";" };
            // Writing to a String cannot fail.
            let _infallible = write!(text, "{separator}{topic}:{}={}", at.partition, place.offset);
            if place.events > 0 {
                let _infallible = write!(text, "+{}", place.events);
            }
        }
        text
    }

    /// Reads [`Places::to_text`]. Entries of topics that the job no longer reads come second: name, partition and place.
    ///
    /// # Errors
    /// Anything that `to_text` does not write.
    pub fn parse(text: &str, topics: &[String]) -> Result<(Places, Vec<Stranger>), BadPlaces> {
        let mut places = Places::default();
        let mut strangers = Vec::new();
        for (index, entry) in text.split(';').filter(|entry| !entry.is_empty()).enumerate() {
            let (topic, partition, place) =
                parse_entry(entry).ok_or(BadPlaces { entry: index.saturating_add(1), bytes: text.len() })?;
            match topics.iter().position(|known| known == topic).and_then(|i| u16::try_from(i).ok()) {
                Some(topic) => {
                    places.0.insert(TopicPartition { topic, partition }, place);
                }
                None => strangers.push((topic.to_owned(), partition, place)),
            }
        }
        Ok((places, strangers))
    }
}

fn parse_entry(entry: &str) -> Option<(&str, i32, Place)> {
    let (name, place) = entry.rsplit_once('=')?;
    let (topic, partition) = name.rsplit_once(':')?;
    let (offset, events) = match place.split_once('+') {
        Some((offset, events)) => (offset, events.parse().ok()?),
        None => (place, 0),
    };
    let place = Place { offset: Offset(offset.parse().ok()?), events };
    Some((topic, partition.parse().ok()?, place))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(topic: u16, partition: i32, offset: i64, index: u32) -> Coordinates {
        Coordinates { at: TopicPartition { topic, partition }, offset: Offset(offset), index }
    }

    #[test]
    fn a_place_covers_what_lies_before_it() {
        let place = Place::behind(at(0, 0, 7, 1), false);
        assert!(place.covers(at(0, 0, 6, 9)) && place.covers(at(0, 0, 7, 1)));
        assert!(!place.covers(at(0, 0, 7, 2)) && !place.covers(at(0, 0, 8, 0)));
        let whole = Place::behind(at(0, 0, 7, 1), true);
        assert!(whole.covers(at(0, 0, 7, 2)) && !whole.covers(at(0, 0, 8, 0)));
    }

    #[test]
    fn the_frontier_bounds_a_place() {
        assert!(Place::behind(at(0, 0, 7, 0), true).is_within(NextOffset(8)));
        assert!(!Place::behind(at(0, 0, 8, 0), false).is_within(NextOffset(8)));
    }

    #[test]
    fn text_survives_reordered_and_dropped_topics() {
        let names = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
        let mut places = Places::default();
        places.advance(TopicPartition { topic: 0, partition: 3 }, Place { offset: Offset(12), events: 0 });
        places.advance(TopicPartition { topic: 1, partition: 0 }, Place { offset: Offset(5), events: 2 });
        let text = places.to_text(&names(&["orders", "returns"]));
        assert_eq!(text, "orders:3=12;returns:0=5+2");
        let (back, strangers) = Places::parse(&text, &names(&["returns"])).unwrap();
        assert_eq!(
            back.get(TopicPartition { topic: 0, partition: 0 }),
            Some(Place { offset: Offset(5), events: 2 })
        );
        assert_eq!(strangers, vec![("orders".to_owned(), 3, Place { offset: Offset(12), events: 0 })]);
        assert_eq!(Places::parse("orders:3", &[]).unwrap_err(), BadPlaces { entry: 1, bytes: 8 });
    }

    #[test]
    #[should_panic(expected = "must move forward")]
    fn a_place_never_goes_back() {
        let mut places = Places::default();
        let tp = TopicPartition { topic: 0, partition: 0 };
        places.advance(tp, Place { offset: Offset(2), events: 0 });
        places.advance(tp, Place { offset: Offset(2), events: 0 });
    }
}
