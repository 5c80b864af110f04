//! Marks: looks whether a person wants parked events of this worker's key groups tried, or dropped: every two seconds, and as
//! soon as a pass over parked events is over.
//!
//! In:        the ledger's marks     Out: key groups, to the source's mailbox: it alone can give a ticket an epoch
//! Holds:     nothing: a mark stays in the ledger until it is done with, and is found again
//! Order:     what was marked before the start goes out at once; a job that reads to the end does not end before it is done
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
use tokio::sync::Notify;
use tokio::time::timeout;

/// Asks the ledger which of this worker's key groups are marked; none: it does not answer.
pub type AskMarks =
    Arc<dyn Fn() -> Pin<Box<dyn Future<Output = Option<Vec<KeyGroup>>> + Send>> + Send + Sync>;

/// What a person wants.
pub struct Marks {
    /// Marked at the start.
    pub first: Vec<KeyGroup>,
    /// And from then on.
    pub ask: AskMarks,
    /// A pass is over.
    pub passed: Arc<Notify>,
}

const EVERY: Duration = Duration::from_secs(2);

/// Starts looking; ends when the job drains, or when nobody reads the mailbox any more. Whether a job that reads to the end has
/// to wait for [`Feed::Unmarked`].
pub(super) fn watch(setup: &ReaderSetup, feed: Sender<Feed>) -> bool {
    let (ask, drain, passed) =
        (Arc::clone(&setup.marks.ask), Arc::clone(&setup.drain), Arc::clone(&setup.marks.passed));
    let mut waited_for = setup.until.is_some() && !setup.marks.first.is_empty();
    let must_wait = waited_for;
    if !setup.marks.first.is_empty() {
        feed.send(Feed::Marked(setup.marks.first.clone()));
    }
    setup.host.spawn(async move {
        while !drain.load(Ordering::Relaxed) && feed.is_heard() {
            let _either = timeout(EVERY, passed.notified()).await;
            match ask().await {
                Some(marked) if !marked.is_empty() => feed.send(Feed::Marked(marked)),
                Some(_) if waited_for => {
                    waited_for = false;
                    feed.send(Feed::Unmarked);
                }
                _ => {}
            }
        }
        if waited_for {
            feed.send(Feed::Unmarked);
        }
    });
    must_wait
}
