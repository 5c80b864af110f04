//! Parked events as the job writes, handles and frees them, once for both engines.
//!
//! In:        an [`Engine`], and the words of [`crate::database::parked`](crate::database::Parked)
//! Out:       statements inside of the job's transaction
//! Holds:     a key has a row as long as one of its events waits; a key is marked as long as there is something to do of it
//! Order:     keys' rows are locked before their events are looked at or touched, by rising id. Who holds a key's row decides
//!            alone what becomes of its events
//! Fails:     as the engine does; contention where the transaction is gone
//! Not here:  what a person reads and marks (`parked_reads.rs`), texts (`parked_statements.rs`)

use super::parked_reads::{self, by_key, found_rows, key_states, mark_keys, page};
use super::parked_rows::{self as rows, KeyState};
use super::parked_statements::{self as statements, NAMED_MAX};
use super::run::{group, text};
use super::{Dialect, Engine, Point};
use crate::database::{
    DatabaseError, Move, Parked, ParkedAt, ParkedDone, ParkedKey, ParkedLeft, ParkedMark, ParkedOutcome,
    ParkedRow, ParkedState, ParkedWish, Pending, Row,
};
use crate::model::{BatchNumber, KeyGroup, KeyId, Value};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

type Result<T> = std::result::Result<T, DatabaseError>;

/// Most marked keys that are worked on in one go. Each takes up to two parts of a statement.
const KEYS_AT_ONCE: u64 = 32;

/// Most rows that are deleted by one call of the engine where there may be a million.
const DELETED_AT_ONCE: usize = 1000;

impl<E: Engine> Parked for E {
    fn savepoint(&mut self) -> Pending<'_, ()> {
        self.point(Point::Set)
    }

    fn release(&mut self) -> Pending<'_, ()> {
        self.point(Point::Release)
    }

    fn undo(&mut self) -> Pending<'_, ()> {
        self.point(Point::Undo)
    }

    fn park<'a>(&'a mut self, rows: &'a [ParkedRow]) -> Pending<'a, ()> {
        Box::pin(park(self, rows))
    }

    fn parked_work(
        &mut self,
        group: KeyGroup,
        rows_max: usize,
        bytes_max: usize,
    ) -> Pending<'_, Vec<ParkedRow>> {
        Box::pin(work(self, group, rows_max, bytes_max))
    }

    fn settle_parked<'a>(&'a mut self, group: KeyGroup, done: &'a [ParkedDone]) -> Pending<'a, ParkedLeft> {
        Box::pin(settle(self, group, done))
    }

    fn parked_keys<'a>(&'a mut self, groups: &'a [KeyGroup]) -> Pending<'a, Vec<(KeyGroup, KeyId)>> {
        Box::pin(parked_reads::parked_keys(self, groups))
    }

    fn marked_groups<'a>(&'a mut self, groups: &'a [KeyGroup]) -> Pending<'a, Vec<KeyGroup>> {
        Box::pin(parked_reads::marked_groups(self, groups))
    }

    fn parked<'a>(
        &'a mut self,
        wish: &'a ParkedWish,
        after: Option<ParkedAt>,
        rows_max: usize,
        whole: bool,
    ) -> Pending<'a, Vec<ParkedRow>> {
        Box::pin(page(self, wish, after, rows_max, whole))
    }

    fn parked_by_key<'a>(
        &'a mut self,
        wish: &'a ParkedWish,
        after: Option<KeyId>,
        rows_max: usize,
    ) -> Pending<'a, Vec<ParkedKey>> {
        Box::pin(by_key(self, wish, after, rows_max))
    }

    fn mark_parked<'a>(
        &'a mut self,
        keys: &'a [(KeyGroup, KeyId)],
        mark: ParkedMark,
        drop: &'a [ParkedAt],
    ) -> Pending<'a, usize> {
        Box::pin(mark_keys(self, keys, mark, drop))
    }
}

