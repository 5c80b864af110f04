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
        "Tidegate demo: {events} changes of orders, as XML, through a whole job in this process. The broker is embedded\n\
         (librdkafka's mock cluster, on the loopback interface), the database is an SQLite file.\n\
         \n  \
         orders --> XML to event --> by order, in order --> customer looked up, two tables --> XML --> orders.enriched\n                  \
         |\n                  \
         +--> what cannot be read --> orders.rejected\n\
         \n  \
         job file  {}\n  \
         schema    {}\n  \
         database  {}\n\
         \n\
         Halfway through, the database is locked for {} s. At the end tables and topics are read back and counted.\n\
         Ctrl-C ends it early, and properly.\n",
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
        "\nRead back from the tables and topics, not from the job's own counters, after {:.1} s:\n\n{}\n\n{verdict}: {}\n",
        took.as_secs_f64(),
        proof.table(),
        proof.line()
    ));
}

/// The job stays up.
pub(super) fn stay(rate: f64) {
    line(&format!(
        "The job stays up, with {rate:.0} orders a second, until Ctrl-C. The folder above is yours to look into till then,\n\
         for example: sqlite3 -readonly shop.db 'SELECT * FROM orders LIMIT 5'\n"
    ));
}

/// What to do next.
pub(super) fn next_steps() {
    line(
        "Next, the same on Kafka and MariaDB (scripts/services up starts both):\n  \
         tidegate check jobs/orders/job.toml   says what is wrong with a job file, its topics and its tables\n  \
         tidegate run jobs/orders/job.toml     runs it until Ctrl-C",
    );
}
