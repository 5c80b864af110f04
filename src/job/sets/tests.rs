//! Plans: which jobs run together, in waves, or one by one, each with its reason.

use super::*;
use crate::job::check;
use std::sync::LazyLock;

/// Steps: a look-up begins with `SELECT`.
fn spec(kind: &str, steps: &[&str], database: &str) -> JobSpec {
    spec_and(kind, steps, database, "")
}

fn spec_and(kind: &str, steps: &[&str], database: &str, more: &str) -> JobSpec {
    let step = |sql: &&str| {
        let verb = if sql.starts_with("SELECT") { "lookup" } else { "store" };
        format!("[[database.steps]]\n{verb} = \"\"\"{sql}\"\"\"\n")
    };
    let url = if kind == "mysql" { "mysql://a@h/s" } else { "sqlite:a.db" };
    let steps: String = steps.iter().map(step).collect();
    let text = format!(
        "[job]\nname = \"j\"\n[source]\nbootstrap_servers = \"a:1\"\ntopics = [\"t\"]\n[event]\nkey = [\"@id\"]\n[event.fields]\n\
         id = {{ path = \"@id\", type = \"text\" }}\nno = {{ path = \"@no\", type = \"int64\" }}\n\
         c = {{ path = \"@c\", type = \"text\" }}\nd = {{ path = \"@d\", type = \"decimal(9,2)\" }}\n\
         [event.lists.lines]\neach = \"line\"\nfields = {{ sku = {{ path = \"@sku\", type = \"text\" }} }}\n\
         [database]\nurl = \"{url}\"\n{database}\n{steps}{more}"
    );
    check("job.toml", &text, &|_| None).unwrap_or_else(|errors| panic!("{errors}")).spec
}

fn column(name: &str, kind: ColumnKind) -> ColumnFacts {
    ColumnFacts { name: name.to_owned(), kind, numbers: false }
}

fn table(name: &str, unique: &[&[&str]]) -> TableFacts {
    let texts = ["id", "c", "customer", "code", "a", "b", "at"].map(|name| column(name, ColumnKind::Folded));
    let numbers = ["no", "n"].map(|name| column(name, ColumnKind::Integer));
    TableFacts {
        name: name.to_owned(),
        is_plain: true,
        columns: [&texts[..], &numbers[..], &[column("odd", ColumnKind::Other)]].concat(),
        unique: unique
            .iter()
            .enumerate()
            .map(|(number, columns)| UniqueKey {
                name: format!("u{number}"),
                columns: columns.iter().map(|column| (*column).to_owned()).collect(),
            })
            .collect(),
        triggers: Vec::new(),
    }
}

/// `orders (id)`, `line (id, no)`, `customer (id)`, `log` numbered, `coded` with a second unique key, `child` of orders,
/// `cut` whose line goes with it, `watched` with a trigger, `seen` a view.
static FACTS: LazyLock<SchemaFacts> = LazyLock::new(|| {
    let mut log = table("log", &[&["number"]]);
    log.columns.push(ColumnFacts { name: "number".to_owned(), kind: ColumnKind::Integer, numbers: true });
    let mut numbered = table("numbered", &[&["no"]]);
    numbered.columns.iter_mut().filter(|c| c.name == "no").for_each(|c| c.numbers = true);
    let watched = TableFacts { triggers: vec!["peek".to_owned()], ..table("watched", &[&["id"]]) };
    let seen = TableFacts { is_plain: false, ..table("seen", &[]) };
    let link = |name: &str, child: &str, parent: &str, from: &str, to: &str, cascades| ForeignKey {
        name: name.to_owned(),
        child: child.to_owned(),
        parent: parent.to_owned(),
        columns: vec![(from.to_owned(), to.to_owned())],
        cascades,
    };
    SchemaFacts {
        tables: vec![
            table("orders", &[&["id"]]),
            table("line", &[&["id", "no"]]),
            table("customer", &[&["id"]]),
            log,
            numbered,
            table("coded", &[&["id"], &["code"]]),
            table("child", &[&["id", "no"]]),
            table("cut", &[&["id"]]),
            table("part", &[&["a"]]),
            table("heap", &[]),
            watched,
            seen,
        ],
        links: vec![
            link("fk_child", "child", "orders", "id", "id", false),
            link("fk_part", "part", "cut", "b", "id", true),
        ],
    }
});

