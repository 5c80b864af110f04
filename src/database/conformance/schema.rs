//! The user's own tables, read; and a transaction that only reads.

use super::fixture::{Fixture, error, lookup, store, text};

use crate::database::{Table, TableColumn};
use crate::model::Value;
use std::sync::Arc;

fn column(name: &str, declared: &str, marks: &str) -> TableColumn {
    TableColumn {
        name: name.to_owned(),
        declared: declared.to_owned(),
        nullable: marks.contains('n'),
        has_default: marks.contains('d'),
        in_key: marks.contains('k'),
    }
}

pub(super) async fn tables_are_read_with_their_columns(fixture: Arc<Fixture>) {
    let number = fixture.pick("INT AUTO_INCREMENT PRIMARY KEY", "INTEGER PRIMARY KEY");
    fixture
        .sql(&format!(
            "CREATE TABLE orders (id {number}, Total DECIMAL(12,2) NOT NULL, note VARCHAR(40), state VARCHAR(8) NOT NULL DEFAULT 'new')"
        ))
        .await;
    fixture
        .sql("CREATE TABLE a_line (order_id INT NOT NULL, no INT NOT NULL, PRIMARY KEY (order_id, no))")
        .await;
    fixture.sql("CREATE VIEW seen AS SELECT id FROM orders").await;
    // The ledger's own tables are nobody's matter.
    let mut session = fixture.ledger(Vec::new()).await;
    let mut found = session.tables().await.unwrap();
    // A whole number's width is what the server makes of it, and nobody's choice.
    for column in found.iter_mut().flat_map(|table| &mut table.columns) {
        column.declared =
            column.declared.to_ascii_lowercase().replace("int(11)", "int").replace("integer", "int");
    }
    let table =
        |name: &str, columns: &[TableColumn]| Table { name: name.to_owned(), columns: columns.to_vec() };
    assert_eq!(
        found,
        [
            table("a_line", &[column("order_id", "int", "k"), column("no", "int", "k")]),
            table(
                "orders",
                &[
                    column("id", "int", "kd"),
                    column("Total", "decimal(12,2)", ""),
                    column("note", "varchar(40)", "n"),
                    column("state", "varchar(8)", "d"),
                ]
            ),
        ]
    );
}

pub(super) async fn what_only_reads_changes_nothing(fixture: Arc<Fixture>) {
    fixture.sql("CREATE TABLE c (id INT PRIMARY KEY, name VARCHAR(20))").await;
    fixture.sql("INSERT INTO c VALUES (1, 'a')").await;
    let steps = vec![
        lookup("SELECT name FROM c WHERE id = ?", &["name"]),
        store("INSERT INTO c (id, name) VALUES (?, ?)"),
    ];
    let mut session = fixture.session(steps).await;
    session.begin_reading().await.unwrap();
    let found = session.lookup(0, &[vec![Value::Int(1)]]).await.unwrap();
    assert_eq!(found, [Some(vec![text("a")])]);
    error(session.store(1, &[vec![Value::Int(2), text("b")]]).await);
    session.rollback().await.unwrap();
    // The session is as it was.
    session.begin().await.unwrap();
    session.store(1, &[vec![Value::Int(3), text("c")]]).await.unwrap();
    session.commit().await.unwrap();
    assert_eq!(fixture.column("SELECT name FROM c ORDER BY id").await, ["a", "c"]);
}
