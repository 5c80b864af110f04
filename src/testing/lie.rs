//! Lie: what a broken server does. A check that never fails proves nothing: these must make it fail.

/// A promise that a server does not keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lie {
    /// Every few transactions the broker confirms a commit and aborts instead.
    CommitAborts,
    /// Every few transactions the broker says that it aborted, and has committed.
    AbortCommits,
    /// The broker lets producers go on whose transactional id was initialised again, and leaves their transactions open.
    NoFence,
    /// Every few commits the database keeps the ledger's rows and loses the job's.
    CommitLosesRows,
    /// Every few commits the database confirms and keeps nothing.
    CommitForgets,
    /// The database takes positions from anybody, whatever their row holds.
    NoCompare,
}

impl Lie {
    /// Whether it is this server's turn to lie: every fifth time.
    pub(super) fn now(self, count: u64) -> bool {
        matches!(self, Lie::NoFence | Lie::NoCompare) || count % 5 == 4
    }
}
