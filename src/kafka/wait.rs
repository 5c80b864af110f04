//! Waits on this thread for one of `rdkafka`'s futures, whose work is done on librdkafka's threads.
//!
//! In:        a future and a moment
//! Out:       its value, or `None` when the moment came first
//! Not here:  no runtime: the callers are threads that may block

use super::client::remaining;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Instant;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for the future, at most until then.
pub(super) fn block_on<T>(future: impl Future<Output = T>, until: Instant) -> Option<T> {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut context) {
            return Some(value);
        }
        let left = remaining(until);
        if left.is_zero() {
            return None;
        }
        std::thread::park_timeout(left);
    }
}
