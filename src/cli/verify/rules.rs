//! Rules: what of the job decides which events must have sent something, and which of its outputs a record is.
//!
//! In:        the job     Out: per kind of event, the outputs that it must have; the number of a record's output
//! Fails:     never
//! Not here:  no conditions: what they ask for may come from a look-up, which nobody can do again. An output with a condition
//!            may be there or not, once at the most

use crate::job::{JobSpec, On, RejectRule};
use crate::model::Headers;
use crate::operator::letter::OUTPUT;
use siphasher::sip::SipHasher13;
use std::hash::Hasher;

/// One of the job's outputs.
#[derive(Clone, Debug)]
pub(super) struct OutputRule {
    /// Its name, or its number from 1: as the header says it.
    pub(super) name: String,
    pub(super) on: On,
    /// It has no condition.
    pub(super) always: bool,
}

/// Which events must have sent something.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    /// In the order of the job file.
    pub(super) outputs: Vec<OutputRule>,
    /// Unreadable events may have nothing.
    pub(super) discards: bool,
    /// Readable ones may, too: what the database or Kafka refuses is discarded.
    pub(super) discards_events: bool,
}

/// Number of a record that does not say which output it is, in a job with several.
pub(in crate::cli) const UNSAID: u16 = 0x7FFF;

impl Rules {
    pub(super) fn of(spec: &JobSpec) -> Rules {
        let rejects = &spec.rejects;
        let of_events = [rejects.refused, rejects.missing_lookup, rejects.too_large];
        let outputs = (1_usize..).zip(&spec.outputs).map(|(number, output)| OutputRule {
            name: output.name.clone().unwrap_or_else(|| number.to_string()),
            on: output.on,
            always: output.when.is_none(),
        });
        Rules {
            outputs: outputs.collect(),
            discards: rejects.unreadable == RejectRule::Discard,
            discards_events: of_events.contains(&RejectRule::Discard),
        }
    }

    /// Numbers of the outputs that each such event must have.
    pub(super) fn always(&self, tombstone: bool) -> impl Iterator<Item = u16> + '_ {
        let must = move |output: &OutputRule| output.always && output.on.takes(tombstone);
        (0_u16..).zip(&self.outputs).filter(move |(_, output)| must(output)).map(|(number, _)| number)
    }

    /// Whether such events have outputs at all.
    pub(super) fn any(&self, tombstone: bool) -> bool {
        self.outputs.iter().any(|output| output.on.takes(tombstone))
    }

    /// Which output a record is. One of a name that the job file does not have gets a number of its own, from 0x8000 on.
    pub(super) fn output_of(&self, headers: &Headers) -> u16 {
        let name =
            headers.iter().rev().find(|(name, _)| name == OUTPUT).and_then(|(_, name)| name.as_deref());
        let Some(name) = name else { return if self.outputs.len() > 1 { UNSAID } else { 0 } };
        if let Some(place) = self.outputs.iter().position(|output| output.name.as_bytes() == name) {
            return u16::try_from(place).unwrap_or(UNSAID);
        }
        let mut hasher = SipHasher13::new();
        hasher.write(name);
        0x8000 | u16::try_from(hasher.finish() & 0x7FFF).unwrap_or(0)
    }

    /// The name of an output of this job file.
    pub(super) fn name(&self, output: u16) -> Option<&str> {
        self.outputs.get(usize::from(output)).map(|output| output.name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn rule(name: &str, on: On, always: bool) -> OutputRule {
        OutputRule { name: name.to_owned(), on, always }
    }

    #[test]
    fn an_output_is_known_by_its_name_or_is_one_that_nobody_knows() {
        let outputs =
            vec![rule("a", On::Document, true), rule("2", On::Any, false), rule("t", On::Tombstone, true)];
        let rules = Rules { outputs, discards: false, discards_events: false };
        let header = |name: &'static str| vec![(OUTPUT.to_owned(), Some(Bytes::from(name)))];
        assert_eq!((rules.output_of(&header("a")), rules.output_of(&header("2"))), (0, 1));
        assert_eq!(rules.output_of(&Headers::new()), UNSAID);
        let (x, y) = (rules.output_of(&header("x")), rules.output_of(&header("y")));
        assert!(x >= 0x8000 && y >= 0x8000 && x != y, "{x} {y}");
        assert_eq!(rules.always(false).collect::<Vec<_>>(), [0]);
        assert_eq!(rules.always(true).collect::<Vec<_>>(), [2]);
        let one = Rules { outputs: vec![rule("1", On::Document, true)], ..rules };
        assert_eq!(one.output_of(&Headers::new()), 0);
        assert!(one.any(false) && !one.any(true));
    }
}