fn plan(steps: &[&str]) -> SetPlan {
    SetPlan::of(&spec("mysql", steps, ""), Some(&FACTS))
}

fn mode(steps: &[&str]) -> SetMode {
    plan(steps).mode
}

const ASK: &str = "SELECT a FROM customer WHERE id = :c";
const UPSERT: &str = "INSERT INTO orders (id, a) VALUES (:id, :c) ON DUPLICATE KEY UPDATE a = VALUES(a)";
const OLD: &str = "SELECT a FROM orders WHERE id = :id";

#[test]
fn what_cannot_meet_runs_together() {
    assert_eq!(mode(&[UPSERT]), SetMode::Together);
    assert_eq!(mode(&[ASK, UPSERT]), SetMode::Together);
    assert_eq!(mode(&[ASK, UPSERT, "INSERT INTO log (a) VALUES (:c)"]), SetMode::Together);
    assert_eq!(mode(&["INSERT INTO log (a) VALUES (:c)"]), SetMode::Together);
    assert_eq!(mode(&[ASK, OLD]), SetMode::Together);
    assert_eq!(mode(&["UPDATE orders SET n = n + 1"]), SetMode::Together);
    let plan = plan(&[ASK, UPSERT]);
    let texts: Vec<String> = plan.runs.iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "step 1: together: for all events of a transaction at once: no step writes what it reads",
            "step 2: together: for all events of a transaction at once, in their order: no other step reads or writes what it writes"
        ]
    );
    assert_eq!(plan.verdicts, Verdicts::First);
}

#[test]
fn what_meets_by_a_value_runs_in_waves() {
    let plan = plan(&[OLD, UPSERT]);
    assert_eq!((plan.mode, plan.verdicts), (SetMode::Waves, Verdicts::All));
    assert_eq!(plan.meetings, [Meeting { parts: vec![(ValueRef::Field(0), Fold::Folded)] }]);
    assert_eq!(
        plan.runs.first().map(ToString::to_string).unwrap_or_default(),
        "step 1: in waves: in which no `:id` occurs twice: step 2 is about rows of `orders`, too"
    );
    // Of the event's own rows, whatever the row.
    assert_eq!(
        mode(&["DELETE FROM line WHERE id = :id", "INSERT INTO line (id, no, a) VALUES (:id, :no, :c)"]),
        SetMode::Waves
    );
    // Not by the ordering key, and by another value of the event all the same.
    let by_customer =
        self::plan(&["SELECT n FROM customer WHERE id = :c", "UPDATE customer SET n = n + 1 WHERE id = :c"]);
    assert_eq!(by_customer.meetings, [Meeting { parts: vec![(ValueRef::Field(2), Fold::Folded)] }]);
    // Two tables, two values.
    let both = self::plan(&[
        OLD,
        UPSERT,
        "SELECT n FROM customer WHERE id = :c",
        "UPDATE customer SET n = n + 1 WHERE id = :c",
    ]);
    assert_eq!((both.mode, both.meetings.len()), (SetMode::Waves, 2));
    let tables = self::plan(&[
        "SELECT n FROM numbered WHERE no = :no",
        "INSERT INTO numbered (no, n) VALUES (:no, 1)",
    ]);
    assert_eq!(tables.meetings, [Meeting { parts: vec![(ValueRef::Field(1), Fold::Numbered)] }]);
    assert_eq!(tables.mode, SetMode::Waves);
}

