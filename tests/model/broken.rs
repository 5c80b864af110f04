//! Broken: ways to get the protocol wrong, each by a few lines in the harness around the machines.

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Broken {
    /// A start takes over its own transactional id alone, and none that it will not use.
    SkipFence,
    /// Each worker claims its own key groups, by itself.
    ClaimApart,
    /// A start fences first and claims afterwards.
    FenceBeforeClaim,
    /// A start claims, reads what Kafka has, and fences last.
    ReadBeforeFence,
    /// A start sends without asking whether it still owns its key groups.
    StartTrustsFence,
    /// A producer that was built anew is used without asking whether the key groups are still owned.
    RebuildTrustsFence,
    /// A COMMIT of the database that went unanswered is run again as if it had failed.
    RepeatStore,
    /// A COMMIT of the database that went unanswered is taken for done.
    BelieveStore,
    /// A commit in Kafka that went unanswered is sent again as if it had failed.
    RepeatEmission,
    /// The outbox rows of a batch may go before Kafka has it.
    ConfirmEarly,
    /// The progress topic is read uncommitted.
    ReadUncommitted,
    /// The progress topic is read to the last stable offset and no further.
    ReadToLastStable,
    /// An epoch closes when its events have reached the gate.
    CommitOnArrival,
    /// An epoch closes when its events are stored.
    CommitOnStore,
    /// A COMMIT in doubt is looked up by a read that does not wait for locks.
    PlainSettle,
    /// A start takes the batch numbers of the ledger and not its positions.
    ForgetPositions,
    /// Nobody tells the gate that the database is back.
    NeverUp,
    /// The position row is written without comparing batch and incarnation.
    NoCompare,
    /// A start does not ask which keys are parked.
    ForgetParked,
    /// An event behind a parked one of its key is handled all the same.
    ApplyWaiting,
    /// A retry takes what was parked last first.
    RetryNewestFirst,
    /// A retry whose COMMIT went unanswered is taken for done.
    BelieveRetry,
    /// Parked events are written by themselves, behind the transaction of their batch.
    ParkApart,
    /// Parked events that were handled are deleted by themselves, behind the transaction of their retry.
    UnparkApart,
    /// The end of a pass closes the tickets that came behind it, too.
    CloseNewTickets,
    /// What the frontier has passed is held against the progress topic with the outputs of retries, too.
    FrontierCountsRetries,
}
