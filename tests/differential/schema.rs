//! Schema: tables by seed, of the kinds that make the order of statements matter.
//!
//! In:        a sequence, a dialect, how rough it may be     Out: tables, and the statements that make them
//! Holds:     keys of several collations, second unique keys, numbers that the engine gives, foreign keys with and without
//!            cascade, triggers, views, generated columns, and limits that refuse values
//! Not here:  what a job does with them (lookups, stores)
//!
//! Every table has the columns id, n, v, d, u, p, r; a table with numbers also seq, in front.

use super::chance::Chance;
use tidegate::testing::Random;

/// The engine's SQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    MariaDb,
    Sqlite,
}

/// What a job is like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Steps use whatever they find.
    Wild,
    /// Most steps use rows of the same value of the event, as those of most jobs do.
    Keyed,
    /// What a step writes is mostly its own.
    Apart,
    /// An event uses the rows of its ordering key alone, and no two keys are the same to any column: then several workers
    /// leave the same, whichever of them is first.
    Own,
}

/// What a seed is like.
#[derive(Clone, Copy, Debug)]
pub struct Taste {
    pub domain: Domain,
    pub style: Style,
    /// Of the style that has a key: all steps go by it.
    pub tidy: bool,
    /// Values may be refused, and look-ups may reject.
    pub rough: bool,
    /// Of digits: keys are whole numbers everywhere. Else it is as it comes.
    pub numbers: bool,
    /// Of the style that has one: the value by which rows are told apart.
    pub key: &'static str,
}

impl Taste {
    pub fn draw(random: &mut Random) -> Taste {
        let styles = [Style::Wild, Style::Keyed, Style::Apart, Style::Own];
        let style = styles[random.weighed(&[15, 60, 12, 13])];
        let domain = if style == Style::Own || random.percent(60) { Domain::Text } else { Domain::Digits };
        let tidy = style == Style::Keyed && random.percent(60);
        let numbers = domain == Domain::Digits && style == Style::Keyed && (tidy || random.percent(80));
        let keys = [":k", ":k", ":k", ":o", if numbers { ":o" } else { ":_key" }];
        let key = if style == Style::Own { ":k" } else { random.one(&keys) };
        let rough = random.percent(if style == Style::Apart { 70 } else { 40 });
        Taste { domain, style, tidy, rough, numbers, key }
    }

    /// So often in a job whose steps use whatever they find, else much less.
    fn odd(self, random: &mut Random, percent: u32) -> bool {
        match self.style {
            Style::Wild | Style::Apart => random.percent(percent),
            Style::Keyed => random.percent(percent / 3),
            Style::Own => false,
        }
    }
}

/// How rows are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `id` is the primary key.
    Keyed,
    /// The engine numbers rows, and `id` occurs as often as it likes.
    Log,
    /// The engine numbers rows, and `id` is unique.
    Numbered,
    /// `id` and `n` are the primary key.
    Lines,
}

impl Kind {
    /// The engine's number is the first column.
    pub fn is_numbered(self) -> bool {
        matches!(self, Kind::Log | Kind::Numbered)
    }

    /// `id` tells rows apart.
    pub fn has_one_row(self) -> bool {
        matches!(self, Kind::Keyed | Kind::Numbered)
    }
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    pub name: String,
    pub kind: Kind,
    /// Type and collation of `id`.
    id: String,
    /// Type and collation of `u`.
    u: String,
    pub u_is_unique: bool,
    /// The table whose `id` stands in `p`, and what happens when it goes.
    parent: Option<(String, String, &'static str)>,
    generated: Option<String>,
    checks: Vec<&'static str>,
    /// A view on it.
    pub view: Option<String>,
}

/// What there is.
#[derive(Clone, Debug)]
pub struct Schema {
    pub dialect: Dialect,
    pub tables: Vec<Table>,
    triggers: Vec<String>,
    rows: Vec<String>,
}

/// What keys are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    Text,
    Digits,
}

impl Domain {
    /// Keys, of which some are the same to some column and not to another.
    pub fn keys(self) -> &'static [&'static str] {
        match self {
            Domain::Text => &["a", "A", "b", "b ", "B", "ä", "Ä", "c", "07", "7"],
            Domain::Digits => &["7", "07", "8", "9", "10", "010", "11"],
        }
    }
}

impl Schema {
    pub fn draw(random: &mut Random, dialect: Dialect, taste: Taste) -> Schema {
        let mut tables: Vec<Table> = Vec::new();
        for number in 0..random.between(2, if taste.style == Style::Keyed { 3 } else { 4 }) {
            let parents: Vec<&Table> = tables.iter().filter(|table| table.kind.has_one_row()).collect();
            let parent =
                (taste.rough && taste.odd(random, 40)).then(|| random.pick(&parents).copied()).flatten();
            let parent = parent.map(|table| (table.name.clone(), table.id.clone(), cascade(random)));
            tables.push(Table::draw(random, dialect, taste, (number, parent)));
        }
        let mut triggers = Vec::new();
        if taste.odd(random, 14) {
            triggers.push(trigger(random, dialect, &tables));
        }
        let mut schema = Schema { dialect, tables, triggers, rows: Vec::new() };
        schema.fill(random, taste.domain);
        schema
    }

