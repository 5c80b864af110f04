//! The ledger's part of a session, once for both engines.
//!
//! In:        an [`Engine`], and the words of [`crate::database`]
//! Out:       statements run in the order that the protocol needs: the position rows last
//! Fails:     as the engine does; misconfigured where the ledger is missing or of another version
//! Not here:  texts (`statements.rs`), drivers

use super::create::check_version;
use super::{Engine, rows, statements};
use crate::database::{Advance, DatabaseError, ErrorClass, FrontierRow, JobRow, OutboxRow, PositionRow, Row};
use crate::model::{BatchNumber, KeyGroup, Value};
use bytes::Bytes;
use std::borrow::Cow;
use std::iter::repeat_n;

/// Most rows of one key group that are deleted without being looked for.
const KNOWN_ROWS_MAX: u64 = 8;

type Result<T> = std::result::Result<T, DatabaseError>;

/// Outbox rows in, confirmed outbox rows out, and last the positions by compare-and-set.
pub(in crate::database) async fn advance<E: Engine>(engine: &mut E, writes: &[Advance]) -> Result<bool> {
    let job = text(engine.job());
    let outbox: Vec<Row> = writes
        .iter()
        .filter_map(|write| {
            let outputs = Value::Bytes(Bytes::copy_from_slice(write.outbox.as_ref()?));
            Some(vec![job.clone(), group(write.group), batch(write.batch), outputs])
        })
        .collect();
    if !outbox.is_empty() {
        engine.execute_each(Cow::Borrowed(statements::INSERT_OUTBOX), outbox).await?;
    }
    delete_confirmed(engine, writes).await?;
    let mut matched = 0;
    let mut expected: u64 = 0;
    for part in writes.chunks(statements::GROUPS_MAX) {
        matched += compare_and_set(engine, part).await?;
        expected += part.iter().map(|_| 1).sum::<u64>();
    }
    Ok(matched == expected)
}

/// Where it is known which rows may be there, and they are few, they are deleted without being looked for: a whole key that is
/// not there locks nothing. Else, as at a key group's first batch, they are looked for.
async fn delete_confirmed<E: Engine>(engine: &mut E, writes: &[Advance]) -> Result<()> {
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for write in writes {
        let Some(confirmed) = write.confirmed else { continue };
        let behind = confirmed.0.saturating_sub(write.cleared.0);
        if write.cleared.0 > 0 && behind <= KNOWN_ROWS_MAX {
            let numbers = write.cleared.0.saturating_add(1)..=confirmed.0;
            known.extend(numbers.map(|number| (write.group, BatchNumber(number))));
        } else {
            unknown.push((write.group, confirmed));
        }
    }
    for part in unknown.chunks(statements::GROUPS_MAX) {
        let part = padded(part);
        let sql = statements::confirmed(part.len());
        for row in engine.query(Cow::Owned(sql), keys(engine.job(), &part)).await? {
            known.push(rows::outbox_key(row)?);
        }
    }
    for part in known.chunks(statements::GROUPS_MAX) {
        let part = padded(part);
        let sql = statements::delete_outbox(part.len());
        engine.execute(Cow::Owned(sql), keys(engine.job(), &part)).await?;
    }
    Ok(())
}

async fn compare_and_set<E: Engine>(engine: &mut E, writes: &[Advance]) -> Result<u64> {
    let writes: Vec<&Advance> = padded(&writes.iter().collect::<Vec<_>>());
    let mut parameters = Row::with_capacity(writes.len() * 11 + 1);
    for write in &writes {
        let output_batch = if write.outbox.is_some() { batch(write.batch) } else { Value::Null };
        parameters.extend([group(write.group), output_batch]);
    }
    for write in &writes {
        parameters.extend([group(write.group), text(&write.positions)]);
    }
    for write in &writes {
        parameters.extend([group(write.group), write.confirmed.map_or(Value::Null, batch)]);
    }
    parameters.push(text(engine.job()));
    parameters.extend(writes.iter().map(|write| group(write.group)));
    for write in &writes {
        // Before batch 0 there is none; NULL matches nothing.
        let before = write.batch.0.checked_sub(1).map_or(Value::Null, Value::UInt);
        parameters.extend([group(write.group), before]);
    }
    for write in &writes {
        parameters.extend([group(write.group), Value::UInt(write.incarnation.0)]);
    }
    engine.execute(Cow::Owned(statements::compare_and_set(writes.len())), parameters).await
}

