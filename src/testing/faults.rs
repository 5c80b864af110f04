//! Faults: which, and how often. Each number says how many calls out of a thousand meet it.

/// What goes wrong between a process and the broker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogFaults {
    /// A call fails before anything has happened.
    pub outage: u32,
    /// A transaction's records arrive, its end does not: it stays open, the answer is an outage.
    pub left_open: u32,
    /// A transaction is committed and the answer is lost.
    pub commit_answer_lost: u32,
    /// A transaction is aborted, and the process is told so.
    pub aborted: u32,
    /// The broker ends a transaction that is open for too long, and fences its producer.
    pub timed_out: u32,
    /// An initialisation is done and the answer is lost.
    pub initialise_answer_lost: u32,
    /// A reader gives the records before its position once more, up to five of them.
    pub given_again: u32,
    /// A call takes up to 10 ms longer.
    pub slow: u32,
}

/// What goes wrong between a process and the database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DatabaseFaults {
    /// No connection.
    pub refused: u32,
    /// The connection is lost before a call has done anything; its transaction is rolled back.
    pub lost: u32,
    /// A call other than COMMIT has done what it does in a transaction of its own, and the answer is lost.
    pub answer_lost: u32,
    /// A transaction is chosen as the victim of a deadlock.
    pub contention: u32,
    /// COMMIT is done and its answer is lost.
    pub commit_answer_lost: u32,
    /// COMMIT never arrives, and neither does an answer.
    pub commit_lost: u32,
    /// The connection is lost while COMMIT is on its way: it is done up to 20 ms later.
    pub commit_late: u32,
    /// The server gives up a connection whose process has been frozen for 100 ms in the middle of a call.
    pub given_up: u32,
    /// A call takes up to 10 ms longer.
    pub slow: u32,
}

impl LogFaults {
    /// Every fault this often.
    pub fn all(per_mille: u32) -> LogFaults {
        LogFaults {
            outage: per_mille,
            left_open: per_mille,
            commit_answer_lost: per_mille,
            aborted: per_mille,
            timed_out: per_mille,
            initialise_answer_lost: per_mille,
            given_again: per_mille,
            slow: per_mille,
        }
    }
}

impl DatabaseFaults {
    /// Every fault this often, and half of the connections of frozen processes given up.
    pub fn all(per_mille: u32) -> DatabaseFaults {
        DatabaseFaults {
            refused: per_mille,
            lost: per_mille,
            answer_lost: per_mille,
            contention: per_mille,
            commit_answer_lost: per_mille,
            commit_lost: per_mille,
            commit_late: per_mille,
            given_up: 500,
            slow: per_mille,
        }
    }
}
