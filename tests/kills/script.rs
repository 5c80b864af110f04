//! The rounds of a campaign, drawn from a seed before anything runs.
//!
//! Kinds of faults come from a shuffled deck, so that every kind comes once in as many rounds as there are kinds, and the
//! next deck begins when one is used up. Everything else of a round is drawn independently.

use super::chance::Chance;
use super::proxy::kafka::Api;
use super::proxy::mariadb::Lost;
use super::services::Server;
use std::fmt;
use std::time::Duration;

/// How many processes of how many workers each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub processes: usize,
    pub workers: usize,
}

/// What happens to the job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// One process of several is killed.
    KillOne { victim: usize },
    /// All are killed at once.
    KillAll,
    /// A drain is asked of one process.
    Drain { asked: usize },
    /// All processes stand still beyond the transactions' time-out, another instance takes over, and they wake up.
    Zombie { lasts: Duration },
    /// Nobody takes over: processes stand still beyond the transactions' time-out, and go on.
    Standstill { everybody: bool, lasts: Duration },
    /// A server is killed, stopped or frozen.
    Outage { server: Server, verb: &'static str, lasts: Duration },
    /// Connections to the database are closed, by the server or on the way, with pauses behind.
    Disconnected(Vec<(By, Duration)>),
    /// COMMITs, or their answers, are lost on the way.
    Commits(Vec<Lost>),
    /// All connections to the broker are cut, with pauses behind.
    CutOff(Vec<Duration>),
    /// Answers of the broker are lost on the way, one after the other.
    Answers(Vec<Api>),
    /// Every answer to the end of a transaction is lost, until its producer is given up.
    Undecided,
}

/// Who closes the connections to the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Server,
    Wire,
}

/// When it happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// So long after the processes were started, whatever they have come to.
    Starting(Duration),
    /// So long after the instance's first progress.
    Working(Duration),
}

/// How the instance of the round before is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Drain,
    Kill,
}

/// One round.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Round {
    pub ending: Ending,
    pub shape: Shape,
    pub moment: Moment,
    pub fault: Fault,
    /// What is started where the fault has ended the instance.
    pub then: Shape,
}

/// How many rounds one deck has: a card for each kind.
pub const DECK: usize = 15;

/// The script of so many rounds.
pub fn rounds(seed: u64, count: usize) -> Vec<Round> {
    let mut chance = Chance::new(seed);
    let mut deck: Vec<usize> = Vec::new();
    let mut last = Shape { processes: 0, workers: 0 };
    let mut rounds = Vec::with_capacity(count);
    for _ in 0..count {
        if deck.is_empty() {
            deck = (0..DECK).collect();
            chance.shuffle(&mut deck);
        }
        let round = Round::deal(deck.pop().expect("a card"), last, &mut chance);
        last = if round.fault.ends_the_instance() { round.then } else { round.shape };
        rounds.push(round);
    }
    rounds
}

impl Round {
    fn deal(kind: usize, before: Shape, chance: &mut Chance) -> Round {
        let fault = Fault::deal(kind, chance);
        let least = if matches!(fault, Fault::KillOne { .. }) { 2 } else { 1 };
        let shape = Shape::other_than(before, least, chance);
        let after = chance.millis(0, 1_500);
        let starting = fault.may_meet_a_start() && chance.below(3) == 0;
        Round {
            ending: if chance.below(2) == 0 { Ending::Drain } else { Ending::Kill },
            shape,
            moment: if starting { Moment::Starting(after) } else { Moment::Working(after) },
            fault,
            then: Shape::other_than(shape, 1, chance),
        }
    }
}

impl Shape {
    fn other_than(before: Shape, least: usize, chance: &mut Chance) -> Shape {
        loop {
            let shape = Shape { processes: chance.between(least, 3), workers: chance.between(1, 3) };
            if shape != before {
                return shape;
            }
        }
    }
}