/// Locks and reads the position rows, one after the other, in a transaction of its own.
pub(in crate::database) async fn settle<E: Engine>(
    engine: &mut E,
    groups: &[KeyGroup],
) -> Result<Vec<PositionRow>> {
    engine.begin().await?;
    let done = lock_positions(engine, groups).await;
    finish(engine, done).await
}

/// Raises the incarnations, and reads the rows back under the locks that raising them took.
pub(in crate::database) async fn claim<E: Engine>(
    engine: &mut E,
    groups: &[KeyGroup],
) -> Result<Vec<PositionRow>> {
    engine.begin().await?;
    let done = claim_rows(engine, groups).await;
    finish(engine, done).await
}

async fn claim_rows<E: Engine>(engine: &mut E, groups: &[KeyGroup]) -> Result<Vec<PositionRow>> {
    let sql = statements::claim(engine.dialect());
    let claims = sorted(groups).into_iter().map(|g| vec![text(engine.job()), group(g)]).collect::<Vec<_>>();
    if !claims.is_empty() {
        engine.execute_each(Cow::Borrowed(sql), claims).await?;
    }
    lock_positions(engine, groups).await
}

pub(super) async fn lock_positions<E: Engine>(
    engine: &mut E,
    groups: &[KeyGroup],
) -> Result<Vec<PositionRow>> {
    let sql = statements::lock_position(engine.dialect());
    let mut found = Vec::with_capacity(groups.len());
    // In one order everywhere, so that two who lock the same rows wait for each other and never deadlock.
    for each in sorted(groups) {
        let parameters = vec![text(engine.job()), group(each)];
        for row in engine.query(Cow::Borrowed(sql), parameters).await? {
            found.push(rows::position(row)?);
        }
    }
    Ok(found)
}

/// All position rows of the job, as they are committed.
pub(in crate::database) async fn positions<E: Engine>(engine: &mut E) -> Result<Vec<PositionRow>> {
    let parameters = vec![text(engine.job())];
    let found = engine.query(Cow::Borrowed(statements::POSITIONS), parameters).await?;
    found.into_iter().map(rows::position).collect()
}

/// The outbox of these key groups.
pub(in crate::database) async fn outbox<E: Engine>(
    engine: &mut E,
    groups: &[KeyGroup],
) -> Result<Vec<OutboxRow>> {
    let mut found = Vec::new();
    for part in sorted(groups).chunks(statements::GROUPS_MAX) {
        let part = padded(part);
        let mut parameters = vec![text(engine.job())];
        parameters.extend(part.iter().copied().map(group));
        let sql = statements::outbox(part.len());
        for row in engine.query(Cow::Owned(sql), parameters).await? {
            found.push(rows::outbox(row)?);
        }
    }
    Ok(found)
}

/// The job's frontier.
pub(in crate::database) async fn frontier<E: Engine>(engine: &mut E) -> Result<Vec<FrontierRow>> {
    let parameters = vec![text(engine.job())];
    let found = engine.query(Cow::Borrowed(statements::FRONTIER), parameters).await?;
    found.into_iter().map(rows::frontier).collect()
}

/// Moves rows of the frontier forward, never back; none of them where the positions were reset since.
pub(in crate::database) async fn advance_frontier<E: Engine>(
    engine: &mut E,
    frontier: &[FrontierRow],
    resets: u64,
) -> Result<bool> {
    if frontier.is_empty() {
        return Ok(true);
    }
    let mut frontier: Vec<&FrontierRow> = frontier.iter().collect();
    frontier.sort_by(|a, b| (&a.topic, a.partition).cmp(&(&b.topic, b.partition)));
    let parameters = frontier
        .into_iter()
        .map(|row| {
            let partition = Value::Int(i64::from(row.partition));
            vec![text(engine.job()), text(&row.topic), partition, Value::Int(row.next.0)]
        })
        .collect();
    engine.begin().await?;
    let done = advance_unless_reset(engine, parameters, resets).await;
    finish(engine, done).await
}

