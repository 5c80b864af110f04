//! What a column holds, from its declared type; and how the columns of a table are asked for.
//!
//! In:        the engine's catalogue     Out: [`Column`]s, and what they hold
//! Fails:     a type that is not known here holds anything: better no word than a wrong one

use super::{Column, ColumnEngine};
use crate::database::DatabaseError;
use crate::database::ledger::{Dialect, Engine};
use crate::model::Value;
use std::borrow::Cow;

/// What fits into a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// Whole numbers of a range.
    Whole { least: i128, most: i128 },
    /// Digits in all, and behind the point.
    Decimal { precision: u8, scale: u8 },
    /// IEEE 754 of 32 bits.
    Float,
    /// Of 64.
    Double,
    /// SQLite's number: of 64 bits, whatever it was.
    Real,
    /// So many characters.
    Chars(u64),
    /// A time of day or a timestamp, with so many digits of a second's fraction.
    Clock { digits: u8 },
    /// A day.
    Day,
    /// Anything, or not known.
    Anything,
}

/// The columns of a table; none: there is no such table.
pub(in crate::database) async fn columns<E: Engine>(
    engine: &mut E,
    schema: Option<&str>,
    table: &str,
) -> Result<Vec<Column>, DatabaseError> {
    let (text, of) = match engine.dialect() {
        Dialect::MySql => (
            "SELECT COLUMN_NAME, CAST(COLUMN_TYPE AS CHAR) FROM information_schema.COLUMNS \
             WHERE TABLE_SCHEMA = COALESCE(?, DATABASE()) AND TABLE_NAME = ? ORDER BY ORDINAL_POSITION",
            ColumnEngine::MySql,
        ),
        Dialect::Sqlite => {
            ("SELECT name, type FROM pragma_table_info(?2, COALESCE(?1, 'main'))", ColumnEngine::Sqlite)
        }
    };
    let schema = schema.map_or(Value::Null, |schema| Value::Text(schema.to_owned()));
    let rows = engine.query(Cow::Borrowed(text), vec![schema, Value::Text(table.to_owned())]).await?;
    let column = |row: Vec<Value>| match <[Value; 2]>::try_from(row) {
        Ok([Value::Text(name), Value::Text(declared)]) => Some(Column { name, declared, engine: of }),
        _ => None,
    };
    Ok(rows.into_iter().filter_map(column).collect())
}

impl Column {
    pub(super) fn holds(&self) -> Holds {
        let declared = self.declared.to_ascii_lowercase();
        match self.engine {
            ColumnEngine::MySql => of_mysql(&declared),
            ColumnEngine::Sqlite => of_sqlite(&declared),
        }
    }
}

fn of_mysql(declared: &str) -> Holds {
    let word: String = declared.chars().take_while(char::is_ascii_alphabetic).collect();
    let behind = declared.get(word.len()..).unwrap_or("");
    let within =
        behind.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or("", |(within, _)| within);
    let numbers: Vec<u64> = within.split(',').filter_map(|number| number.trim().parse().ok()).collect();
    let number = |at: usize| numbers.get(at).copied();
    let small = |number: Option<u64>| number.and_then(|number| u8::try_from(number).ok());
    let unsigned = declared.contains("unsigned");
    match word.as_str() {
        "tinyint" => whole(8, unsigned),
        "smallint" => whole(16, unsigned),
        "mediumint" => whole(24, unsigned),
        "int" | "integer" => whole(32, unsigned),
        "bigint" => whole(64, unsigned),
        "decimal" | "numeric" => match (small(number(0)), small(number(1))) {
            (Some(precision), scale) => Holds::Decimal { precision, scale: scale.unwrap_or(0) },
            (None, _) => Holds::Anything,
        },
        "float" => Holds::Float,
        "double" => Holds::Double,
        "char" | "varchar" => number(0).map_or(Holds::Anything, Holds::Chars),
        "datetime" | "timestamp" | "time" => Holds::Clock { digits: small(number(0)).unwrap_or(0) },
        "date" => Holds::Day,
        _ => Holds::Anything,
    }
}

fn whole(bits: u32, unsigned: bool) -> Holds {
    let size = 1_i128 << bits;
    if unsigned {
        Holds::Whole { least: 0, most: size - 1 }
    } else {
        Holds::Whole { least: -size / 2, most: size / 2 - 1 }
    }
}

/// SQLite keeps what it is given, but for what a column's affinity makes of text that is a number.
fn of_sqlite(declared: &str) -> Holds {
    let has = |word: &str| declared.contains(word);
    // The order is that of SQLite's own rules.
    if has("int") {
        return Holds::Whole { least: i128::from(i64::MIN), most: i128::from(i64::MAX) };
    }
    if has("char") || has("clob") || has("text") || has("blob") || declared.is_empty() {
        return Holds::Anything;
    }
    Holds::Real
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_mysql() {
        for (declared, holds) in [
            ("int(11)", Holds::Whole { least: -2_147_483_648, most: 2_147_483_647 }),
            ("tinyint(3) unsigned", Holds::Whole { least: 0, most: 255 }),
            ("mediumint", Holds::Whole { least: -8_388_608, most: 8_388_607 }),
            ("bigint(20) unsigned zerofill", Holds::Whole { least: 0, most: i128::from(u64::MAX) }),
            ("decimal(10,2)", Holds::Decimal { precision: 10, scale: 2 }),
            ("varchar(20)", Holds::Chars(20)),
            ("CHAR(1)", Holds::Chars(1)),
            ("datetime", Holds::Clock { digits: 0 }),
            ("timestamp(6)", Holds::Clock { digits: 6 }),
            ("time(3)", Holds::Clock { digits: 3 }),
            ("date", Holds::Day),
            ("float", Holds::Float),
            ("double", Holds::Double),
            ("longtext", Holds::Anything),
            ("enum('int','char(1)')", Holds::Anything),
            ("varbinary(20)", Holds::Anything),
            ("geometry", Holds::Anything),
            ("", Holds::Anything),
        ] {
            assert_eq!(of_mysql(&declared.to_ascii_lowercase()), holds, "{declared}");
        }
    }

    #[test]
    fn types_of_sqlite() {
        let int64 = Holds::Whole { least: i128::from(i64::MIN), most: i128::from(i64::MAX) };
        for (declared, holds) in [
            ("integer", int64.clone()),
            ("bigint", int64),
            ("text", Holds::Anything),
            ("varchar(5)", Holds::Anything),
            ("blob", Holds::Anything),
            ("", Holds::Anything),
            ("real", Holds::Real),
            ("decimal(10,2)", Holds::Real),
            ("numeric", Holds::Real),
        ] {
            assert_eq!(of_sqlite(declared), holds, "{declared}");
        }
    }
}
