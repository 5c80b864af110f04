//! Trouble: the error codes of all engines in one form, and what is found of what a person typed.
//!
//! In:        the tables of `database` and `kafka`; a number or a name     Out: [`Entry`]s, or names that are near
//! Order:     as the tables have them
//! Fails:     never: what no table has is found nowhere
//! Not here:  what a job makes of a class (reaction), exit codes (exits)

#[cfg(test)]
mod document;
pub(super) mod exits;
mod reaction;

pub(super) use reaction::{Reaction, reaction};

use crate::database::{self, ErrorClass};
use crate::job::{DatabaseKind, nearest};
use crate::kafka::{self, LogErrorClass};
use std::fmt;

/// Whose code it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    MySql,
    Sqlite,
    Kafka,
}

impl Engine {
    pub(super) const ALL: [Engine; 3] = [Engine::MySql, Engine::Sqlite, Engine::Kafka];

    /// The engine of a job's database.
    pub(super) fn of(kind: &DatabaseKind) -> Engine {
        match kind {
            DatabaseKind::MySql { .. } => Engine::MySql,
            DatabaseKind::Sqlite { .. } => Engine::Sqlite,
        }
    }

    /// Every code that its table has.
    pub(super) fn entries(self) -> Vec<Entry> {
        let of_database = |code: database::KnownCode| Entry {
            engine: self,
            number: code.number,
            name: code.name.to_owned(),
            also: None,
            class: Class::Database(code.class),
            sentence: code.sentence,
            advice: code.advice,
            seen: code.seen,
        };
        match self {
            Engine::MySql => database::mysql_codes().into_iter().map(of_database).collect(),
            Engine::Sqlite => database::sqlite_codes().into_iter().map(of_database).collect(),
            Engine::Kafka => kafka::codes().into_iter().map(Entry::of_kafka).collect(),
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Engine::MySql => "MariaDB and MySQL",
            Engine::Sqlite => "SQLite",
            Engine::Kafka => "Kafka",
        })
    }
}

/// What an error asks for, of either world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Database(ErrorClass),
    Log(LogErrorClass),
}

impl Class {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Class::Database(ErrorClass::Outage) | Class::Log(LogErrorClass::Outage) => "outage",
            Class::Database(ErrorClass::Contention) => "contention",
            Class::Database(ErrorClass::Reject) => "reject",
            Class::Database(ErrorClass::Misconfigured) | Class::Log(LogErrorClass::Misconfigured) => {
                "misconfigured"
            }
            Class::Database(ErrorClass::Rights) | Class::Log(LogErrorClass::Rights) => "rights",
            Class::Database(ErrorClass::Unknown) | Class::Log(LogErrorClass::Unknown) => "unknown",
            Class::Log(LogErrorClass::Aborted) => "aborted",
            Class::Log(LogErrorClass::Fenced) => "fenced",
            Class::Log(LogErrorClass::PositionGone) => "position gone",
            Class::Log(LogErrorClass::TooLarge) => "too large",
        }
    }
}

/// A code, and all that is known of it.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) engine: Engine,
    pub(super) number: i64,
    pub(super) name: String,
    /// Another name that the same number has elsewhere.
    pub(super) also: Option<&'static str>,
    pub(super) class: Class,
    /// What it means.
    pub(super) sentence: &'static str,
    /// What a person does about it.
    pub(super) advice: &'static str,
    /// A test provokes it on a real engine.
    pub(super) seen: bool,
}

impl Entry {
    fn of_kafka(code: kafka::KnownCode) -> Entry {
        Entry {
            engine: Engine::Kafka,
            number: i64::from(code.number),
            also: name_elsewhere(code.number),
            name: code.name,
            class: Class::Log(code.class),
            sentence: code.sentence,
            advice: code.advice,
            seen: code.seen,
        }
    }

    fn is(&self, wanted: &Wanted) -> bool {
        match wanted {
            Wanted::Number(number) => self.number == *number,
            Wanted::Name(name) => {
                bare(&self.name) == *name || self.also.is_some_and(|also| bare(also) == *name)
            }
        }
    }
}

