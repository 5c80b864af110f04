//! Progress: how the job is doing, for a person: one line that renews itself on a terminal, a line now and then elsewhere.
//!
//! In:        the board     Out: lines on standard error
//! Not here:  no numbers of its own

use super::out::{end_renewing, error_line, renew_line};
use crate::status::Board;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Shows progress until it is dropped.
pub(super) struct Progress {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

const LOOK: Duration = Duration::from_millis(250);
const PLAIN_PERIOD: Duration = Duration::from_secs(10);

impl Progress {
    /// Starts showing. `quiet`: nothing but the log is wanted.
    pub(super) fn start(board: Arc<Board>, quiet: bool) -> Progress {
        let over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&over);
        let terminal = std::io::stderr().is_terminal();
        let show = move || if terminal { renew(&board, &seen) } else { plain(&board, &seen) };
        let thread = std::thread::Builder::new().name("progress".to_owned());
        // Progress is a courtesy: a process that has no thread to spare for it runs on without.
        let thread = if quiet { None } else { thread.spawn(show).ok() };
        Progress { over, thread }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _panicked = thread.join();
        }
    }
}

fn renew(board: &Board, over: &AtomicBool) {
    let mut rate = Rate::new(board);
    while !over.load(Ordering::Relaxed) {
        std::thread::park_timeout(LOOK);
        renew_line(&describe(board, rate.update(board)));
    }
    end_renewing();
}

/// A line when something moves, at most one each ten seconds.
fn plain(board: &Board, over: &AtomicBool) {
    let mut rate = Rate::new(board);
    let mut said = Instant::now();
    let mut last = 0;
    while !over.load(Ordering::Relaxed) {
        std::thread::park_timeout(LOOK);
        let now = board.committed.get();
        if said.elapsed() >= PLAIN_PERIOD && now != last {
            error_line(&describe(board, rate.update(board)));
            said = Instant::now();
            last = now;
        }
    }
}

/// Events per second over the last few looks.
struct Rate {
    at: Instant,
    stored: u64,
    smooth: f64,
}

impl Rate {
    fn new(board: &Board) -> Rate {
        Rate { at: Instant::now(), stored: board.stored.get(), smooth: 0.0 }
    }

    fn update(&mut self, board: &Board) -> f64 {
        let (now, stored) = (Instant::now(), board.stored.get());
        let seconds = now.duration_since(self.at).as_secs_f64();
        if seconds > 0.05 {
            let events = u32::try_from(stored.saturating_sub(self.stored)).unwrap_or(u32::MAX);
            let rate = f64::from(events) / seconds;
            self.smooth = if self.smooth == 0.0 { rate } else { self.smooth * 0.6 + rate * 0.4 };
            (self.at, self.stored) = (now, stored);
        }
        self.smooth
    }
}

/// What matters most stands first: a narrow terminal cuts the rest off. Handled = emitted + dead letters, once all is
/// settled, where each event sends something.
fn describe(board: &Board, rate: f64) -> String {
    let mut text = String::new();
    for hold in board.holding() {
        let why: String = hold.why.chars().take(60).collect();
        text += &format!("HOLDING {} s, {}: {why} | ", hold.since.as_secs(), hold.world.as_str());
    }
    if text.is_empty() {
        text = format!("{rate:.0} events/s | ");
    }
    let (handled, emitted, letters) = (board.stored.get(), board.emitted.get(), board.dead_lettered.get());
    text += &format!(
        "lag {} | in flight {} | handled {handled} | emitted {emitted} | dead letters {letters}",
        board.lag(),
        size(board.in_flight_bytes())
    );
    match board.parked.get() {
        0 => {}
        parked => text += &format!(" | parked {parked}"),
    }
    text
}

fn size(bytes: u64) -> String {
    if bytes < 1 << 20 { format!("{} KiB", bytes >> 10) } else { format!("{} MiB", bytes >> 20) }
}
