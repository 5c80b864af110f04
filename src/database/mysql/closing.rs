//! Closing connections at once.
//!
//! In:        a connection, or the future that is to open one
//! Out:       when it is dropped its socket is closed, whatever the server does
//! Order:     the server sees the end of the stream, rolls back what is open and frees its locks
//! Not here:  a polite goodbye. Dropped inside the runtime, the driver would leave a task behind that waits for the
//!            server's answer first: with a frozen server for ever, and one more for every attempt to connect

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::thread;
use tokio::runtime::Handle;

/// Something that holds a connection.
pub(super) struct Closing<T: Send + 'static>(Option<T>);

impl<T: Send> Closing<T> {
    pub(super) fn new(what: T) -> Closing<T> {
        Closing(Some(what))
    }

    /// There until it is dropped.
    pub(super) fn get(&mut self) -> Option<&mut T> {
        self.0.as_mut()
    }
}

impl<F: Future + Unpin + Send> Future for Closing<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Some(future) = self.0.as_mut() else { return Poll::Pending };
        let polled = Pin::new(future).poll(context);
        if polled.is_ready() {
            // Its result has what is to be closed.
            self.0 = None;
        }
        polled
    }
}

impl<T: Send> Drop for Closing<T> {
    /// Drops it where the driver finds no runtime to leave a task in.
    fn drop(&mut self) {
        let Some(what) = self.0.take() else { return };
        if Handle::try_current().is_err() {
            return;
        }
        let closing = thread::Builder::new().name("close".to_owned()).spawn(move || drop(what));
        if let Err(error) = closing {
            tracing::warn!(%error, "no thread to close a database connection on; it is left to the driver");
        }
    }
}
