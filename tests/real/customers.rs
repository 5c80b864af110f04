//! The looked-up table: what an order's customer is called, with everything in it that XML must escape.

use super::sql::Sql;
use std::fmt::Write;

/// Ids go from 0 up to this one, not included.
pub const CUSTOMERS: i64 = 997;

/// The name of a customer.
pub fn name(id: i64) -> String {
    match id % 4 {
        0 => format!("Ada Lovelace {id}"),
        1 => format!("Müller & Söhne {id}"),
        2 => format!("<{id}, 東京"),
        _ => format!("Ærø 🚲 {id}"),
    }
}

/// The tier of a customer; NULL for some: then the output has no such attribute.
pub fn tier(id: i64) -> Option<String> {
    match id % 5 {
        0 => None,
        1 => Some("gold".to_owned()),
        2 => Some("silver & \"more\"".to_owned()),
        _ => Some(format!("tier {}", id % 9)),
    }
}

/// Makes the table in the schema that the connection is in.
pub fn create(sql: &mut Sql) {
    sql.run("CREATE TABLE customer (id BIGINT PRIMARY KEY, name VARCHAR(100) NOT NULL, tier VARCHAR(40))");
    let mut insert = String::from("INSERT INTO customer (id, name, tier) VALUES ");
    for id in 0..CUSTOMERS {
        let comma = if id == 0 { "" } else { "," };
        let tier = tier(id).map_or("NULL".to_owned(), |tier| format!("'{tier}'"));
        write!(insert, "{comma}({id},'{}',{tier})", name(id)).expect("memory");
    }
    sql.run(&insert);
}
