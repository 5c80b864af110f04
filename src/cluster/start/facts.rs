//! The plan of the job's steps by the schema as it is now: tables are changed while a job is down.
//!
//! In:        the job, the ledger's session     Out: which steps run for many events at once
//! Order:     the tables of the statements, then those that their foreign keys lead to
//! Fails:     an outage is waited for; a table that cannot be seen makes the job slower, and is told
//! Not here:  the rules (job::sets)

use super::{StartSetup, Stopped};
use crate::job::{SchemaFacts, SetMode, SetPlan};
use std::sync::Arc;

/// So many times links lead further.
const ROUNDS_MAX: usize = 8;

pub(super) async fn plan(setup: &StartSetup) -> Result<Arc<SetPlan>, Stopped> {
    let spec = &setup.spec;
    let mut facts = SchemaFacts::default();
    let mut asked = Vec::new();
    for _ in 0..ROUNDS_MAX {
        let tables = SetPlan::tables(spec, &facts);
        if !spec.database.together || tables == asked {
            break;
        }
        asked = tables;
        facts = setup.patience.ledger(&setup.ledger, async |session| session.facts(&asked).await).await?;
    }
    let plan = SetPlan::of(spec, Some(&facts));
    if setup.worker == 0 {
        for run in plan.runs.iter().filter(|run| run.mode != SetMode::Together) {
            tracing::info!(step = run.step, "{run}");
        }
    }
    Ok(Arc::new(plan))
}
