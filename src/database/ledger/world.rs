//! What the ledger remembers of the world outside, and the resets of positions.
//!
//! In:        an [`Engine`], and the words of [`crate::database`]
//! Out:       topics with their ids, the group that was marked, resets
//! Order:     a reset takes the job's row first: a frontier that moves meanwhile waits, and is then refused
//! Fails:     as the engine does

use super::parked::take_back;
use super::run::{batch, finish, group, lock_positions, text};
use super::{Dialect, Engine, rows};
use crate::database::{DatabaseError, Reset, ResetRow, Row, TopicRow};
use crate::model::{KeyGroup, Value};
use std::borrow::Cow;

type Result<T> = std::result::Result<T, DatabaseError>;

const TOPICS: &str = "SELECT topic, topic_id FROM tidegate_topic WHERE job = ? ORDER BY topic";
const MARK_GROUP: &str = "UPDATE tidegate_job SET marked_group = ? WHERE job = ?";
const RAISE_RESETS: &str = "UPDATE tidegate_job SET resets = resets + 1 WHERE job = ?";
const SET_POSITION: &str = "UPDATE tidegate_position SET batch = ?, output_batch = ?, confirmed_batch = ?, positions = ? \
     WHERE job = ? AND key_group = ?";
const EMPTY_OUTBOX: &str = "DELETE FROM tidegate_outbox WHERE job = ?";
const INSERT_RESET: &str = "INSERT INTO tidegate_reset \
     (job, reset_number, topic, partition_id, reset_at, from_offset, handled_offset, to_offset) \
     SELECT job, resets, ?, ?, ?, ?, ?, ? FROM tidegate_job WHERE job = ?";
const RESETS: &str = "SELECT reset_number, reset_at, topic, partition_id, from_offset, handled_offset, to_offset \
     FROM tidegate_reset WHERE job = ? ORDER BY reset_number, topic, partition_id";

fn set_topic(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::MySql => {
            "INSERT INTO tidegate_topic (job, topic, topic_id) VALUES (?, ?, ?) \
             ON DUPLICATE KEY UPDATE topic_id = VALUES(topic_id)"
        }
        Dialect::Sqlite => {
            "INSERT INTO tidegate_topic (job, topic, topic_id) VALUES (?, ?, ?) \
             ON CONFLICT (job, topic) DO UPDATE SET topic_id = excluded.topic_id"
        }
    }
}

fn set_frontier(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::MySql => {
            "INSERT INTO tidegate_frontier (job, topic, partition_id, next_offset) VALUES (?, ?, ?, ?) \
             ON DUPLICATE KEY UPDATE next_offset = VALUES(next_offset)"
        }
        Dialect::Sqlite => {
            "INSERT INTO tidegate_frontier (job, topic, partition_id, next_offset) VALUES (?, ?, ?, ?) \
             ON CONFLICT (job, topic, partition_id) DO UPDATE SET next_offset = excluded.next_offset"
        }
    }
}

/// The topics that the job knows, with their ids.
pub(in crate::database) async fn topics<E: Engine>(engine: &mut E) -> Result<Vec<TopicRow>> {
    let parameters = vec![text(engine.job())];
    let found = engine.query(Cow::Borrowed(TOPICS), parameters).await?;
    found.into_iter().map(rows::topic).collect()
}

/// Writes topics and their ids.
pub(in crate::database) async fn remember_topics<E: Engine>(
    engine: &mut E,
    topics: &[TopicRow],
) -> Result<()> {
    if topics.is_empty() {
        return Ok(());
    }
    engine.begin().await?;
    let done = set_topics(engine, topics).await;
    finish(engine, done).await
}

async fn set_topics<E: Engine>(engine: &mut E, topics: &[TopicRow]) -> Result<()> {
    let job = text(engine.job());
    let mut topics: Vec<&TopicRow> = topics.iter().collect();
    topics.sort_by(|a, b| a.topic.cmp(&b.topic));
    let rows: Vec<Row> =
        topics.into_iter().map(|topic| vec![job.clone(), text(&topic.topic), text(&topic.id)]).collect();
    let sql = set_topic(engine.dialect());
    if rows.is_empty() { Ok(()) } else { engine.execute_each(Cow::Borrowed(sql), rows).await }
}

/// Writes down to which group the job's marks go.
pub(in crate::database) async fn mark_group<E: Engine>(engine: &mut E, name: &str) -> Result<()> {
    let parameters = vec![text(name), text(engine.job())];
    engine.begin().await?;
    let done = engine.execute(Cow::Borrowed(MARK_GROUP), parameters).await;
    finish(engine, done).await.map(|_| ())
}

/// Moves positions, in one transaction; `false`: the claims do not stand any more, and nothing was moved.
pub(in crate::database) async fn reset<E: Engine>(engine: &mut E, reset: &Reset) -> Result<bool> {
    engine.begin().await?;
    let done = reset_claimed(engine, reset).await;
    if let Ok(false) = done {
        engine.rollback().await?;
        return Ok(false);
    }
    finish(engine, done).await
}

async fn reset_claimed<E: Engine>(engine: &mut E, reset: &Reset) -> Result<bool> {
    let job = text(engine.job());
    if engine.execute(Cow::Borrowed(RAISE_RESETS), vec![job.clone()]).await? != 1 {
        return Ok(false);
    }
    let groups: Vec<KeyGroup> = reset.positions.iter().map(|row| row.group).collect();
    let found = lock_positions(engine, &groups).await?;
    let stands = |row: &crate::database::PositionRow| {
        found.iter().any(|now| now.group == row.group && now.incarnation == row.incarnation)
    };
    if !reset.positions.iter().all(stands) {
        return Ok(false);
    }
    for row in &reset.positions {
        let (positions, confirmed) = (text(&row.positions), batch(row.confirmed));
        let parameters = vec![
            batch(row.batch),
            batch(row.output_batch),
            confirmed,
            positions,
            job.clone(),
            group(row.group),
        ];
        engine.execute(Cow::Borrowed(SET_POSITION), parameters).await?;
    }
    engine.execute(Cow::Borrowed(EMPTY_OUTBOX), vec![job.clone()]).await?;
    let number = |number: i64| Value::Int(number);
    let mut frontier = Vec::new();
    for moved in &reset.moves {
        let at = [text(&moved.topic), number(i64::from(moved.partition))];
        let offsets = [moved.from, moved.handled, moved.to].map(|next| number(next.0));
        let row: Row =
            at.iter().cloned().chain([text(&reset.at)]).chain(offsets).chain([job.clone()]).collect();
        engine.execute(Cow::Borrowed(INSERT_RESET), row).await?;
        frontier.push([job.clone()].into_iter().chain(at).chain([number(moved.to.0)]).collect::<Row>());
    }
    if !frontier.is_empty() {
        let sql = set_frontier(engine.dialect());
        engine.execute_each(Cow::Borrowed(sql), frontier).await?;
    }
    set_topics(engine, &reset.topics).await?;
    take_back(engine, &reset.moves).await?;
    Ok(true)
}

/// All resets of the job, oldest first.
pub(in crate::database) async fn resets<E: Engine>(engine: &mut E) -> Result<Vec<ResetRow>> {
    let parameters = vec![text(engine.job())];
    let found = engine.query(Cow::Borrowed(RESETS), parameters).await?;
    found.into_iter().map(rows::reset).collect()
}
