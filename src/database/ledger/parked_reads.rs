//! Parked events as they are looked for, read by a person and marked, once for both engines.
//!
//! In:        an [`Engine`], keys, places and wishes
//! Out:       what is there, read without locks; marks, in a transaction of their own
//! Order:     marking locks keys first, by rising id, as the job does
//! Fails:     as the engine does: two who cross each other are contention
//! Not here:  what the job does in its transaction (`parked.rs`), texts (`parked_statements.rs`)

use super::parked::{each, lock_keys};
use super::parked_rows::{self as rows, KeyState};
use super::parked_statements::{self as statements, NAMED_MAX, SIZES};
use super::run::{batch, finish, group, text};
use super::{Dialect, Engine};
use crate::database::{
    DatabaseError, ParkedAt, ParkedKey, ParkedMark, ParkedRow, ParkedState, ParkedWish, Row,
};
use crate::model::{KeyGroup, KeyId, Record, Value};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::iter::repeat_n;

type Result<T> = std::result::Result<T, DatabaseError>;

/// Filled up to the next size that texts are made for, with copies of the last item.
pub(super) fn padded<T: Copy>(items: &[T]) -> Vec<T> {
    let size = SIZES.into_iter().find(|size| *size >= items.len()).unwrap_or(items.len());
    let filling = items.last().into_iter().flat_map(|last| repeat_n(*last, size - items.len()));
    items.iter().copied().chain(filling).collect()
}

pub(super) async fn parked_keys<E: Engine>(
    engine: &mut E,
    groups: &[KeyGroup],
) -> Result<Vec<(KeyGroup, KeyId)>> {
    let found = of_groups(engine, groups, statements::parked_keys, rows::group_and_key).await?;
    Ok(found.into_iter().collect())
}

pub(super) async fn marked_groups<E: Engine>(engine: &mut E, groups: &[KeyGroup]) -> Result<Vec<KeyGroup>> {
    let found = of_groups(engine, groups, statements::marked_groups, rows::marked_group).await?;
    Ok(found.into_iter().collect())
}

async fn of_groups<E: Engine, T: Ord>(
    engine: &mut E,
    groups: &[KeyGroup],
    sql: fn(usize) -> String,
    read: fn(Row) -> Result<T>,
) -> Result<BTreeSet<T>> {
    let mut found = BTreeSet::new();
    for part in groups.chunks(NAMED_MAX) {
        let part = padded(part);
        let parameters = [text(engine.job())].into_iter().chain(part.iter().copied().map(group)).collect();
        for row in engine.query(Cow::Owned(sql(part.len())), parameters).await? {
            found.insert(read(row)?);
        }
    }
    Ok(found)
}

/// What is known of those of these keys that are parked, by rising id.
pub(super) async fn key_states<E: Engine>(engine: &mut E, keys: &BTreeSet<KeyId>) -> Result<Vec<KeyState>> {
    let keys: Vec<KeyId> = keys.iter().copied().collect();
    let mut found = Vec::with_capacity(keys.len());
    for part in keys.chunks(NAMED_MAX) {
        let part = padded(part);
        let parameters =
            [text(engine.job())].into_iter().chain(part.iter().map(|id| rows::key(*id))).collect();
        let sql = statements::key_states(part.len());
        for row in engine.query(Cow::Owned(sql), parameters).await? {
            found.push(rows::key_state(row)?);
        }
    }
    found.sort_by_key(|state| state.id);
    Ok(found)
}

/// These events, in order.
pub(super) async fn found_rows<E: Engine>(
    engine: &mut E,
    at: &[ParkedAt],
    whole: bool,
) -> Result<Vec<ParkedRow>> {
    let overviews = named(engine, at, statements::overviews, rows::overview).await?;
    let mut records = if whole { records(engine, at).await? } else { BTreeMap::new() };
    let mut found: Vec<ParkedRow> = overviews;
    for row in &mut found {
        if let Some(record) = records.remove(&row.at) {
            row.record = record;
        }
    }
    found.sort_by_key(|row| row.at);
    Ok(found)
}

async fn records<E: Engine>(engine: &mut E, at: &[ParkedAt]) -> Result<BTreeMap<ParkedAt, Record>> {
    Ok(named(engine, at, statements::records, rows::record).await?.into_iter().collect())
}

