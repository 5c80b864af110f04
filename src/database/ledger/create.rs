//! The making of the ledger's tables, and of a newer version out of an older one.
//!
//! In:        an [`Engine`]     Out: tables of this program's version
//! Order:     tables, then columns, then the version: whoever sees the version sees all of it
//! Fails:     misconfigured: a version that this program does not know; rights: not allowed to create or alter
//! Not here:  the statements (`tables.rs`)

use super::run::finish;
use super::tables::{Addition, RAISE_VERSION, additions, is_older, raise};
use super::{Engine, TABLES, VERSION, ddl, rows, statements};
use crate::database::{DatabaseError, ErrorClass, LedgerState, Row};
use std::borrow::Cow;

type Result<T> = std::result::Result<T, DatabaseError>;

/// Creates what is missing of the tables, then checks their version.
pub(in crate::database) async fn create<E: Engine>(engine: &mut E) -> Result<()> {
    let missing = missing_tables(engine).await?;
    if !missing.is_empty() {
        engine.begin().await?;
        let done = create_tables(engine, &missing).await;
        finish(engine, done).await?;
    }
    if let Some(from) = version(engine).await?.filter(|from| is_older(*from)) {
        raise_version(engine, from).await?;
    }
    check_version(engine).await
}

/// Adds the columns that an older version lacks. Several may do so at a time, and each step may have been done before.
async fn raise_version<E: Engine>(engine: &mut E, from: u64) -> Result<()> {
    for addition in additions(engine.dialect(), from) {
        if has(engine, &addition).await? {
            continue;
        }
        let added = engine.execute(Cow::Owned(addition.sql()), Row::new()).await;
        if let Err(error) = added
            && !has(engine, &addition).await?
        {
            return Err(not_raised(engine, from, error));
        }
    }
    engine.execute(Cow::Borrowed(RAISE_VERSION), Row::new()).await.map(|_| ())
}

async fn has<E: Engine>(engine: &mut E, addition: &Addition) -> Result<bool> {
    let sql = format!("SELECT {} FROM {} WHERE 1 = 0", addition.column, addition.table);
    match engine.query(Cow::Owned(sql), Row::new()).await {
        Ok(_) => Ok(true),
        Err(error) if error.class == ErrorClass::Misconfigured => Ok(false),
        Err(error) => Err(error),
    }
}

fn not_raised<E: Engine>(engine: &E, from: u64, mut error: DatabaseError) -> DatabaseError {
    if error.class == ErrorClass::Rights {
        error.message = format!(
            "the ledger's tables have version {from}, and this account may not alter them; run these statements with one that \
             may, and start again: {}; the server said: {}",
            raise(engine.dialect(), from).join("; "),
            error.message
        );
    }
    error
}

/// What stands there, without changing anything.
pub(in crate::database) async fn state<E: Engine>(engine: &mut E) -> Result<LedgerState> {
    match version(engine).await {
        Ok(Some(VERSION)) => {
            let missing = missing_tables(engine).await?;
            Ok(if missing.is_empty() { LedgerState::Ready } else { LedgerState::Missing })
        }
        Ok(Some(version)) if is_older(version) => Ok(LedgerState::Older(version)),
        Ok(_) => check_version(engine).await.map(|()| LedgerState::Ready),
        Err(error) if error.class == ErrorClass::Misconfigured => Ok(LedgerState::Missing),
        Err(error) => Err(error),
    }
}

async fn missing_tables<E: Engine>(engine: &mut E) -> Result<Vec<&'static str>> {
    let mut missing = Vec::new();
    for table in TABLES {
        let sql = format!("SELECT 1 FROM {table} WHERE 1 = 0");
        match engine.query(Cow::Owned(sql), Row::new()).await {
            Ok(_) => {}
            // Without rights on a table, a server says so whether or not the table is there.
            Err(error) if matches!(error.class, ErrorClass::Misconfigured | ErrorClass::Rights) => {
                missing.push(table);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(missing)
}

async fn create_tables<E: Engine>(engine: &mut E, missing: &[&str]) -> Result<()> {
    for sql in ddl(engine.dialect()) {
        if let Err(mut error) = engine.execute(Cow::Owned(sql), Row::new()).await {
            if error.class == ErrorClass::Rights {
                error.message = format!(
                    "the ledger's tables ({}) are missing, or this account has no rights on them, and it may not create \
                     them; run the statements that `tidegate check` prints with an account that may, and grant \
                     SELECT, INSERT, UPDATE and DELETE on them: {}",
                    missing.join(", "),
                    error.message
                );
            }
            return Err(error);
        }
    }
    Ok(())
}

/// The version that is written down; none: the row is missing.
async fn version<E: Engine>(engine: &mut E) -> Result<Option<u64>> {
    match engine.query(Cow::Borrowed(statements::VERSION), Row::new()).await {
        Ok(found) => found.into_iter().next().map(rows::version).transpose(),
        Err(mut error) if error.class == ErrorClass::Misconfigured => {
            error.message = format!("the ledger's tables are missing: {}", error.message);
            Err(error)
        }
        Err(error) => Err(error),
    }
}

pub(super) async fn check_version<E: Engine>(engine: &mut E) -> Result<()> {
    let found = version(engine).await?;
    if found == Some(VERSION) {
        return Ok(());
    }
    let what = match found {
        Some(version) if is_older(version) => "the next `tidegate run` adds what is missing",
        Some(_) => "it was made by another Tidegate: use that one",
        None => "restore the row, or the tables",
    };
    let found = found.map_or_else(|| "no version".to_owned(), |version| format!("version {version}"));
    Err(DatabaseError::new(
        ErrorClass::Misconfigured,
        format!(
            "the ledger's tables have {found} (row 1 of `tidegate_ledger`), and this program reads and writes version \
             {VERSION}: {what}"
        ),
    ))
}