    /// Some rows that are there before the job.
    fn fill(&mut self, random: &mut Random, domain: Domain) {
        for table in self.tables.iter().filter(|table| table.parent.is_none()) {
            for (number, key) in domain.keys().iter().enumerate() {
                if random.percent(25) {
                    let verb = match self.dialect {
                        Dialect::MariaDb => "INSERT IGNORE",
                        Dialect::Sqlite => "INSERT OR IGNORE",
                    };
                    let name = &table.name;
                    self.rows.push(format!(
                        "{verb} INTO {name} (id, n, v, d, u) VALUES ('{key}', {}, 'was', 0.25, 'w{number}')",
                        number + 20
                    ));
                }
            }
        }
    }

    /// The statements that make it.
    pub fn statements(&self) -> Vec<String> {
        let mut statements = vec![
            match self.dialect {
                Dialect::MariaDb => {
                    "CREATE TABLE told (seq BIGINT AUTO_INCREMENT PRIMARY KEY, id VARCHAR(20), n BIGINT)"
                }
                Dialect::Sqlite => {
                    "CREATE TABLE told (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT, n INTEGER)"
                }
            }
            .to_owned(),
        ];
        statements.extend(self.tables.iter().map(|table| table.statement(self.dialect)));
        for table in &self.tables {
            let view = table.view.as_ref();
            statements.extend(view.map(|view| format!("CREATE VIEW {view} AS SELECT * FROM {}", table.name)));
        }
        // Before the triggers: what was there before, nobody was told.
        statements.extend(self.rows.iter().cloned());
        statements.extend(self.triggers.iter().cloned());
        statements
    }

    /// Every table's rows in an order of their own; whether the first column is the engine's number.
    pub fn queries(&self) -> Vec<(String, String, bool)> {
        let mut queries =
            vec![("told".to_owned(), "SELECT seq, id, n FROM told ORDER BY seq".to_owned(), true)];
        for table in &self.tables {
            let name = &table.name;
            let (numbers, order) = match (table.kind, self.dialect) {
                (Kind::Log | Kind::Numbered, _) => ("seq, ", "seq"),
                (Kind::Keyed | Kind::Lines, Dialect::Sqlite) => ("", "CAST(id AS BLOB), id, n"),
                (Kind::Keyed | Kind::Lines, Dialect::MariaDb) => ("", "CAST(id AS BINARY), n"),
            };
            let generated = if table.generated.is_some() { ", g" } else { "" };
            let query =
                format!("SELECT {numbers}id, n, v, d, u, p, r{generated} FROM {name} ORDER BY {order}");
            queries.push((name.clone(), query, table.kind.is_numbered()));
        }
        if self.dialect == Dialect::Sqlite && self.tables.iter().any(|table| table.kind.is_numbered()) {
            let query = "SELECT name, seq FROM sqlite_sequence WHERE name NOT LIKE 'tidegate%' ORDER BY name";
            queries.push(("sqlite_sequence".to_owned(), query.to_owned(), false));
        }
        queries
    }
}

fn cascade(random: &mut Random) -> &'static str {
    random.one(&["", " ON DELETE CASCADE", " ON DELETE SET NULL", " ON DELETE CASCADE ON UPDATE CASCADE"])
}

fn key_type(random: &mut Random, dialect: Dialect, (domain, numbers): (Domain, bool)) -> String {
    let is_int = numbers || (domain == Domain::Digits && random.percent(50));
    let text = match (dialect, is_int) {
        (Dialect::MariaDb, true) => "BIGINT",
        (Dialect::Sqlite, true) => random.one(&["INTEGER", "INT"]),
        (Dialect::MariaDb, false) => random.one(&[
            "VARCHAR(20) COLLATE utf8mb4_bin",
            "VARCHAR(20) COLLATE utf8mb4_bin",
            "VARCHAR(20) COLLATE utf8mb4_general_ci",
            "VARCHAR(20) COLLATE utf8mb4_unicode_ci",
            "VARCHAR(20) COLLATE utf8mb4_nopad_bin",
        ]),
        (Dialect::Sqlite, false) => {
            random.one(&["TEXT", "TEXT", "TEXT COLLATE NOCASE", "TEXT COLLATE NOCASE", "TEXT COLLATE RTRIM"])
        }
    };
    text.to_owned()
}

fn kind(random: &mut Random) -> Kind {
    *random.one(&[
        &Kind::Keyed,
        &Kind::Keyed,
        &Kind::Keyed,
        &Kind::Log,
        &Kind::Log,
        &Kind::Lines,
        &Kind::Numbered,
    ])
}