async fn advance_unless_reset<E: Engine>(engine: &mut E, moves: Vec<Row>, resets: u64) -> Result<bool> {
    let sql = statements::lock_resets(engine.dialect());
    let parameters = vec![text(engine.job())];
    let found = engine.query(Cow::Borrowed(sql), parameters).await?;
    // Before the job's first start has come to its end there is no row.
    let found = found.into_iter().next().map(rows::resets).transpose()?;
    if found.unwrap_or(0) != resets {
        return Ok(false);
    }
    let sql = statements::advance_frontier(engine.dialect());
    engine.execute_each(Cow::Borrowed(sql), moves).await.map(|()| true)
}

/// What the ledger knows of the job.
pub(in crate::database) async fn job_row<E: Engine>(engine: &mut E) -> Result<Option<JobRow>> {
    check_version(engine).await?;
    let parameters = vec![text(engine.job())];
    let found = engine.query(Cow::Borrowed(statements::JOB), parameters).await?;
    found.into_iter().next().map(rows::job).transpose()
}

/// Writes the job's row.
pub(in crate::database) async fn create_job<E: Engine>(engine: &mut E, row: &JobRow) -> Result<()> {
    let key_groups = Value::UInt(u64::from(row.key_groups));
    let parameters = vec![text(engine.job()), key_groups, text(&row.fingerprint), text(&row.ledger_id)];
    engine.begin().await?;
    let done = engine.execute(Cow::Borrowed(statements::CREATE_JOB), parameters).await;
    finish(engine, done).await.map(|_| ())
}

/// Replaces the job's fingerprint.
pub(in crate::database) async fn set_fingerprint<E: Engine>(engine: &mut E, fingerprint: &str) -> Result<()> {
    let parameters = vec![text(fingerprint), text(engine.job())];
    engine.begin().await?;
    let done = match engine.execute(Cow::Borrowed(statements::SET_FINGERPRINT), parameters).await {
        Ok(1) => Ok(()),
        Ok(_) => Err(DatabaseError::new(
            ErrorClass::Misconfigured,
            format!("the ledger has no row of the job `{}` to change", engine.job()),
        )),
        Err(error) => Err(error),
    };
    finish(engine, done).await
}

/// An update that changes nothing: it fails where the server cannot write, and costs one round trip. Before the
/// ledger exists, a question that reads nothing.
pub(in crate::database) async fn probe<E: Engine>(engine: &mut E) -> Result<()> {
    match engine.execute(Cow::Borrowed(statements::PROBE), Row::new()).await {
        Ok(_) => Ok(()),
        Err(error) if error.class == ErrorClass::Misconfigured => {
            engine.query(Cow::Borrowed("SELECT 1"), Row::new()).await.map(|_| ())
        }
        Err(error) => Err(error),
    }
}

/// Commits what went well and rolls back what did not. A rollback that fails leaves a session that nobody may use.
pub(super) async fn finish<E: Engine, T>(engine: &mut E, done: Result<T>) -> Result<T> {
    match done {
        Ok(value) => engine.commit().await.map(|()| value),
        Err(mut error) => {
            if !error.broken && engine.rollback().await.is_err() {
                error.broken = true;
            }
            Err(error)
        }
    }
}

/// Filled up to the next power of two with copies of the last item.
fn padded<T: Copy>(items: &[T]) -> Vec<T> {
    let over = items.len().next_power_of_two() - items.len();
    let filling = items.last().into_iter().flat_map(|last| repeat_n(*last, over));
    items.iter().copied().chain(filling).collect()
}

fn sorted(groups: &[KeyGroup]) -> Vec<KeyGroup> {
    let mut groups = groups.to_vec();
    groups.sort_unstable();
    groups.dedup();
    groups
}

fn keys(job: &str, keys: &[(KeyGroup, BatchNumber)]) -> Row {
    let pairs = keys.iter().flat_map(|(g, b)| [group(*g), batch(*b)]);
    [text(job)].into_iter().chain(pairs).collect()
}

pub(super) fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

pub(super) fn group(group: KeyGroup) -> Value {
    Value::UInt(u64::from(group.0))
}

pub(super) fn batch(batch: BatchNumber) -> Value {
    Value::UInt(batch.0)
}
