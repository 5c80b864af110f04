//! Step 1 of a start: every key group of the job is claimed, in one transaction, by the first worker for all.
//!
//! In:        a ledger that fits the job     Out: the incarnations; to each worker its own key groups' rows
//! Fails:     an outage -> claimed once more; claimed by another instance since -> halt
//!
//! Claimed worker by worker, two instances that start side by side could each become the newest one of some key groups,
//! and either would send as if it had fenced the other.

use super::{StartSetup, Stopped};
use crate::database::PositionRow;
use crate::model::{Incarnation, KeyGroup};
use crate::operator::exchange::owned_groups;
use crate::protocol::halt::{Halt, HaltKind};

/// Claims all key groups.
pub(in crate::cluster) async fn all(setup: &StartSetup) -> Result<Vec<(KeyGroup, Incarnation)>, Stopped> {
    let groups = owned_groups(setup.spec.key_groups, 0, 1);
    let rows = setup.patience.ledger(&setup.ledger, async |session| session.claim(&groups).await).await?;
    Ok(rows.into_iter().map(|row| (row.group, row.incarnation)).collect())
}

/// The rows of this worker's key groups. Nobody but this instance can change them as long as its claim stands.
pub(in crate::cluster) async fn rows_of_mine(
    setup: &StartSetup,
    claims: &[(KeyGroup, Incarnation)],
) -> Result<Vec<PositionRow>, Stopped> {
    let groups = owned_groups(setup.spec.key_groups, setup.worker, setup.workers);
    let mine: Vec<_> = claims.iter().copied().filter(|(group, _)| groups.contains(group)).collect();
    let rows = standing(setup, &mine).await?;
    if rows.len() == groups.len() {
        return Ok(rows);
    }
    let text = format!("{} of {} key groups of a worker were claimed", rows.len(), groups.len());
    Err(Halt::new(HaltKind::Internal, text).into())
}

/// The rows of these claims, if they stand. Asked behind each initialisation of a producer, before it sends: whoever
/// claims later takes over its transactional id, too.
pub(super) async fn standing(
    setup: &StartSetup,
    claims: &[(KeyGroup, Incarnation)],
) -> Result<Vec<PositionRow>, Stopped> {
    let mut now = setup.patience.ledger(&setup.ledger, async |session| session.positions().await).await?;
    let stands = |(group, incarnation): &(KeyGroup, Incarnation)| {
        now.iter().any(|row| row.group == *group && row.incarnation == *incarnation)
    };
    if let Some((group, _)) = claims.iter().find(|claim| !stands(claim)) {
        let text = format!(
            "key group {group} of job \"{}\" was claimed by another instance during this one's start: two were started \
             side by side, and the older one stops; it has read and stored nothing",
            setup.spec.name
        );
        return Err(Halt::new(HaltKind::Fenced, text).into());
    }
    now.retain(|row| claims.iter().any(|(group, _)| *group == row.group));
    Ok(now)
}