/// Rows that are named by their whole keys.
async fn named<E: Engine, T>(
    engine: &mut E,
    at: &[ParkedAt],
    sql: fn(usize) -> String,
    read: fn(Row) -> Result<T>,
) -> Result<Vec<T>> {
    let mut found = Vec::with_capacity(at.len());
    for part in at.chunks(NAMED_MAX) {
        let part = padded(part);
        let places = part.iter().flat_map(|at| [group(at.group), batch(at.batch), place(*at)]);
        let parameters = [text(engine.job())].into_iter().chain(places).collect();
        for row in engine.query(Cow::Owned(sql(part.len())), parameters).await? {
            found.push(read(row)?);
        }
    }
    Ok(found)
}

fn place(at: ParkedAt) -> Value {
    Value::UInt(u64::from(at.place))
}

fn limit(rows_max: usize) -> Value {
    Value::Int(i64::try_from(rows_max).unwrap_or(i64::MAX))
}

/// What narrows a statement over events, and its parameters.
fn conditions(wish: &ParkedWish) -> (String, Row) {
    let (mut sql, mut parameters) = (String::new(), Row::new());
    let mut narrow = |condition: &str, values: Row| {
        sql.push_str(" AND ");
        sql.push_str(condition);
        parameters.extend(values);
    };
    if let Some(id) = wish.key {
        narrow("key_id = ?", vec![rows::key(id)]);
    }
    if let Some(reason) = &wish.reason {
        narrow("reason = ?", vec![text(reason)]);
    }
    if let Some(since) = &wish.since {
        narrow("parked_at >= ?", vec![text(since)]);
    }
    if let Some(until) = &wish.until {
        narrow("parked_at < ?", vec![text(until)]);
    }
    if let Some((topic, partition, offset)) = &wish.source {
        let source = vec![text(topic), Value::Int(i64::from(*partition)), Value::Int(offset.0)];
        narrow("topic = ? AND partition_id = ? AND record_offset = ?", source);
    }
    (sql, parameters)
}

pub(super) async fn page<E: Engine>(
    engine: &mut E,
    wish: &ParkedWish,
    after: Option<ParkedAt>,
    rows_max: usize,
    whole: bool,
) -> Result<Vec<ParkedRow>> {
    let (conditions, wished) = conditions(wish);
    let mut parameters = vec![text(engine.job())];
    parameters.extend(wished);
    let dialect = engine.dialect();
    if let Some(at) = after {
        let (in_group, in_batch) = (group(at.group), batch(at.batch));
        parameters.extend(match dialect {
            Dialect::Sqlite => vec![in_group, in_batch, place(at)],
            Dialect::MySql => {
                vec![in_group.clone(), in_group.clone(), in_batch.clone(), in_group, in_batch, place(at)]
            }
        });
    }
    parameters.push(limit(rows_max));
    let behind = if after.is_some() { statements::behind(dialect) } else { "" };
    let sql = statements::page(&conditions, behind);
    let found = engine.query(Cow::Owned(sql), parameters).await?;
    let mut found = found.into_iter().map(rows::overview).collect::<Result<Vec<ParkedRow>>>()?;
    if whole {
        let at: Vec<ParkedAt> = found.iter().map(|row| row.at).collect();
        let mut records = records(engine, &at).await?;
        // What was handled between the two reads is not parked any more.
        found.retain_mut(|row| records.remove(&row.at).map(|record| row.record = record).is_some());
    }
    Ok(found)
}

pub(super) async fn by_key<E: Engine>(
    engine: &mut E,
    wish: &ParkedWish,
    mut after: Option<KeyId>,
    rows_max: usize,
) -> Result<Vec<ParkedKey>> {
    let mut found = Vec::new();
    while found.len() < rows_max {
        let behind = after.map_or(Value::Bytes(bytes::Bytes::new()), rows::key);
        let mut parameters = vec![text(engine.job()), behind];
        parameters.extend(wish.key.map(rows::key));
        parameters.push(limit(NAMED_MAX.min(rows_max - found.len())));
        let sql = statements::key_page(wish.key.is_some());
        let keys = engine.query(Cow::Borrowed(sql), parameters).await?;
        let keys = keys.into_iter().map(rows::key_and_mark).collect::<Result<Vec<_>>>()?;
        let Some((last, _)) = keys.last() else { break };
        after = Some(*last);
        let mut heads = heads(engine, wish, &keys).await?;
        found.extend(keys.into_iter().filter_map(|(id, mark)| {
            let (first, events) = heads.remove(&id)?;
            Some(ParkedKey { mark, events, first })
        }));
    }
    Ok(found)
}

