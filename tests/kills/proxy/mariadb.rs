//! What the proxy knows of MariaDB: packets, and the text COMMIT in them.

use super::{Proxy, Verdict, Watch, lock};
use std::sync::{Arc, Mutex};

/// What becomes of a COMMIT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// The server has it and does it; the connection is cut in front of its answer.
    Answer,
    /// The connection is cut before the server has it.
    Request,
}

/// What waits for the next COMMITs, each for one.
#[derive(Clone, Default)]
pub struct Commits(Arc<Mutex<Vec<Lost>>>);

impl Commits {
    /// Lets the next COMMIT be lost in this way.
    pub fn lose(&self, lost: Lost) {
        lock(&self.0).push(lost);
    }

    /// Whether every one that was to be lost is lost.
    pub fn are_lost(&self) -> bool {
        lock(&self.0).is_empty()
    }
}

/// Starts a proxy in front of the server.
pub fn start(server: &str, commits: &Commits) -> Proxy {
    let commits = commits.clone();
    Proxy::start(server, move |_| Connection { commits: commits.clone(), cut_answer: false })
}

struct Connection {
    commits: Commits,
    cut_answer: bool,
}

impl Watch for Connection {
    fn length(head: [u8; 4]) -> usize {
        u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize
    }

    fn request(&mut self, frame: &mut [u8]) -> Verdict {
        // A command begins with number 0; 3 is a query in text.
        let is_commit = frame[3] == 0 && frame[4..].starts_with(b"\x03COMMIT");
        if !is_commit {
            return Verdict::Pass;
        }
        match lock(&self.commits.0).pop() {
            Some(Lost::Request) => return Verdict::Cut,
            Some(Lost::Answer) => self.cut_answer = true,
            None => {}
        }
        Verdict::Pass
    }

    fn answer(&mut self, _frame: &mut [u8]) -> Verdict {
        if self.cut_answer { Verdict::Cut } else { Verdict::Pass }
    }
}
