//! Why a job stops everywhere, and with which exit code.

use crate::model::Coordinates;
use std::fmt;

/// The first cause of a stop, as every worker hears it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Halt {
    /// Which exit code, and what kind of trouble.
    pub kind: HaltKind,
    /// One message for a person: what was found, where, what to do.
    pub message: String,
    /// The event that it is about, where it is about one.
    pub record: Option<Coordinates>,
    /// What a server or the decoder said, where one of them did.
    pub error: Option<Box<Said>>,
    /// The worker that asked for the halt, once its loop has told the others: it counts over all processes.
    pub worker: Option<usize>,
}

/// An error as whoever made it names it. Never a value.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Said {
    /// Who said it, and what it asks for: `database reject`, `kafka rights`, `unreadable`.
    pub class: String,
    /// Its code, where there is one: a number of the database, a name of librdkafka, a reason of the decoder.
    pub code: Option<String>,
}

/// The exit codes of the contract that a halt can end with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum HaltKind {
    /// 65: a reject whose rule is halt.
    Reject,
    /// 69: an outage longer than `outage.limit_s`.
    Outage,
    /// 70: something that must not be.
    Internal,
    /// 75: a peer process was lost.
    PeerLost,
    /// 76: a newer instance runs, or positions are not valid any more.
    Fenced,
    /// 77: rights are missing.
    Rights,
    /// 78: the job file, or the schema it meets, is wrong.
    Misconfigured,
}

impl HaltKind {
    /// The process's exit code.
    pub fn exit_code(self) -> u8 {
        match self {
            HaltKind::Reject => 65,
            HaltKind::Outage => 69,
            HaltKind::Internal => 70,
            HaltKind::PeerLost => 75,
            HaltKind::Fenced => 76,
            HaltKind::Rights => 77,
            HaltKind::Misconfigured => 78,
        }
    }

    /// The kind in words.
    pub fn as_str(self) -> &'static str {
        match self {
            HaltKind::Reject => "reject",
            HaltKind::Outage => "outage limit",
            HaltKind::Internal => "internal fault",
            HaltKind::PeerLost => "peer lost",
            HaltKind::Fenced => "fenced",
            HaltKind::Rights => "rights",
            HaltKind::Misconfigured => "misconfigured",
        }
    }
}

impl Halt {
    /// A halt of this kind.
    pub fn new(kind: HaltKind, message: impl Into<String>) -> Halt {
        Halt { kind, message: message.into(), record: None, error: None, worker: None }
    }

    /// The same, about this event.
    pub fn about(self, record: Option<Coordinates>) -> Halt {
        Halt { record, ..self }
    }

    /// The same, because of this error.
    pub fn because(self, class: impl Into<String>, code: Option<String>) -> Halt {
        Halt { error: Some(Box::new(Said { class: class.into(), code })), ..self }
    }

    /// Which of two halts all workers name that have heard both. Neither was caused by the other, or its worker would
    /// have heard of that one and asked for none: so any rule will do that gives everybody the same answer. A lost peer
    /// comes last, since a peer may be lost because it has halted.
    pub fn first_of(self, other: Halt) -> Halt {
        let rank = |halt: &Halt| (halt.kind == HaltKind::PeerLost, halt.worker);
        if rank(&other) < rank(&self) { other } else { self }
    }
}

impl fmt::Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.as_str(), self.message)
    }
}
