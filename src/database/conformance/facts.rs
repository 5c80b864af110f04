//! The schema's facts, and the plan that follows from them.

use super::fixture::{Fixture, store};

use crate::database::set_plan;
use crate::job::{ColumnKind, JobSpec, SchemaFacts, SetMode, SetPlan, TableName, check};
use std::sync::Arc;

fn name(name: &str) -> TableName {
    TableName { schema: None, name: name.to_owned() }
}

async fn read(fixture: &Fixture, tables: &[&str]) -> SchemaFacts {
    let tables: Vec<TableName> = tables.iter().map(|table| name(table)).collect();
    fixture.session(vec![store("DELETE FROM o WHERE id = ?")]).await.facts(&tables).await.unwrap()
}

fn kinds(facts: &SchemaFacts, table: &str) -> Vec<(String, ColumnKind, bool)> {
    let table = facts.tables.iter().find(|found| found.name == table).unwrap();
    table.columns.iter().map(|column| (column.name.clone(), column.kind, column.numbers)).collect()
}

pub(super) async fn what_decides_who_runs_together_is_read(fixture: Arc<Fixture>) {
    let engine = fixture.pick("ENGINE=InnoDB", "");
    let numbered = fixture.pick("INT AUTO_INCREMENT PRIMARY KEY", "INTEGER PRIMARY KEY");
    let exact = fixture.pick("VARCHAR(20) COLLATE utf8mb4_bin", "VARCHAR(20)");
    let other = fixture.pick("VARCHAR(20) COLLATE utf8mb4_lithuanian_ci", "DECIMAL(9,2)");
    fixture
        .sql(&format!(
            "CREATE TABLE O (Id {exact} NOT NULL PRIMARY KEY, n BIGINT, odd {other}, twice BIGINT GENERATED ALWAYS AS (n * 2)) \
             {engine}"
        ))
        .await;
    let links = "FOREIGN KEY (o_id) REFERENCES O (Id) ON DELETE CASCADE";
    fixture
        .sql(&format!(
            "CREATE TABLE part (no {numbered}, o_id {exact} NOT NULL, code BIGINT UNIQUE, {links}) {engine}"
        ))
        .await;
    let part_of = fixture
        .pick("CREATE UNIQUE INDEX some ON O (n, odd(3))", "CREATE UNIQUE INDEX some ON O (n, lower(odd))");
    fixture.sql(part_of).await;
    let facts = read(&fixture, &["o", "part", "nowhere"]).await;
    assert_eq!(facts.tables.len(), 2);
    assert!(facts.tables.iter().all(|table| table.is_plain && table.triggers.is_empty()));
    assert_eq!(
        kinds(&facts, "o"),
        [
            ("id".to_owned(), ColumnKind::Exact, false),
            ("n".to_owned(), ColumnKind::Integer, false),
            ("odd".to_owned(), ColumnKind::Other, false),
            ("twice".to_owned(), ColumnKind::Other, false),
        ]
    );
    assert_eq!(kinds(&facts, "part").first(), Some(&("no".to_owned(), ColumnKind::Integer, true)));
    let keys = |table: &str| -> Vec<Vec<String>> {
        let table = facts.tables.iter().find(|found| found.name == table).unwrap();
        let mut keys: Vec<Vec<String>> = table.unique.iter().map(|key| key.columns.clone()).collect();
        keys.sort();
        keys.dedup();
        keys
    };
    assert_eq!(keys("o"), [vec!["id".to_owned()], vec!["n".to_owned(), String::new()]]);
    assert_eq!(keys("part"), [["code"], ["no"]]);
    let [link] = facts.links.as_slice() else { panic!("{:?}", facts.links) };
    assert_eq!((link.child.as_str(), link.parent.as_str(), link.cascades), ("part", "o", true));
    assert_eq!(link.columns, [("o_id".to_owned(), "id".to_owned())]);
    // From the parent's side it is the same one.
    assert_eq!(read(&fixture, &["o"]).await.links, facts.links);
}