#[test]
fn waves_keep_the_order_where_it_counts() {
    // Numbers are given in queue order.
    assert_eq!(mode(&[OLD, UPSERT, "INSERT INTO log (a) VALUES (:c)"]), SetMode::WavesInOrder);
    // Its rows are not told apart, and only this step is about them.
    assert_eq!(mode(&[OLD, UPSERT, "UPDATE customer SET n = n + 1 WHERE a = 'x'"]), SetMode::WavesInOrder);
    assert_eq!(mode(&[OLD, UPSERT, "INSERT INTO heap (id, a) VALUES (:id, :c)"]), SetMode::Waves);
    assert_eq!(mode(&[OLD, UPSERT, "INSERT INTO coded (id, code) VALUES (:id, :c)"]), SetMode::WavesInOrder);
}

fn why_one_by_one(steps: &[&str], number: usize, part: &str) {
    let plan = plan(steps);
    assert_eq!(plan.mode, SetMode::OneByOne, "{steps:?}: {plan:?}");
    let text = plan.runs.get(number).map(ToString::to_string).unwrap_or_default();
    assert!(text.contains("one by one: ") && text.contains(part), "{steps:?}: {text}");
}

#[test]
fn everything_else_runs_one_by_one() {
    why_one_by_one(&["SELECT a FROM orders WHERE id = :c", UPSERT], 0, "not all of them fix the same column");
    why_one_by_one(&["SELECT MAX(n) AS n FROM orders", UPSERT], 0, "not all of them fix the same column");
    why_one_by_one(
        &["SELECT a FROM coded WHERE id = :id", "INSERT INTO coded (id, code) VALUES (:id, :c)"],
        1,
        "unique key `u1`",
    );
    why_one_by_one(
        &["SELECT a FROM coded WHERE id = :id", "UPDATE coded SET code = :c WHERE id = :id"],
        1,
        "unique key `u1`",
    );
    assert_eq!(
        mode(&["SELECT a FROM coded WHERE id = :id", "UPDATE coded SET a = :c WHERE id = :id"]),
        SetMode::Waves
    );
    why_one_by_one(
        &[OLD, "UPDATE orders SET id = :c WHERE id = :id"],
        1,
        "not all of them fix the same column",
    );
    why_one_by_one(
        &["SELECT a FROM orders WHERE odd = :id", "UPDATE orders SET a = :c WHERE odd = :id"],
        0,
        "compares exactly",
    );
    why_one_by_one(
        &["SELECT a FROM orders WHERE id = :no", "UPDATE orders SET a = :c WHERE id = :no"],
        0,
        "compares exactly",
    );
    why_one_by_one(
        &["SELECT a FROM orders WHERE n = :d", "UPDATE orders SET a = :c WHERE n = :d"],
        0,
        "compares exactly",
    );
    why_one_by_one(
        &["INSERT IGNORE INTO orders (id) VALUES (:id)", OLD],
        0,
        "not all of them fix the same column",
    );
    why_one_by_one(&[ASK, "INSERT INTO orders (id, at) VALUES (:id, NOW())"], 1, "bind :_now");
    why_one_by_one(&[ASK, "INSERT INTO orders (id, at) VALUES (:id, NOW())"], 0, "since step 2 is");
    why_one_by_one(&["SELECT a FROM customer WHERE id = :c FOR UPDATE", UPSERT], 0, "locks what it reads");
    why_one_by_one(
        &["INSERT INTO log (a) VALUES (:c)", "SELECT LAST_INSERT_ID() AS n FROM dual"],
        1,
        "what ran before",
    );
    why_one_by_one(&["UPDATE watched SET a = :c WHERE id = :id"], 0, "trigger `peek`");
    why_one_by_one(&["SELECT a FROM seen WHERE id = :id", UPSERT], 0, "a view");
    why_one_by_one(
        &["SELECT a FROM nowhere WHERE id = :id", UPSERT],
        0,
        "no table that the job's account can see",
    );
    why_one_by_one(
        &["INSERT INTO log (a) VALUES (:c)", "INSERT INTO log (a) VALUES (:id)"],
        0,
        "not all of them fix the same column",
    );
    let off = SetPlan::of(&spec("mysql", &[UPSERT], "together = false"), Some(&FACTS));
    assert_eq!(
        off.runs.first().map(ToString::to_string).unwrap_or_default(),
        "step 1: one by one: the job file says together = false"
    );
}

