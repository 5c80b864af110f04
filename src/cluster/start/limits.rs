//! How large a record may be, asked at each start: limits of topics are changed while a job is down.
//!
//! In:        the topics that the job sends to     Out: their limits
//! Fails:     an outage is waited for; a broker that does not tell is none

use super::{DEADLINE, StartSetup, Stopped};
use crate::model::RecordLimits;

/// The limits of output and dead letters.
pub(super) async fn read(setup: &StartSetup) -> Result<RecordLimits, Stopped> {
    let output = setup.spec.output_topics.first().cloned();
    let letters = setup.spec.rejects.dead_letter_topic.clone();
    let topics: Vec<String> = output.iter().chain(&letters).cloned().collect();
    if topics.is_empty() {
        return Ok(RecordLimits::default());
    }
    let limits = setup.patience.log(async || setup.log.record_limits(&topics, DEADLINE).await).await?;
    let of = |topic: Option<String>| {
        let index = topics.iter().position(|name| Some(name) == topic.as_ref())?;
        limits.get(index).copied().flatten()
    };
    Ok(RecordLimits { output_bytes: of(output), dead_letter_bytes: of(letters) })
}
