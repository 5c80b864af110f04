//! The plan of the job's steps by the schema as it is now: tables are changed while a job is down.
//!
//! In:        the job, the ledger's session     Out: which steps run for many events at once
//! Fails:     an outage is waited for; a table that cannot be seen makes the job slower, and is told
//! Not here:  the rules (job::sets), the questions (database)

use super::{StartSetup, Stopped};
use crate::database::set_plan;
use crate::job::{SetMode, SetPlan};
use std::sync::Arc;

pub(super) async fn plan(setup: &StartSetup) -> Result<Arc<SetPlan>, Stopped> {
    let spec = &setup.spec;
    let plan = setup.patience.ledger(&setup.ledger, async |session| set_plan(spec, session).await).await?;
    if setup.worker == 0 {
        for run in plan.runs.iter().filter(|run| run.mode != SetMode::Together) {
            tracing::info!("{run}");
        }
    }
    Ok(Arc::new(plan))
}