/// The first event of each key, and how many are meant.
async fn heads<E: Engine>(
    engine: &mut E,
    wish: &ParkedWish,
    keys: &[(KeyId, Option<ParkedMark>)],
) -> Result<BTreeMap<KeyId, (ParkedRow, u64)>> {
    let (conditions, wished) = conditions(wish);
    let job = text(engine.job());
    let named = padded(keys).into_iter().map(|(id, _)| rows::key(id));
    let parameters: Row = [job.clone()].into_iter().chain(named).chain(wished.clone()).collect();
    let sql = statements::counts(padded(keys).len(), &conditions);
    let counts = engine.query(Cow::Owned(sql), parameters).await?;
    let counts = counts.into_iter().map(rows::key_and_count).collect::<Result<Vec<(KeyId, u64)>>>()?;
    let mut firsts: BTreeMap<KeyId, ParkedAt> = BTreeMap::new();
    let parts: Vec<(KeyId, u64)> = counts.iter().flat_map(|(id, _)| [(*id, 0), (*id, 1)]).collect();
    for part in parts.chunks(NAMED_MAX) {
        let part = padded(part);
        let one = |(id, state): &(KeyId, u64)| {
            [job.clone(), rows::key(*id), Value::UInt(*state)].into_iter().chain(wished.clone())
        };
        let parameters: Row = part.iter().flat_map(one).collect();
        let sql = statements::heads(part.len(), &conditions);
        for row in engine.query(Cow::Owned(sql), parameters).await? {
            let (at, id, _) = rows::key_of_event(row)?;
            firsts.entry(id).and_modify(|first| *first = at.min(*first)).or_insert(at);
        }
    }
    let firsts: Vec<ParkedAt> = firsts.into_values().collect();
    let mut counts: BTreeMap<KeyId, u64> = counts.into_iter().collect();
    let found = found_rows(engine, &firsts, false).await?.into_iter();
    let with_count = |row: ParkedRow| {
        let count = counts.remove(&row.key_id)?;
        Some((row.key_id, (row, count)))
    };
    Ok(found.filter_map(with_count).collect())
}

pub(super) async fn mark_keys<E: Engine>(
    engine: &mut E,
    keys: &[(KeyGroup, KeyId)],
    mark: ParkedMark,
    drop: &[ParkedAt],
) -> Result<usize> {
    let keys: BTreeSet<KeyId> = keys.iter().map(|(_, id)| *id).collect();
    engine.begin().await?;
    let done = mark_in_transaction(engine, &keys, mark, drop).await;
    finish(engine, done).await
}

async fn mark_in_transaction<E: Engine>(
    engine: &mut E,
    keys: &BTreeSet<KeyId>,
    mark: ParkedMark,
    drop: &[ParkedAt],
) -> Result<usize> {
    lock_keys(engine, keys).await?;
    let job = text(engine.job());
    if mark == ParkedMark::Sweep {
        let found = named(engine, drop, statements::keys_of_events, rows::key_of_event).await?;
        let meant = |(at, id, state): (ParkedAt, KeyId, ParkedState)| {
            (state == ParkedState::Waiting && keys.contains(&id)).then_some(at)
        };
        let meant: BTreeSet<ParkedAt> = found.into_iter().filter_map(meant).collect();
        let meant = meant.into_iter().map(|at| rows::whole_key(&job, at)).collect();
        each(engine, statements::MARK_EVENT, meant).await?;
    }
    let states = key_states(engine, keys).await?;
    let marks = states.iter().filter(|key| match mark {
        ParkedMark::Retry => key.mark != Some(ParkedMark::Retry),
        ParkedMark::Sweep => key.mark.is_none() && key.drops,
    });
    let marks = marks.map(|key| vec![rows::mark(Some(mark)), job.clone(), rows::key(key.id)]).collect();
    each(engine, statements::SET_MARK, marks).await?;
    Ok(states.len())
}