pub(super) async fn what_a_table_of_another_kind_is(fixture: Arc<Fixture>) {
    fixture.sql("CREATE TABLE o (id VARCHAR(20) PRIMARY KEY, a INT)").await;
    fixture.sql("CREATE VIEW seen AS SELECT id FROM o").await;
    fixture
        .sql(fixture.pick(
            "CREATE TRIGGER peek BEFORE INSERT ON o FOR EACH ROW SET NEW.a = 1",
            "CREATE TRIGGER peek BEFORE INSERT ON o BEGIN SELECT 1; END",
        ))
        .await;
    let odd =
        fixture.pick("CREATE TABLE odd (id INT) ENGINE=MyISAM", "CREATE VIRTUAL TABLE odd USING fts5(id)");
    fixture.sql(odd).await;
    let facts = read(&fixture, &["o", "seen", "odd"]).await;
    let plain: Vec<(&str, bool)> =
        facts.tables.iter().map(|table| (table.name.as_str(), table.is_plain)).collect();
    assert_eq!(plain, [("o", true), ("seen", false), ("odd", false)]);
    assert_eq!(facts.tables[0].triggers, ["peek"]);
    let capitals = fixture.pick(
        "CREATE TABLE folded (id VARCHAR(20) COLLATE utf8mb4_general_ci PRIMARY KEY)",
        "CREATE TABLE folded (id TEXT COLLATE NOCASE PRIMARY KEY)",
    );
    fixture.sql(capitals).await;
    assert_eq!(
        kinds(&read(&fixture, &["folded"]).await, "folded"),
        [("id".to_owned(), ColumnKind::Folded, false)]
    );
}

fn spec(fixture: &Fixture, steps: &[&str]) -> JobSpec {
    let step = |sql: &&str| {
        let verb = if sql.starts_with("SELECT") { "lookup" } else { "store" };
        format!("[[database.steps]]\n{verb} = \"{sql}\"\n")
    };
    let url = fixture.pick("mysql://a@h/s", "sqlite:a.db");
    let text = format!(
        "[job]\nname = \"j\"\n[source]\nbootstrap_servers = \"a:1\"\ntopics = [\"t\"]\n[event.fields]\n\
         id = {{ path = \"@id\", type = \"text\" }}\n[database]\nurl = \"{url}\"\n{}",
        steps.iter().map(step).collect::<String>()
    );
    check("job.toml", &text, &|_| None).unwrap().spec
}

async fn plan(fixture: &Fixture, steps: &[&str]) -> SetPlan {
    let mut session = fixture.session(Vec::new()).await;
    set_plan(&spec(fixture, steps), &mut *session).await.unwrap()
}

pub(super) async fn a_plan_follows_links_and_the_schema(fixture: Arc<Fixture>) {
    let text = fixture.pick("VARCHAR(20) COLLATE utf8mb4_bin", "TEXT");
    fixture.sql(&format!("CREATE TABLE a (id {text} NOT NULL PRIMARY KEY, n INT)")).await;
    fixture
        .sql(&format!(
            "CREATE TABLE b (id {text} NOT NULL PRIMARY KEY, a_id {text} NOT NULL, \
             FOREIGN KEY (a_id) REFERENCES a (id) ON DELETE CASCADE)"
        ))
        .await;
    fixture
        .sql(&format!(
            "CREATE TABLE c (id {text} NOT NULL PRIMARY KEY, b_id {text} NOT NULL, \
             FOREIGN KEY (b_id) REFERENCES b (id) ON DELETE CASCADE)"
        ))
        .await;
    let asks = "SELECT id FROM c WHERE id = :id";
    let found = plan(&fixture, &[asks, "DELETE FROM a WHERE id = :id"]).await;
    assert_eq!(found.mode, SetMode::OneByOne, "{found:?}");
    assert!(found.runs[1].why.contains("rows of `c`"), "{found:?}");
    let found = plan(&fixture, &[asks, "UPDATE a SET n = 1 WHERE id = :id"]).await;
    assert_eq!(found.mode, SetMode::Together, "{found:?}");
    let upsert = fixture.pick(
        "INSERT INTO a (id, n) VALUES (:id, 1) ON DUPLICATE KEY UPDATE n = n + 1",
        "INSERT INTO a (id, n) VALUES (:id, 1) ON CONFLICT (id) DO UPDATE SET n = n + 1",
    );
    let found = plan(&fixture, &["SELECT n FROM a WHERE id = :id", upsert]).await;
    assert_eq!(found.mode, SetMode::Waves, "{found:?}");
    fixture.sql("CREATE UNIQUE INDEX further ON a (n)").await;
    let found = plan(&fixture, &["SELECT n FROM a WHERE id = :id", upsert]).await;
    assert_eq!(found.mode, SetMode::OneByOne, "{found:?}");
    assert!(found.runs[0].why.contains("further"), "{found:?}");
}