#[test]
fn names_count_without_schema_and_capitals() {
    why_one_by_one(
        &["SELECT a FROM s.Orders WHERE id = :c", UPSERT],
        0,
        "not all of them fix the same column",
    );
}

#[test]
fn foreign_keys_are_ways_to_meet() {
    // The child's new row reads its parent, which another step writes.
    assert_eq!(mode(&[UPSERT, "INSERT INTO child (id, no) VALUES (:id, :no)"]), SetMode::Waves);
    why_one_by_one(&[UPSERT, "INSERT INTO child (id, no) VALUES (:c, :no)"], 0, "rows of `orders`");
    // A parent that goes looks for children.
    assert_eq!(
        mode(&["DELETE FROM child WHERE id = :id", "DELETE FROM orders WHERE id = :id"]),
        SetMode::Waves
    );
    why_one_by_one(
        &["DELETE FROM child WHERE no = :no", "DELETE FROM orders WHERE id = :id"],
        0,
        "rows of `child`",
    );
    // Parts go with what they are parts of.
    why_one_by_one(
        &["SELECT a FROM part WHERE a = :id", "DELETE FROM cut WHERE id = :id"],
        1,
        "rows of `part`",
    );
    assert_eq!(
        mode(&["SELECT a FROM part WHERE a = :id", "UPDATE cut SET c = :c WHERE id = :id"]),
        SetMode::Together
    );
    let tables = SetPlan::tables(&spec("mysql", &["DELETE FROM cut WHERE id = :id"], ""), &FACTS);
    assert_eq!(tables.iter().map(ToString::to_string).collect::<Vec<_>>(), ["cut", "part"]);
}

#[test]
fn what_a_refusal_of_many_is_worth() {
    let verdicts = |steps: &[&str]| plan(steps).verdicts;
    let log = "INSERT INTO log (a) VALUES (:c)";
    assert_eq!(verdicts(&[UPSERT]), Verdicts::First);
    assert_eq!(verdicts(&[ASK, UPSERT, log]), Verdicts::Missing);
    assert_eq!(verdicts(&[UPSERT, ASK]), Verdicts::None);
    assert_eq!(verdicts(&[OLD, UPSERT]), Verdicts::All);
    assert_eq!(verdicts(&[OLD, UPSERT, log]), Verdicts::Missing);
}

#[test]
fn without_a_schema_the_sql_decides() {
    let plan = |steps: &[&str]| SetPlan::of(&spec("sqlite", steps, ""), None).mode;
    assert_eq!(plan(&[ASK, "INSERT INTO orders (id) VALUES (:id)"]), SetMode::Together);
    assert_eq!(plan(&[OLD, "INSERT INTO orders (id) VALUES (:id)"]), SetMode::Waves);
    assert_eq!(
        plan(&["SELECT a FROM orders WHERE id = :c", "INSERT INTO orders (id) VALUES (:id)"]),
        SetMode::OneByOne
    );
    assert_eq!(plan(&[OLD, "INSERT INTO orders (id) VALUES (:d)"]), SetMode::OneByOne);
}

#[test]
fn rows_of_lists_are_of_their_event() {
    let lines = "[[database.steps]]\nfor_each = \"lines\"\nstore = \"INSERT INTO line (id, no) VALUES (:id, :lines._index)\"\n";
    let with = spec_and("mysql", &["DELETE FROM line WHERE id = :id"], "", lines);
    let plan = SetPlan::of(&with, Some(&FACTS));
    assert_eq!(plan.mode, SetMode::Waves);
    assert_eq!(plan.meetings, [Meeting { parts: vec![(ValueRef::Field(0), Fold::Folded)] }]);
    let other = "[[database.steps]]\nfor_each = \"lines\"\nstore = \"INSERT INTO line (id, no) VALUES (:lines.sku, 1)\"\n";
    let plan = SetPlan::of(&spec_and("mysql", &["DELETE FROM line WHERE id = :id"], "", other), Some(&FACTS));
    assert_eq!(plan.mode, SetMode::OneByOne);
}