/// A trigger that changes another table, or tells of a row.
fn trigger(random: &mut Random, dialect: Dialect, tables: &[Table]) -> String {
    let (what, row) = *random.one(&[&("INSERT", "NEW"), &("UPDATE", "NEW"), &("DELETE", "OLD")]);
    let [first, .., last] = tables else { panic!("there are two tables") };
    let action = if random.percent(50) {
        format!("INSERT INTO told (id, n) VALUES ({row}.id, {row}.n)")
    } else {
        format!("UPDATE {} SET n = n + 1 WHERE id = {row}.id", last.name)
    };
    let name = &first.name;
    match dialect {
        Dialect::MariaDb => format!("CREATE TRIGGER follows AFTER {what} ON {name} FOR EACH ROW {action}"),
        Dialect::Sqlite => format!("CREATE TRIGGER follows AFTER {what} ON {name} BEGIN {action}; END"),
    }
}

impl Table {
    fn draw(
        random: &mut Random,
        dialect: Dialect,
        taste: Taste,
        (number, parent): (usize, Option<(String, String, &'static str)>),
    ) -> Table {
        let name = format!("t{number}");
        let kind = match taste.style {
            Style::Own => *random.one(&[&Kind::Keyed, &Kind::Keyed, &Kind::Lines]),
            _ if taste.tidy => {
                *random.one(&[&Kind::Keyed, &Kind::Keyed, &Kind::Keyed, &Kind::Lines, &Kind::Log])
            }
            _ => kind(random),
        };
        let rough = taste.rough;
        let view = taste.odd(random, 20).then(|| format!("w{number}"));
        let generated = taste.odd(random, 20).then(|| {
            let expression = random.one(&["LOWER(u)", "n + 1", "id"]);
            let kind = random.one(&["VIRTUAL", "STORED"]);
            let unique = if rough && random.percent(40) { " UNIQUE" } else { "" };
            let typed = match (dialect, expression) {
                (_, "n + 1") => "BIGINT",
                (Dialect::MariaDb, _) => "VARCHAR(30)",
                (Dialect::Sqlite, _) => "TEXT",
            };
            format!("g {typed} AS ({expression}) {kind}{unique}")
        });
        let all: &[&'static str] = match dialect {
            Dialect::MariaDb => &["CHECK (n <> 5)", "CHECK (v <> 'y')"],
            Dialect::Sqlite => &["CHECK (n <> 5)", "CHECK (length(v) <= 8)"],
        };
        let checks = all.iter().copied().filter(|_| rough && random.percent(15)).collect();
        Table {
            id: match (taste.style, dialect) {
                (Style::Own, Dialect::MariaDb) => "VARCHAR(20) COLLATE utf8mb4_bin".to_owned(),
                (Style::Own, Dialect::Sqlite) => "TEXT".to_owned(),
                _ => key_type(random, dialect, (taste.domain, taste.numbers)),
            },
            u: key_type(random, dialect, (Domain::Text, false)),
            u_is_unique: taste.odd(random, if rough { 50 } else { 25 }),
            name,
            kind,
            parent,
            generated,
            checks,
            view,
        }
    }

    fn statement(&self, dialect: Dialect) -> String {
        let Table { name, id, u, .. } = self;
        let mut parts: Vec<String> = Vec::new();
        let seq = match dialect {
            Dialect::MariaDb => "seq BIGINT AUTO_INCREMENT PRIMARY KEY",
            Dialect::Sqlite => "seq INTEGER PRIMARY KEY AUTOINCREMENT",
        };
        match self.kind {
            Kind::Keyed => parts.push(format!("id {id} PRIMARY KEY NOT NULL")),
            Kind::Lines => parts.push(format!("id {id} NOT NULL")),
            Kind::Log => parts.extend([seq.to_owned(), format!("id {id} NOT NULL")]),
            Kind::Numbered => parts.extend([seq.to_owned(), format!("id {id} NOT NULL UNIQUE")]),
        }
        let v = if dialect == Dialect::MariaDb { "v VARCHAR(10) COLLATE utf8mb4_bin" } else { "v TEXT" };
        let unique = if self.u_is_unique { " UNIQUE" } else { "" };
        parts.extend([
            "n BIGINT NOT NULL DEFAULT 0".to_owned(),
            v.to_owned(),
            "d DECIMAL(10,2)".to_owned(),
            format!("u {u}{unique}"),
        ]);
        match &self.parent {
            Some((_, of, _)) => parts.push(format!("p {of}")),
            None => parts.push(format!("p {id}")),
        }
        parts.push("r BIGINT".to_owned());
        parts.extend(self.generated.iter().cloned());
        if self.kind == Kind::Lines {
            parts.push("PRIMARY KEY (id, n)".to_owned());
        }
        parts.extend(self.checks.iter().map(|check| (*check).to_owned()));
        if let Some((parent, _, cascade)) = &self.parent {
            parts.push(format!("FOREIGN KEY (p) REFERENCES {parent} (id){cascade}"));
        }
        format!("CREATE TABLE {name} ({})", parts.join(", "))
    }
}
