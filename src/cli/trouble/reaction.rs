//! Reaction: what this job does when it meets an error of a class, by its settings.
//!
//! In:        a class, the job     Out: a sentence, and the exit code where the job may end
//! Fails:     never
//! Not here:  the doing (gate, sink, source, start): tests hold the two together

use super::Class;
use crate::database::ErrorClass;
use crate::job::{JobSpec, RejectRule};
use crate::kafka::LogErrorClass;
use crate::operator::refusals::STAYS_FOR;
use crate::protocol::halt::HaltKind;

/// What a job does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::cli) struct Reaction {
    /// A sentence about the job: "holds ...".
    pub(in crate::cli) text: String,
    /// The exit code, where it halts or may halt.
    pub(in crate::cli) exit: Option<u8>,
}

fn halts(kind: HaltKind, text: String) -> Reaction {
    Reaction { text, exit: Some(kind.exit_code()) }
}

/// What a job does when it meets this class.
pub(in crate::cli) fn reaction(spec: &JobSpec, class: Class) -> Reaction {
    match class {
        Class::Database(ErrorClass::Outage) | Class::Log(LogErrorClass::Outage) => outage(spec, ""),
        Class::Database(ErrorClass::Unknown) | Class::Log(LogErrorClass::Unknown) => {
            outage(spec, ", and logs an alarm, since no table knows the code")
        }
        Class::Database(ErrorClass::Contention) => Reaction {
            text: "rolls the whole transaction back and runs it again: at once, then in smaller ones and with pauses of up to \
                   100 ms; a lock that somebody else keeps for 10 s is shown as an outage, with the record that needs it"
                .to_owned(),
            exit: None,
        },
        Class::Database(ErrorClass::Reject) => reject(spec.rejects.refused, "refused"),
        Class::Log(LogErrorClass::TooLarge) => too_large(spec),
        Class::Database(ErrorClass::Misconfigured) | Class::Log(LogErrorClass::Misconfigured) => {
            refusal(HaltKind::Misconfigured)
        }
        Class::Database(ErrorClass::Rights) => refusal(HaltKind::Rights),
        Class::Log(LogErrorClass::Rights) => halts(
            HaltKind::Rights,
            format!(
                "halts: at a start, or where it may not read a topic, at once; where it may not send any more, or is not let in at \
                 all, after {} s of nothing else, and goes on by itself where that passes. Nothing is lost: the next start goes on \
                 there",
                STAYS_FOR.as_secs()
            ),
        ),
        Class::Log(LogErrorClass::Aborted) => Reaction {
            text: "sends the same transaction again: at once, then with pauses of up to 1 s".to_owned(),
            exit: None,
        },
        Class::Log(LogErrorClass::Fenced) => halts(
            HaltKind::Fenced,
            "asks the ledger whose the key groups are: another instance's: it halts; still its own: it builds a new producer, \
             looks up what Kafka has, and goes on"
                .to_owned(),
        ),
        Class::Log(LogErrorClass::PositionGone) => halts(
            HaltKind::Fenced,
            "halts: it never jumps to another position by itself; `tidegate offsets reset` moves it".to_owned(),
        ),
    }
}

fn outage(spec: &JobSpec, more: &str) -> Reaction {
    let holds = format!(
        "holds{more}: it keeps its place, stops reading, and goes on by itself from the very event that met it"
    );
    match spec.outage.limit_s {
        0 => Reaction { text: format!("{holds}, however long it takes (outage.limit_s = 0)"), exit: None },
        limit => halts(HaltKind::Outage, format!("{holds}; it halts after {limit} s (outage.limit_s)")),
    }
}

fn reject(rule: RejectRule, key: &str) -> Reaction {
    let goes_on = |text: String| Reaction { text, exit: None };
    match rule {
        RejectRule::Halt => halts(
            HaltKind::Reject,
            format!(
                "halts (rejects.{key} = \"halt\"): nothing of its transaction is stored; the next start goes on with that very \
                 event"
            ),
        ),
        RejectRule::DeadLetter => goes_on(format!(
            "stores nothing of the event, sends its record to rejects.dead_letter_topic (rejects.{key} = \"dead_letter\"), and \
             goes on, also with its key"
        )),
        RejectRule::Discard => goes_on(format!(
            "counts and logs the event, and goes on without it (rejects.{key} = \"discard\")"
        )),
        RejectRule::Park => goes_on(format!(
            "parks the event and every later one of its key in the ledger, in their order, and goes on with all other keys \
             (rejects.{key} = \"park\"); `tidegate parked retry JOB` has them tried again"
        )),
    }
}

/// Known before anything is stored, wherever the topic tells its limit.
fn too_large(spec: &JobSpec) -> Reaction {
    let by_rule = reject(spec.rejects.too_large, "too_large");
    let text = format!(
        "{}. Where the limit was lowered while the job ran, its transaction is stored already: then the job halts, and sends it at \
         the next start",
        by_rule.text
    );
    halts(HaltKind::Reject, text)
}

fn refusal(kind: HaltKind) -> Reaction {
    let stays = STAYS_FOR.as_secs();
    let text = format!(
        "halts, at a start or while it runs, at once where a statement or a record is refused, after {stays} s of nothing \
         else where it is not let in at all, as after an outage. Nothing is lost: the next start goes on there"
    );
    halts(kind, text)
}