impl Fault {
    fn deal(kind: usize, chance: &mut Chance) -> Fault {
        match kind {
            0 => Fault::KillOne { victim: chance.below(3) },
            1 => Fault::KillAll,
            2 => Fault::Drain { asked: chance.below(3) },
            3 => Fault::Zombie { lasts: chance.millis(6_000, 8_000) },
            // The broker looks for transactions that are over their time-out every 10 s.
            4 => Fault::Standstill { everybody: chance.below(2) == 0, lasts: chance.millis(8_000, 15_000) },
            5..=10 => {
                let server = if kind < 8 { Server::Db } else { Server::Kafka };
                let verb = ["kill", "stop", "freeze"][(kind - 5) % 3];
                Fault::Outage { server, verb, lasts: chance.millis(200, 8_000) }
            }
            11 => Fault::Disconnected(chance.list(2, 6, |chance| {
                let by = if chance.below(2) == 0 { By::Server } else { By::Wire };
                (by, chance.millis(0, 300))
            })),
            12 => {
                let mut lost = chance
                    .list(1, 4, |chance| if chance.below(3) == 0 { Lost::Request } else { Lost::Answer });
                lost.push(Lost::Answer);
                Fault::Commits(lost)
            }
            13 if chance.below(3) == 0 => Fault::CutOff(chance.list(2, 6, |chance| chance.millis(0, 300))),
            13 => {
                let mut apis = vec![Api::EndTxn, Api::Produce, Api::AddPartitionsToTxn, Api::EndTxn];
                chance.shuffle(&mut apis);
                // Only a start asks for it.
                apis.insert(0, Api::InitProducerId);
                Fault::Answers(apis)
            }
            _ => Fault::Undecided,
        }
    }

    /// Whether something else has to be started behind it.
    pub fn ends_the_instance(&self) -> bool {
        matches!(self, Fault::KillOne { .. } | Fault::KillAll | Fault::Drain { .. } | Fault::Zombie { .. })
    }

    /// Not where the exit code would depend on how far the start had come.
    fn may_meet_a_start(&self) -> bool {
        matches!(
            self,
            Fault::KillAll
                | Fault::Outage { .. }
                | Fault::Disconnected(_)
                | Fault::Commits(_)
                | Fault::CutOff(_)
        )
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.processes, self.workers)
    }
}

impl fmt::Display for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.shape)?;
        if self.fault.ends_the_instance() {
            write!(f, " -> {}", self.then)?;
        }
        write!(f, ", {}, {}", self.fault, self.moment)
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Moment::Starting(after) => write!(f, "{} ms into the start", after.as_millis()),
            Moment::Working(after) => write!(f, "{} ms into the work", after.as_millis()),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::KillOne { .. } => write!(f, "kill -9 of one process"),
            Fault::KillAll => write!(f, "kill -9 of all processes"),
            Fault::Drain { .. } => write!(f, "SIGTERM"),
            Fault::Zombie { lasts } => write!(f, "SIGSTOP for {} ms, another takes over", lasts.as_millis()),
            Fault::Standstill { everybody, lasts } => {
                let who = if *everybody { "all" } else { "one" };
                write!(f, "SIGSTOP of {who} for {} ms, nobody takes over", lasts.as_millis())
            }
            Fault::Outage { server, verb, lasts } => {
                write!(f, "{server:?} {verb} for {} ms", lasts.as_millis())
            }
            Fault::Disconnected(cuts) => {
                let by_server = cuts.iter().filter(|(by, _)| *by == By::Server).count();
                let by_wire = cuts.len() - by_server;
                write!(f, "Db connections killed {by_server} times by the server, cut {by_wire} times")
            }
            Fault::Commits(lost) => {
                let answers = lost.iter().filter(|lost| **lost == Lost::Answer).count();
                write!(f, "Db: {answers} COMMITs without answer, {} cut before", lost.len() - answers)
            }
            Fault::CutOff(pauses) => write!(f, "Kafka connections cut {} times", pauses.len()),
            Fault::Answers(apis) => write!(f, "Kafka: answers lost to {apis:?}"),
            Fault::Undecided => write!(f, "Kafka: all answers to EndTxn lost until the producer is given up"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_a_script() {
        assert_eq!(rounds(7, 40), rounds(7, 40));
        assert_eq!(rounds(7, 40)[..20], rounds(7, 20)[..]);
        assert_ne!(rounds(7, 40), rounds(8, 40));
    }

    #[test]
    fn each_deck_has_every_kind_and_no_start_is_like_the_one_before() {
        let script = rounds(3, 3 * DECK);
        for deck in script.chunks(DECK) {
            let kind = |round: &Round| match &round.fault {
                Fault::Outage { server, verb, .. } => format!("{server:?} {verb}"),
                // Two kinds on one card.
                Fault::CutOff(_) => "Answers".to_owned(),
                fault => {
                    let text = format!("{fault:?}");
                    text.split([' ', '(']).next().expect("a name").to_owned()
                }
            };
            let kinds: std::collections::BTreeSet<_> = deck.iter().map(kind).collect();
            assert_eq!(kinds.len(), DECK, "{kinds:?}");
        }
        let mut before = Shape { processes: 0, workers: 0 };
        for round in script {
            assert_ne!(round.shape, before);
            assert_ne!(round.shape, round.then);
            before = if round.fault.ends_the_instance() { round.then } else { round.shape };
            assert!(round.shape.processes > 1 || !matches!(round.fault, Fault::KillOne { .. }));
        }
    }
}
