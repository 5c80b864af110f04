//! Signals: SIGTERM and SIGINT drain; a second one ends the process at once.

use super::exit;
use crate::cluster::Signals;
use tokio::signal::unix::{SignalKind, signal};

/// Listens for the rest of the process's life, on a thread of its own.
pub(super) fn listen(signals: Signals, end_now: impl Fn(u8) + Send + 'static) -> Result<(), String> {
    let cannot = |error: std::io::Error| format!("cannot listen for signals: {error}");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(cannot)?;
    let (mut terminate, mut interrupt) = {
        let _inside = runtime.enter();
        (signal(SignalKind::terminate()).map_err(cannot)?, signal(SignalKind::interrupt()).map_err(cannot)?)
    };
    let serve = async move {
        let mut count = 0_u32;
        loop {
            let got = std::future::poll_fn(|context| {
                let terminate = terminate.poll_recv(context);
                if terminate.is_ready() { terminate } else { interrupt.poll_recv(context) }
            });
            if got.await.is_none() {
                return;
            }
            count += 1;
            if count > 1 {
                end_now(exit::AT_ONCE);
            }
            tracing::info!(
                "draining: reading no more, finishing what is in flight; a second signal ends at once"
            );
            signals.drain();
        }
    };
    let thread = std::thread::Builder::new().name("signals".to_owned());
    thread.spawn(move || runtime.block_on(serve)).map(drop).map_err(cannot)
}
