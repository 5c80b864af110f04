//! How large a record may be, asked at each start: limits of topics are changed while a job is down.
//!
//! In:        the topics that the job sends to     Out: their limits
//! Fails:     an outage is waited for; a broker that does not tell is none

use super::{DEADLINE, StartSetup, Stopped};
use crate::model::RecordLimits;

/// The limits of outputs and dead letters.
pub(super) async fn read(setup: &StartSetup) -> Result<RecordLimits, Stopped> {
    let outputs = &setup.spec.output_topics;
    let letters = &setup.spec.rejects.dead_letter_topic;
    let topics: Vec<String> = outputs.iter().chain(letters).cloned().collect();
    if topics.is_empty() {
        return Ok(RecordLimits::default());
    }
    let mut limits = setup.patience.log(async || setup.log.record_limits(&topics, DEADLINE).await).await?;
    limits.resize(topics.len(), None);
    let dead_letter_bytes = letters.as_ref().and_then(|_| limits.pop()).flatten();
    Ok(RecordLimits { output_bytes: limits, dead_letter_bytes })
}
