//! Rows of the ledger, out of the values that an engine read.
//!
//! In:        [`Row`]s of the statements of `statements.rs`, columns in their order
//! Out:       the words of [`crate::database`]
//! Fails:     misconfigured: a value that the ledger cannot have written

use crate::database::{
    DatabaseError, ErrorClass, FrontierRow, JobRow, Move, OutboxRow, PositionRow, ResetRow, Row, TopicRow,
};
use crate::model::{BatchNumber, Incarnation, KeyGroup, KeyId, NextOffset, Value};
use bytes::Bytes;

pub(super) fn position(row: Row) -> Result<PositionRow, DatabaseError> {
    let mut columns = Columns::of("tidegate_position", row);
    Ok(PositionRow {
        group: columns.group()?,
        incarnation: Incarnation(columns.unsigned()?),
        batch: BatchNumber(columns.unsigned()?),
        output_batch: BatchNumber(columns.unsigned()?),
        positions: columns.text()?,
        confirmed: BatchNumber(columns.unsigned()?),
    })
}

pub(super) fn outbox(row: Row) -> Result<OutboxRow, DatabaseError> {
    let mut columns = Columns::of("tidegate_outbox", row);
    Ok(OutboxRow {
        group: columns.group()?,
        batch: BatchNumber(columns.unsigned()?),
        outputs: columns.bytes()?,
    })
}

pub(super) fn outbox_key(row: Row) -> Result<(KeyGroup, BatchNumber), DatabaseError> {
    let mut columns = Columns::of("tidegate_outbox", row);
    Ok((columns.group()?, BatchNumber(columns.unsigned()?)))
}

pub(super) fn frontier(row: Row) -> Result<FrontierRow, DatabaseError> {
    let mut columns = Columns::of("tidegate_frontier", row);
    let topic = columns.text()?;
    let partition = i32::try_from(columns.signed()?).map_err(|_| columns.strange())?;
    Ok(FrontierRow { topic, partition, next: NextOffset(columns.signed()?) })
}

pub(super) fn job(row: Row) -> Result<JobRow, DatabaseError> {
    let mut columns = Columns::of("tidegate_job", row);
    let key_groups = u32::try_from(columns.unsigned()?).map_err(|_| columns.strange())?;
    Ok(JobRow {
        key_groups,
        fingerprint: columns.text()?,
        ledger_id: columns.text()?,
        resets: columns.unsigned()?,
        marked_group: columns.text()?,
    })
}

pub(super) fn resets(row: Row) -> Result<u64, DatabaseError> {
    Columns::of("tidegate_job", row).unsigned()
}

pub(super) fn topic(row: Row) -> Result<TopicRow, DatabaseError> {
    let mut columns = Columns::of("tidegate_topic", row);
    Ok(TopicRow { topic: columns.text()?, id: columns.text()? })
}

pub(super) fn reset(row: Row) -> Result<ResetRow, DatabaseError> {
    let mut columns = Columns::of("tidegate_reset", row);
    let number = columns.unsigned()?;
    let at = columns.text()?;
    let topic = columns.text()?;
    let partition = i32::try_from(columns.signed()?).map_err(|_| columns.strange())?;
    let moved = Move {
        topic,
        partition,
        from: NextOffset(columns.signed()?),
        handled: NextOffset(columns.signed()?),
        to: NextOffset(columns.signed()?),
    };
    Ok(ResetRow { number, at, moved })
}

pub(super) fn version(row: Row) -> Result<u64, DatabaseError> {
    Columns::of("tidegate_ledger", row).unsigned()
}

/// Takes one column after the other.
pub(super) struct Columns {
    table: &'static str,
    rest: std::vec::IntoIter<Value>,
}

impl Columns {
    pub(super) fn of(table: &'static str, row: Row) -> Columns {
        Columns { table, rest: row.into_iter() }
    }

    pub(super) fn strange(&self) -> DatabaseError {
        let message = format!(
            "a row of `{}` holds something that Tidegate does not write; restore the table or start with a new one",
            self.table
        );
        DatabaseError::new(ErrorClass::Misconfigured, message)
    }

    pub(super) fn signed(&mut self) -> Result<i64, DatabaseError> {
        match self.rest.next() {
            Some(Value::Int(number)) => Ok(number),
            Some(Value::UInt(number)) => i64::try_from(number).map_err(|_| self.strange()),
            _ => Err(self.strange()),
        }
    }

    pub(super) fn unsigned(&mut self) -> Result<u64, DatabaseError> {
        match self.rest.next() {
            Some(Value::UInt(number)) => Ok(number),
            Some(Value::Int(number)) => u64::try_from(number).map_err(|_| self.strange()),
            _ => Err(self.strange()),
        }
    }

    pub(super) fn group(&mut self) -> Result<KeyGroup, DatabaseError> {
        let number = self.unsigned()?;
        u32::try_from(number).map(KeyGroup).map_err(|_| self.strange())
    }

    pub(super) fn text(&mut self) -> Result<String, DatabaseError> {
        match self.rest.next() {
            Some(Value::Text(text)) => Ok(text),
            _ => Err(self.strange()),
        }
    }

    fn bytes(&mut self) -> Result<Vec<u8>, DatabaseError> {
        match self.rest.next() {
            Some(Value::Bytes(bytes)) => Ok(bytes.to_vec()),
            _ => Err(self.strange()),
        }
    }

    pub(super) fn number(&mut self) -> Result<u32, DatabaseError> {
        let number = self.unsigned()?;
        u32::try_from(number).map_err(|_| self.strange())
    }

    pub(super) fn optional_signed(&mut self) -> Result<Option<i64>, DatabaseError> {
        if let Some(Value::Null) = self.rest.as_slice().first() {
            self.rest.next();
            return Ok(None);
        }
        self.signed().map(Some)
    }

    /// Bytes, without a copy; none: NULL.
    pub(super) fn blob(&mut self) -> Result<Option<Bytes>, DatabaseError> {
        match self.rest.next() {
            Some(Value::Null) => Ok(None),
            Some(Value::Bytes(bytes)) => Ok(Some(bytes)),
            _ => Err(self.strange()),
        }
    }

    pub(super) fn key_id(&mut self) -> Result<KeyId, DatabaseError> {
        let bytes = self.bytes()?;
        let bytes: [u8; 16] = bytes.as_slice().try_into().map_err(|_| self.strange())?;
        Ok(KeyId(u128::from_be_bytes(bytes)))
    }
}
