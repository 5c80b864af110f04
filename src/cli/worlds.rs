//! A job and the worlds that it names, as a command that asks them sees them.
//!
//! In:        a checked job     Out: log and database, not connected yet; or a job that can run
//! Fails:     a folder that is not there, as a text
//! Not here:  no question is asked

use crate::cluster::Job;
use crate::database::{self, Database};
use crate::job::{Checked, JobSpec};
use crate::kafka::{self, KafkaSetup, Log};
use crate::operator::guard::Guard;
use crate::status::Board;
use std::sync::Arc;

/// A job's worlds.
pub(super) struct Worlds {
    /// The job.
    pub(super) spec: Arc<JobSpec>,
    /// Where it reads and sends. Calls block.
    pub(super) log: Arc<dyn Log>,
    /// Where it stores.
    pub(super) database: Arc<dyn Database>,
}

/// Opens them.
pub(super) fn open(checked: Checked) -> Result<Worlds, String> {
    let spec = Arc::new(checked.spec);
    let database = database::open(&spec.database, &spec.name).map_err(|error| error.to_string())?;
    let log = kafka::open(KafkaSetup::from_spec(&spec));
    Ok(Worlds { spec, log, database })
}

impl Worlds {
    /// What runs.
    pub(super) fn job(self, board: &Arc<Board>, until_end: bool) -> Job {
        let Worlds { spec, log, database } = self;
        Job {
            spec,
            log: kafka::blocking(log),
            database,
            board: Arc::clone(board),
            until_end,
            guard: Guard::default(),
        }
    }
}