async fn park<E: Engine>(engine: &mut E, parked: &[ParkedRow]) -> Result<()> {
    let job = text(engine.job());
    let keys: BTreeMap<KeyId, &ParkedRow> = parked.iter().map(|row| (row.key_id, row)).collect();
    let add = |(id, row): (&KeyId, &&ParkedRow)| {
        vec![job.clone(), rows::key(*id), group(row.at.group), Value::Bytes(row.key.clone())]
    };
    let keys: Vec<Row> = keys.iter().map(add).collect();
    if keys.is_empty() {
        return Ok(());
    }
    let added = engine.execute_each(Cow::Borrowed(statements::add_key(engine.dialect())), keys).await;
    // Its number counts keys, and nobody but this function knows which.
    added.map_err(|error| DatabaseError { row: None, ..error })?;
    let events = parked.iter().map(|row| rows::event(&job, row)).collect::<Result<Vec<Row>>>()?;
    engine.execute_each(Cow::Borrowed(statements::INSERT_EVENT), events).await
}

async fn work<E: Engine>(
    engine: &mut E,
    of: KeyGroup,
    rows_max: usize,
    bytes_max: usize,
) -> Result<Vec<ParkedRow>> {
    let marked = vec![text(engine.job()), group(of), Value::UInt(KEYS_AT_ONCE)];
    let marked = engine.query(Cow::Borrowed(statements::MARKED_KEYS), marked).await?;
    let marked = marked.into_iter().map(rows::marked_key).collect::<Result<BTreeSet<KeyId>>>()?;
    if marked.is_empty() {
        return Ok(Vec::new());
    }
    lock_keys(engine, &marked).await?;
    // Only now nobody changes them any more.
    let states = key_states(engine, &marked).await?;
    let sizes = first_sizes(engine, &states, rows_max.max(1)).await?;
    let mut bytes: u64 = 0;
    let bytes_max = u64::try_from(bytes_max).unwrap_or(u64::MAX);
    let mut chosen = Vec::new();
    for ((batch, place), size) in sizes {
        bytes = bytes.saturating_add(size);
        if !chosen.is_empty() && (bytes > bytes_max || chosen.len() >= rows_max) {
            break;
        }
        chosen.push(ParkedAt { group: of, batch, place });
    }
    found_rows(engine, &chosen, true).await
}

/// Where the first events of these keys stand that something is to be done about, with their bytes.
async fn first_sizes<E: Engine>(
    engine: &mut E,
    keys: &[KeyState],
    rows_max: usize,
) -> Result<BTreeMap<(BatchNumber, u32), u64>> {
    let wanted = keys.iter().flat_map(|key| {
        let retry = key.mark == Some(ParkedMark::Retry) && key.waits;
        let drops = key.mark.is_some() && key.drops;
        [retry.then_some((key.id, 0)), drops.then_some((key.id, 1))].into_iter().flatten()
    });
    let wanted: Vec<(KeyId, u64)> = wanted.collect();
    let rows_max = Value::UInt(u64::try_from(rows_max).unwrap_or(u64::MAX).min(i64::MAX.unsigned_abs()));
    let job = text(engine.job());
    let mut sizes = BTreeMap::new();
    for part in wanted.chunks(NAMED_MAX) {
        let part = parked_reads::padded(part);
        let one =
            |(id, state): &(KeyId, u64)| [job.clone(), rows::key(*id), Value::UInt(*state), rows_max.clone()];
        let parameters: Row = part.iter().flat_map(one).collect();
        let sql = statements::first_events(part.len());
        for row in engine.query(Cow::Owned(sql), parameters).await? {
            let (at, bytes) = rows::size(row)?;
            sizes.insert(at, bytes);
        }
    }
    Ok(sizes)
}

/// Locks the rows of these keys to the transaction's end, where the engine has locks of rows.
pub(super) async fn lock_keys<E: Engine>(engine: &mut E, keys: &BTreeSet<KeyId>) -> Result<()> {
    if engine.dialect() == Dialect::Sqlite || keys.is_empty() {
        return Ok(());
    }
    let job = text(engine.job());
    let keys = keys.iter().map(|id| vec![job.clone(), rows::key(*id)]).collect();
    engine.execute_each(Cow::Borrowed(statements::LOCK_KEY), keys).await
}

