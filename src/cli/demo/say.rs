//! Say: what the demo tells the person who watches, on standard output.
//!
//! Not here:  the progress line (progress) and what the job itself logs, both on standard error

use super::folder::Folder;
use super::outage::LASTS;
use super::proof::Proof;
use crate::cli::out::line;
use std::time::{Duration, Instant};

/// Tells, and when.
pub(super) struct Teller {
    began: Instant,
}

impl Teller {
    /// The clock starts now.
    pub(super) fn new() -> Teller {
        Teller { began: Instant::now() }
    }

    /// A line, with the seconds since the start.
    pub(super) fn say(&self, text: &str) {
        line(&format!("[{:4.1} s] {text}", self.took().as_secs_f64()));
    }

    /// Since the start.
    pub(super) fn took(&self) -> Duration {
        self.began.elapsed()
    }
}

/// What is going to happen, and where.
pub(super) fn introduce(events: u64, folder: &Folder) {
    line(&format!(
        "Tidegate demo: {events} changes of orders, as XML, through a whole job in this process.\n\
         The broker is embedded (librdkafka's mock cluster, on loopback); the database is SQLite.\n\
         \n  \
         orders -> XML to event -> by key -> database -> XML -> orders.enriched\n               \
         |\n               \
         +-> cannot be read -> orders.rejected\n\
         \n  \
         job file  {}\n  \
         schema    {}\n  \
         database  {}\n\
         \n\
         In the middle, somebody locks the database for {} s. At the end, tables and topics are\n\
         read back and counted. Ctrl-C ends it early, and properly.\n",
        folder.job().display(),
        folder.schema().display(),
        folder.database().display(),
        LASTS.as_secs(),
    ));
}

/// What was found.
pub(super) fn show(proof: &Proof, took: Duration) {
    let verdict = if proof.holds() { "PROOF" } else { "THE PROOF DOES NOT HOLD" };
    line(&format!(
        "\nAfter {:.1} s, read back from the tables and the topics themselves:\n\n{}\n\n{verdict}: {}\n",
        took.as_secs_f64(),
        proof.table(),
        proof.line()
    ));
}

/// The job stays up.
pub(super) fn stay(rate: f64, folder: &Folder) {
    line(&format!(
        "The job stays up, with {rate:.0} changes a second, until Ctrl-C. Till then the files above are there to look\n\
         into, and the database to lock by hand (`.quit` lets go of it):\n  \
         sqlite3 -cmd '.timeout 2000' -cmd 'BEGIN EXCLUSIVE' {}\n",
        folder.database().display()
    ));
}

/// What to do next.
pub(super) fn next_steps() {
    line(
        "Next, on Kafka and MariaDB (in the source folder, scripts/services up starts both):\n  \
         tidegate check jobs/orders/job.toml   what is wrong with the job, its topics, its tables\n  \
         tidegate run jobs/orders/job.toml     runs it until Ctrl-C",
    );
}
