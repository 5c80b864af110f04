//! Marks: looks every two seconds whether a person wants parked events of this worker's key groups tried, or dropped.
//!
//! In:        the ledger's marks     Out: key groups, to the source's mailbox: it alone can give a ticket an epoch
//! Holds:     nothing: a mark stays in the ledger until it is done with, and is found again
//! Order:     what was marked before the start goes out at once, so that a job which reads to the end does it, too
//! Fails:     never: while the database is out nobody could try anything
//! Not here:  the trying (3-gate)

use super::{Feed, ReaderSetup};
use crate::model::KeyGroup;
use crate::operator::mailbox::Sender;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::sleep;

/// Asks the ledger which of this worker's key groups are marked; none: it does not answer.
pub type AskMarks =
    Arc<dyn Fn() -> Pin<Box<dyn Future<Output = Option<Vec<KeyGroup>>> + Send>> + Send + Sync>;

/// What a person wants.
pub struct Marks {
    /// Marked at the start.
    pub first: Vec<KeyGroup>,
    /// And from then on.
    pub ask: AskMarks,
}

const EVERY: Duration = Duration::from_secs(2);

/// Starts looking; ends when the job drains, or when nobody reads the mailbox any more.
pub(super) fn watch(setup: &ReaderSetup, feed: Sender<Feed>) {
    let (ask, drain) = (Arc::clone(&setup.marks.ask), Arc::clone(&setup.drain));
    if !setup.marks.first.is_empty() {
        feed.send(Feed::Marked(setup.marks.first.clone()));
    }
    setup.host.spawn(async move {
        while !drain.load(Ordering::Relaxed) && feed.is_heard() {
            sleep(EVERY).await;
            match ask().await {
                Some(marked) if !marked.is_empty() => feed.send(Feed::Marked(marked)),
                _ => {}
            }
        }
    });
}