/// Names of Apache Kafka's own documents, where librdkafka has others.
fn name_elsewhere(number: i32) -> Option<&'static str> {
    Some(match number {
        3 => "UNKNOWN_TOPIC_OR_PARTITION",
        6 => "NOT_LEADER_OR_FOLLOWER",
        10 => "MESSAGE_TOO_LARGE",
        17 => "INVALID_TOPIC_EXCEPTION",
        18 => "RECORD_LIST_TOO_LARGE",
        _ => return None,
    })
}

/// What was typed.
pub(super) enum Wanted {
    Number(i64),
    /// Bare: see [`bare`].
    Name(String),
}

impl Wanted {
    pub(super) fn of(text: &str) -> Wanted {
        text.trim().parse().map_or_else(|_| Wanted::Name(bare(text)), Wanted::Number)
    }
}

/// A name without what people leave out or write otherwise: prefixes, underscores, case, the `Exception` of Java's names.
fn bare(name: &str) -> String {
    let upper = name.trim().to_uppercase().replace(['-', ' '], "_");
    let prefixes = ["RD_KAFKA_RESP_ERR_", "SQLITE_", "ER_", "CR_", "EE_", "WARN_"];
    let short = prefixes.iter().find_map(|prefix| upper.strip_prefix(prefix)).unwrap_or(&upper);
    let joined = short.replace('_', "");
    joined.strip_suffix("EXCEPTION").unwrap_or(&joined).to_owned()
}

/// The entries of these engines that were meant.
pub(super) fn find(engines: &[Engine], wanted: &Wanted) -> Vec<Entry> {
    let entries = engines.iter().flat_map(|engine| engine.entries());
    entries.filter(|entry| entry.is(wanted)).collect()
}

/// The nearest name of these engines, where one is near.
pub(super) fn near(engines: &[Engine], wanted: &Wanted) -> Option<String> {
    let Wanted::Name(typed) = wanted else { return None };
    let entries: Vec<Entry> = engines.iter().flat_map(|engine| engine.entries()).collect();
    let names: Vec<(String, &str)> =
        entries.iter().map(|entry| (bare(&entry.name), entry.name.as_str())).collect();
    let found = nearest(typed, names.iter().map(|(bare, _)| bare.as_str()))?;
    names.iter().find(|(bare, _)| bare == found).map(|(_, name)| (*name).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(text: &str) -> Vec<(Engine, i64)> {
        find(&Engine::ALL, &Wanted::of(text)).into_iter().map(|entry| (entry.engine, entry.number)).collect()
    }

    #[test]
    fn a_code_is_found_by_number_and_by_any_spelling_of_its_name() {
        for text in
            ["1406", " 1406 ", "ER_DATA_TOO_LONG", "er_data_too_long", "DATA_TOO_LONG", "data-too-long"]
        {
            assert_eq!(numbers(text), [(Engine::MySql, 1406)], "{text}");
        }
        for text in ["19", "NOT_ENOUGH_REPLICAS", "NotEnoughReplicasException"] {
            assert!(numbers(text).contains(&(Engine::Kafka, 19)), "{text}");
        }
        assert_eq!(numbers("SQLITE_FULL"), [(Engine::Sqlite, 13)]);
        assert_eq!(numbers("MESSAGE_TOO_LARGE"), [(Engine::Kafka, 10)]);
        assert_eq!(numbers("-185"), [(Engine::Kafka, -185)]);
        assert_eq!(numbers("_TIMED_OUT"), [(Engine::Kafka, -185)]);
        assert_eq!(numbers("31999"), []);
    }

    #[test]
    fn a_slip_of_the_fingers_is_named() {
        let near = |text: &str| near(&Engine::ALL, &Wanted::of(text));
        assert_eq!(near("ER_DATA_TO_LONG").as_deref(), Some("ER_DATA_TOO_LONG"));
        assert_eq!(near("NOT_ENOUGH_REPLICA").as_deref(), Some("NOT_ENOUGH_REPLICAS"));
        assert_eq!(near("qqqqqqqqqqq"), None);
        assert_eq!(near("31999"), None);
    }

    #[test]
    fn a_number_stands_in_a_table_once() {
        for engine in Engine::ALL {
            let mut numbers: Vec<i64> = engine.entries().iter().map(|entry| entry.number).collect();
            let all = numbers.len();
            numbers.sort_unstable();
            numbers.dedup();
            assert_eq!(numbers.len(), all, "{engine}");
        }
    }
}