async fn settle<E: Engine>(engine: &mut E, of: KeyGroup, done: &[ParkedDone]) -> Result<ParkedLeft> {
    let keys: BTreeSet<KeyId> = done.iter().map(|done| done.key_id).collect();
    lock_keys(engine, &keys).await?;
    let job = text(engine.job());
    let (mut handled, mut dropped, mut refused) = (Vec::new(), Vec::new(), Vec::new());
    let mut stopped = BTreeSet::new();
    for one in done {
        let whole_key = rows::whole_key(&job, one.at);
        match &one.outcome {
            ParkedOutcome::Handled => handled.push(whole_key),
            ParkedOutcome::Dropped { at } => {
                dropped.push([rows::headers(&Vec::new())?, text(at)].into_iter().chain(whole_key).collect());
            }
            ParkedOutcome::Refused { reason, detail, at } => {
                stopped.insert(one.key_id);
                let why = [text(reason), rows::detail(detail), text(at)];
                refused.push(why.into_iter().chain(whole_key).collect());
            }
        }
    }
    each(engine, statements::DELETE_EVENT, handled).await?;
    each(engine, statements::DROP_EVENT, dropped).await?;
    each(engine, statements::REFUSE_EVENT, refused).await?;
    let freed = settle_keys(engine, &keys, &stopped).await?;
    let parameters = vec![text(engine.job()), group(of)];
    let more = !engine.query(Cow::Borrowed(statements::HAS_MARKED), parameters).await?.is_empty();
    Ok(ParkedLeft { freed, more })
}

/// Frees locked keys of which nothing waits, and gives the others the mark that fits what is left of them. `stopped`: keys that
/// are not tried any further.
async fn settle_keys<E: Engine>(
    engine: &mut E,
    keys: &BTreeSet<KeyId>,
    stopped: &BTreeSet<KeyId>,
) -> Result<Vec<KeyId>> {
    let job = text(engine.job());
    let (mut freed, mut marks) = (Vec::new(), Vec::new());
    for key in key_states(engine, keys).await? {
        let retries = key.mark == Some(ParkedMark::Retry) && !stopped.contains(&key.id);
        let mark = match (key.waits, key.drops) {
            (false, false) => {
                freed.push(key.id);
                continue;
            }
            _ if retries => key.mark,
            (_, true) => Some(ParkedMark::Sweep),
            (true, false) => None,
        };
        if mark != key.mark {
            marks.push(vec![rows::mark(mark), job.clone(), rows::key(key.id)]);
        }
    }
    each(engine, statements::SET_MARK, marks).await?;
    let gone = freed.iter().map(|id| vec![job.clone(), rows::key(*id)]).collect();
    each(engine, statements::DELETE_KEY, gone).await?;
    Ok(freed)
}

/// Takes back what comes again from the topics behind a reset, dropped or not.
pub(super) async fn take_back<E: Engine>(engine: &mut E, moves: &[Move]) -> Result<()> {
    let job = text(engine.job());
    let mut found: BTreeMap<ParkedAt, (KeyId, ParkedState)> = BTreeMap::new();
    for moved in moves {
        let partition = Value::Int(i64::from(moved.partition));
        let parameters = vec![job.clone(), text(&moved.topic), partition, Value::Int(moved.to.0)];
        for row in engine.query(Cow::Borrowed(statements::FROM_OFFSET), parameters).await? {
            let (at, key, state) = rows::key_of_event(row)?;
            found.insert(at, (key, state));
        }
    }
    // What was dropped holds no key.
    let waiting = found.values().filter(|(_, state)| *state != ParkedState::Dropped);
    let keys: BTreeSet<KeyId> = waiting.map(|(key, _)| *key).collect();
    lock_keys(engine, &keys).await?;
    let events: Vec<Row> = found.keys().map(|at| rows::whole_key(&job, *at)).collect();
    for part in events.chunks(DELETED_AT_ONCE) {
        each(engine, statements::DELETE_EVENT, part.to_vec()).await?;
    }
    settle_keys(engine, &keys, &BTreeSet::new()).await.map(|_| ())
}

pub(super) async fn each<E: Engine>(engine: &mut E, sql: &'static str, rows: Vec<Row>) -> Result<()> {
    if rows.is_empty() { Ok(()) } else { engine.execute_each(Cow::Borrowed(sql), rows).await }
}
