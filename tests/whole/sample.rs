//! The commands `new` and `check --sample`, by the program itself: from documents to a job that stores them.

use rusqlite::Connection;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;
use tidegate::kafka::mock::MockLogServer;

const ORDERS: [&str; 2] = [
    "<o:order xmlns:o='urn:shop:1' id='A-1'><o:total currency='CHF'>10.50</o:total><o:line sku='X'>2</o:line>\
     <o:line sku='Y'>1</o:line></o:order>",
    "<order xmlns='urn:shop:1' id='A-2'><total currency='CHF'>7</total><note>n</note></order>",
];

struct Folder(TempDir);

struct Said {
    out: String,
    err: String,
    code: i32,
}

impl Folder {
    fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        for (index, order) in ORDERS.iter().enumerate() {
            std::fs::write(folder.path(&format!("{index}.xml")), order).unwrap();
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The program, in the folder.
    fn run(&self, arguments: &[&str]) -> Said {
        let done = Command::new(env!("CARGO_BIN_EXE_tidegate"))
            .args(arguments)
            .current_dir(self.0.path())
            .env_remove("NO_COLOR")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Said { out: text(done.stdout), err: text(done.stderr), code: done.status.code().unwrap() }
    }

    fn ok(&self, arguments: &[&str]) -> String {
        let said = self.run(arguments);
        assert_eq!(said.code, 0, "{}{}", said.out, said.err);
        said.out
    }
}

fn has_all(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn from_documents_to_a_job_and_what_it_makes_of_them() {
    let folder = Folder::new();
    let out = folder.ok(&["new", "orders.toml", "--sample", "0.xml", "1.xml"]);
    has_all(
        &out,
        &["orders.toml: a job with", "orders.sql", "tidegate check orders.toml --offline --sample"],
    );
    has_all(
        &folder.read("orders.toml"),
        &[
            "name = \"orders\"",
            "namespaces = { o = \"urn:shop:1\" }",
            "key = [\"@id\"]",
            "type = \"decimal(18,5)\"",
            "{ path = \"o:note\", type = \"text\", optional = true }",
            "[event.lists.line]",
        ],
    );
    // The schema is one that the engine takes.
    Connection::open(folder.path("order.db")).unwrap().execute_batch(&folder.read("orders.sql")).unwrap();
    folder.ok(&["check", "orders.toml", "--offline"]);
    let out = folder.ok(&["check", "orders.toml", "--offline", "--sample", "0.xml", "1.xml"]);
    has_all(
        &out,
        &[
            "key \"A-1\"",
            "key \"A-2\"",
            "10.50",
            "list line: 2 rows",
            "INSERT INTO order_line",
            "output to order.stored",
        ],
    );
    assert!(!out.contains('\x1b'), "no terminal, no colours: {out:?}");
    assert!(
        Connection::open(folder.path("order.db"))
            .unwrap()
            .query_row("SELECT count(*) FROM \"order\"", (), |row| row.get::<_, i64>(0))
            .is_ok_and(|count| count == 0)
    );
}

#[test]
fn what_is_there_is_not_overwritten() {
    let folder = Folder::new();
    std::fs::write(folder.path("orders.sql"), "mine").unwrap();
    let said = folder.run(&["new", "orders.toml", "--sample", "0.xml"]);
    assert_eq!(said.code, 64, "{}", said.err);
    has_all(&said.err, &["orders.sql: is there already", "--force"]);
    assert_eq!(folder.read("orders.sql"), "mine");
    assert!(!folder.path("orders.toml").exists());
    folder.ok(&["new", "orders.toml", "--force", "--sample", "0.xml"]);
    assert!(folder.read("orders.sql").contains("CREATE TABLE"));
}

#[test]
fn a_sample_that_cannot_be_read_is_named_with_its_place_and_nothing_is_written() {
    let folder = Folder::new();
    std::fs::write(folder.path("bad.xml"), "<a>\n  <b></a>").unwrap();
    std::fs::write(folder.path("other.xml"), "<invoice/>").unwrap();
    for (sample, code, parts) in [
        ("bad.xml", 65, vec!["bad.xml: is no document", "line 2, column 6"]),
        ("other.xml", 65, vec!["other.xml: its root is <invoice> of no namespace", "<order> of urn:shop:1"]),
        ("none.xml", 64, vec!["none.xml: cannot be read"]),
    ] {
        let said = folder.run(&["new", "orders.toml", "--sample", "0.xml", sample]);
        assert_eq!(said.code, code, "{}", said.err);
        has_all(&said.err, &parts);
        assert!(!folder.path("orders.toml").exists());
    }
}

#[test]
fn a_sample_that_would_be_a_reject_ends_with_65_and_its_reason() {
    let folder = Folder::new();
    folder.ok(&["new", "orders.toml", "--sample", "0.xml"]);
    std::fs::write(folder.path("wrong.xml"), ORDERS[0].replace("10.50", "ten")).unwrap();
    let said = folder.run(&["check", "orders.toml", "--offline", "--sample", "0.xml", "wrong.xml"]);
    assert_eq!(said.code, 65, "{}{}", said.out, said.err);
    has_all(
        &said.out,
        &["key \"A-1\"", "wrong.xml", "REJECT field_type: line 1", "dead-letter topic order.rejected"],
    );
}

#[test]
fn keys_and_headers_of_the_record_are_given_by_hand() {
    let folder = Folder::new();
    std::fs::write(folder.path("plain.xml"), "<a><b>1</b></a>").unwrap();
    let out = folder.ok(&["new", "a.toml", "--sample", "plain.xml"]);
    assert!(out.contains("--key KEY"), "{out}");
    let said = folder.run(&["check", "a.toml", "--offline", "--sample", "plain.xml"]);
    assert_eq!(said.code, 65);
    has_all(&said.out, &["key_missing", "--key TEXT"]);
    let job = folder.read("a.toml").replace("dead_letter_topic", "# dead_letter_topic");
    std::fs::write(folder.path("a.toml"), job.replace("VALUES (\n    :_key", "VALUES (\n    :_header.who"))
        .unwrap();
    let arguments =
        ["check", "a.toml", "--offline", "--key", "K 1", "--header", "who=me", "--sample", "plain.xml"];
    has_all(&folder.ok(&arguments), &["key \"K 1\"", ":_header.who", "\"me\""]);
    assert_eq!(folder.run(&["check", "a.toml", "--key", "K"]).code, 64, "without a sample it means nothing");
}

fn schema(path: &Path) {
    Connection::open(path)
        .unwrap()
        .execute_batch(
            "CREATE TABLE Orders (ID TEXT NOT NULL PRIMARY KEY, total_currency CHAR(3) NOT NULL, Total DECIMAL(12,2) NOT NULL,
                                  entered_by TEXT NOT NULL, Note TEXT);
             CREATE TABLE order_lines (order_id TEXT NOT NULL, line_no INTEGER NOT NULL, Sku TEXT NOT NULL, line INTEGER,
                                       PRIMARY KEY (order_id, line_no));
             CREATE TABLE unrelated (x TEXT, y TEXT);",
        )
        .unwrap();
}

#[test]
fn fields_are_matched_with_the_columns_that_there_are() {
    let folder = Folder::new();
    schema(&folder.path("shop.db"));
    folder.ok(&["new", "orders.toml", "--sample", "0.xml", "1.xml", "--database", "sqlite:shop.db"]);
    let job = folder.read("orders.toml");
    has_all(
        &job,
        &[
            "url = \"sqlite:shop.db\"",
            "INSERT INTO Orders (",
            "type = \"decimal(12,2)\"",
            "type = \"text(3)\"",
            "ON CONFLICT (ID) DO UPDATE SET",
            "# These columns of Orders must have a value and get none: entered_by",
            "DELETE FROM order_lines WHERE order_id = :id",
            "INSERT INTO order_lines (",
        ],
    );
    assert!(!folder.path("orders.sql").exists(), "all tables are there");
    let out = folder.ok(&["check", "orders.toml", "--offline", "--sample", "0.xml", "1.xml"]);
    has_all(&out, &["decimal(12,2)", "INSERT INTO order_lines"]);
    let said = folder.run(&["new", "x.toml", "--sample", "0.xml", "--database", "sqlite:none.db"]);
    assert_eq!(said.code, 64);
    has_all(&said.err, &["--database: the file none.db does not exist"]);
    assert!(!folder.path("none.db").exists() && !folder.path("x.toml").exists());
}

#[test]
fn look_ups_are_asked_and_nothing_is_stored() {
    let folder = Folder::new();
    folder.ok(&["new", "orders.toml", "--sample", "0.xml", "1.xml"]);
    let tables = folder.read("orders.sql");
    let database = Connection::open(folder.path("order.db")).unwrap();
    database.execute_batch(&tables).unwrap();
    database
        .execute_batch("CREATE TABLE tier (id TEXT, name TEXT); INSERT INTO tier VALUES ('A-1', 'gold')")
        .unwrap();
    let steps = "[[database.steps]]\nname = \"tier\"\nlookup = \"SELECT name FROM tier WHERE id = :id\"\n\n[[database.steps]]";
    let output =
        "document = \"input\"\n[[output.add]]\nat = \".\"\nelement = \"o:tier\"\ntext = \":tier.name\"\n#";
    let job = folder.read("orders.toml").replacen("[[database.steps]]", steps, 1).replacen(
        "document = \"input\"",
        output,
        1,
    );
    let broker = MockLogServer::start().unwrap();
    for topic in ["order", "order.stored", "order.rejected"] {
        broker.create_topic(topic, 1).unwrap();
    }
    let job = job.replace("${TIDEGATE_KAFKA:127.0.0.1:9092}", &broker.bootstrap_servers());
    std::fs::write(folder.path("orders.toml"), job).unwrap();
    let said = folder.run(&["check", "orders.toml", "--sample", "0.xml"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    has_all(&said.out, &["finds name = \"gold\"", "+++ order.stored", "gold</"]);
    // Nobody has that tier, and the look-up wants one.
    let said = folder.run(&["check", "orders.toml", "--sample", "1.xml"]);
    assert_eq!(said.code, 65, "{}{}", said.out, said.err);
    has_all(&said.out, &["finds no row", "REJECT missing_lookup: look-up step \"tier\" found no row"]);
    let count: i64 = database.query_row("SELECT count(*) FROM \"order\"", (), |row| row.get(0)).unwrap();
    assert_eq!(count, 0);
}
