//! Last words: what happens when a thread panics, and when a peer closes its connection (which timely makes a panic of).
//!
//! In:        a panic of any thread     Out: words, the incident file, and the process's end: 70, or 75 for a lost peer; a mark in
//!            the note of the record in hand, so that the next start knows what it was
//! Order:     the first panic speaks. Once the job's end is decided, a panic ends the process with that end's code
//! Not here:  the exit itself (main lends it)
//!
//! A panic of any thread ends the process: a worker that is gone would leave the others waiting for ever, and whatever was
//! going to be committed rests on an assumption that has just failed. The peers see the connection close and end, too.

use super::{Process, exit};
use crate::protocol::halt::{Halt, HaltKind};
use std::panic::PanicHookInfo;
use std::sync::atomic::Ordering;

/// From now on a panic of any thread ends the process.
pub fn end_on_panic(process: &Process) {
    let say = std::panic::take_hook();
    let process = process.clone();
    std::panic::set_hook(Box::new(move |info| {
        let (halt, code) = match lost_peer(info) {
            Some(halt) => (halt, exit::PEER_LOST),
            None => (panicked(info), exit::INTERNAL),
        };
        let decided = process.decided.compare_exchange(0, code + 1, Ordering::Relaxed, Ordering::Relaxed);
        if let Err(earlier) = decided {
            (process.end_now)(earlier - 1);
            return;
        }
        match process.guard.get() {
            Some(guard) if code == exit::INTERNAL => guard.panicked(),
            Some(guard) => guard.ended(),
            None => {}
        }
        if code == exit::INTERNAL {
            say(info);
        }
        match process.reporter.get() {
            Some(reporter) => reporter.report(&halt),
            None => tracing::error!("halted: {}", halt.message),
        }
        (process.end_now)(code);
    }));
}

fn text_of<'a>(info: &'a PanicHookInfo<'_>) -> Option<&'a str> {
    let text = info.payload().downcast_ref::<String>().map(String::as_str);
    text.or_else(|| info.payload().downcast_ref::<&str>().copied())
}

/// timely promises this prefix for a peer's closed connection.
fn lost_peer(info: &PanicHookInfo<'_>) -> Option<Halt> {
    text_of(info).filter(|text| text.starts_with("timely communication error:"))?;
    // The thread is named after the process at its other end.
    let thread = std::thread::current();
    let peer = thread.name().and_then(|name| name.rsplit_once('-')).map_or("?", |(_, number)| number);
    let text = format!(
        "process {peer} of the cluster was lost: its connection is closed. Its own log and incident file say why it ended; \
         start the whole cluster again"
    );
    Some(Halt::new(HaltKind::PeerLost, text))
}

/// Names the place. A message that was put together while running may hold a value, so it is left out of the report.
fn panicked(info: &PanicHookInfo<'_>) -> Halt {
    let place = info.location().map_or_else(|| "an unknown place".to_owned(), ToString::to_string);
    let thread = std::thread::current();
    let said = info.payload().downcast_ref::<&'static str>();
    let said = said.map_or(String::new(), |said| format!(" ({said})"));
    let text = format!(
        "a panic at {place} in thread \"{}\"{said}: a fault of this program; keep the log",
        thread.name().unwrap_or("?")
    );
    Halt::new(HaltKind::Internal, text)
}
