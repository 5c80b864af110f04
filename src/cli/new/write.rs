//! The job file and its schema as text, each choice with its reason in a comment.
//!
//! In:        the draft, its tables, the placeholders     Out: TOML that `check` finds nothing wrong with; SQL
//! Order:     that of the reference of the job file
//! Fails:     never
//! Not here:  what is chosen (`draft`, `tables`)

use super::draft::{Draft, FieldDraft, ListDraft};
use super::guess::Guess;
use super::prefixes::Prefixes;
use super::tables::{Dialect, TablePlan};
use std::collections::HashSet;
use std::fmt::Write;

/// What the file says beside the draft.
#[derive(Debug)]
pub(super) struct Frame {
    /// `job.name`
    pub(super) job: String,
    /// Samples, as the user named them.
    pub(super) samples: Vec<String>,
    /// `database.url`; a password is a variable.
    pub(super) url: String,
    pub(super) dialect: Dialect,
    /// The schema's file, beside the job file.
    pub(super) schema: String,
    /// Bytes of the largest sample.
    pub(super) largest: usize,
    /// Tables were read from a database.
    pub(super) asked: bool,
}

/// Comments behind a key stand here, where there is room.
const NOTE_COLUMN: usize = 60;
const MIB: usize = 1 << 20;

/// The job file.
pub(super) fn job(draft: &Draft, plans: &[TablePlan], frame: &Frame, prefixes: &Prefixes) -> String {
    let mut out = Out(String::new());
    let names: Vec<String> = frame.samples.iter().map(|name| one_line(name)).collect();
    out.line(&format!("# A first job file, made by `tidegate new` from {}.", listed(&names)));
    out.line("# It says what these samples have: read every line, take away what you do not need, then run");
    out.line("# `tidegate check JOB --sample FILE...`, which shows what becomes of a document.");
    out.line("");
    out.line("[job]");
    out.noted(
        &format!("name = {}", quoted(&frame.job)),
        "names the ledger's rows and the progress topic: not to be changed later",
    );
    out.noted("key_groups = 16", "fixed for the job's life; at least as many as workers will ever run");
    out.line("");
    source(&mut out, draft);
    event(&mut out, draft, prefixes);
    database(&mut out, draft, plans, frame);
    output(&mut out, draft);
    rejects(&mut out, draft);
    limits(&mut out, frame);
    out.0
}

fn source(out: &mut Out, draft: &Draft) {
    out.line("[source]");
    out.noted(
        "bootstrap_servers = \"${TIDEGATE_KAFKA:127.0.0.1:9092}\"",
        "the brokers: TIDEGATE_KAFKA, else this one",
    );
    out.noted(
        &format!("topics = [{}]", quoted(&draft.table)),
        "where the documents are read: put your topic's name here",
    );
    out.line("");
}

fn event(out: &mut Out, draft: &Draft, prefixes: &Prefixes) {
    let lists = draft.lists.iter();
    let paths = draft.fields.iter().map(|field| field.path.as_str());
    let in_rows =
        lists.flat_map(|list| list.fields.iter().map(|f| f.path.as_str()).chain([list.each.as_str()]));
    let used = prefixes.used_by(paths.chain(in_rows).chain([draft.each.as_str()]));
    out.line("[event]");
    if !used.is_empty() {
        let pairs: Vec<String> =
            used.iter().map(|(uri, prefix)| format!("{prefix} = {}", quoted(uri))).collect();
        out.line("# Names match by these URIs: documents may use any prefixes.");
        let joined = format!("namespaces = {{ {} }}", pairs.join(", "));
        out.line(&joined);
    }
    let note = match draft.is_batch {
        true => "nearly the whole document is such elements: one event for each",
        false => "one event a document, and no other root",
    };
    out.noted(&format!("each = {}", quoted(&draft.each)), note);
    match draft.key.fields.is_empty() {
        true => {
            out.line(&format!(
                "# The ordering key is the Kafka record key: {}. Better: key = [\"PATH\"],",
                draft.key.note
            ));
            out.line("# of what must stay in order.");
        }
        false => {
            let paths = draft.key.fields.iter().filter_map(|index| draft.fields.get(*index));
            let paths: Vec<String> = paths.map(|field| quoted(&field.path)).collect();
            out.noted(&format!("key = [{}]", paths.join(", ")), &draft.key.note);
        }
    }
    out.line("");
    out.line("[event.fields]");
    fields(out, &draft.fields);
    left_out(out, &draft.left_out, "left out, with more fields than a table should have");
    left_out(out, &draft.lists_left_out, "repeated, and left out");
    left_out(out, &draft.secrets, "secrets by their names, left out");
    out.line("");
    for (index, list) in draft.lists.iter().enumerate() {
        rows(out, draft, index, list);
    }
}

fn rows(out: &mut Out, draft: &Draft, index: usize, list: &ListDraft) {
    let way: Vec<&str> = super::tables::ancestors(draft, index)
        .into_iter()
        .filter_map(|index| draft.lists.get(index))
        .map(|list| list.name.as_str())
        .collect();
    let header = way.join(".lists.");
    out.line(&format!("[event.lists.{header}]"));
    let most = if list.most == 1 { "once".to_owned() } else { format!("up to {} times", list.most) };
    out.noted(
        &format!("each = {}", quoted(&list.each)),
        &format!("there {most} side by side in the samples: a row each"),
    );
    if !list.fields.is_empty() {
        out.line("");
        out.line(&format!("[event.lists.{header}.fields]"));
        fields(out, &list.fields);
    }
    left_out(out, &list.left_out, "left out, with more fields than a table should have");
    out.line("");
}

fn fields(out: &mut Out, fields: &[FieldDraft]) {
    let width = fields.iter().map(|field| field.name.len()).max().unwrap_or(0);
    let mut said = HashSet::new();
    for field in fields {
        let optional = if field.optional { ", optional = true" } else { "" };
        let empty = if field.empty && field.guess != Guess::Text { ", empty = \"null\"" } else { "" };
        let line = format!(
            "{:<width$} = {{ path = {}, type = \"{}\"{}{optional}{empty} }}",
            field.name,
            quoted(&field.path),
            field.type_text,
            field.guess.beside()
        );
        // Once in a table is enough.
        match field.note.as_deref().filter(|note| said.insert(*note)) {
            Some(note) => out.noted(&line, note),
            None => out.line(&line),
        }
    }
}

fn left_out(out: &mut Out, paths: &[String], why: &str) {
    if paths.is_empty() {
        return;
    }
    out.line(&format!("# {why}:"));
    for path in paths {
        out.line(&format!("#   {}", one_line(path)));
    }
}

fn database(out: &mut Out, draft: &Draft, plans: &[TablePlan], frame: &Frame) {
    let dialect = frame.dialect;
    out.line("[database]");
    let note = if frame.url.contains("${DB_PASSWORD") {
        "the password is the variable DB_PASSWORD; or name a password_file"
    } else if frame.asked {
        "the database that was asked for its tables"
    } else {
        "a file to begin with; or mysql://user:${DB_PASSWORD}@host:3306/schema"
    };
    // The variable of the URL is meant as one.
    out.noted(&format!("url = {}", basic_string(&frame.url)), note);
    if plans.iter().any(|plan| !plan.is_there) {
        out.line(&format!("# {} makes the tables that are not there yet.", one_line(&frame.schema)));
    }
    out.line("");
    let usable = |plan: &&TablePlan| plan.is_usable();
    let Some((event, lists)) = plans.split_first() else { return };
    unmatched(out, event);
    if event.is_usable() {
        out.line("# A later event of the same key takes the place of the earlier one.");
        step(out, None, &event.upsert(dialect));
    }
    for plan in lists.iter().rev().filter(usable).filter(|plan| plan.has_event()) {
        out.line(&format!("# The rows of an earlier event of the same key in {} go.", one_line(&plan.name)));
        step(out, None, &plan.delete(dialect));
    }
    for (list, plan) in draft.lists.iter().zip(lists) {
        unmatched(out, plan);
        if plan.is_usable() && plan.has_event() {
            step(out, Some(&list.name), &plan.insert(dialect));
        } else if plan.is_there {
            out.line(&format!(
                "# {} does not say whose its rows are: nothing is stored there.",
                one_line(&plan.name)
            ));
            out.line("");
        }
    }
}

fn unmatched(out: &mut Out, plan: &TablePlan) {
    if !plan.without_column.is_empty() {
        let names: Vec<String> = plan.without_column.iter().map(|name| format!(":{name}")).collect();
        out.line(&format!("# No column of {} fits these:", one_line(&plan.name)));
        names.chunks(6).for_each(|names| out.line(&format!("#   {}", names.join(" "))));
    }
    if !plan.without_field.is_empty() {
        let names: Vec<String> = plan.without_field.iter().map(|name| one_line(name)).collect();
        out.line(&format!(
            "# These columns of {} must have a value and get none: {}",
            one_line(&plan.name),
            names.join(", ")
        ));
    }
}

fn step(out: &mut Out, for_each: Option<&str>, statement: &str) {
    out.line("[[database.steps]]");
    if let Some(list) = for_each {
        out.noted(&format!("for_each = {}", quoted(list)), "once for each of its rows");
    }
    out.line(&format!("store = \"\"\"\n{}\"\"\"", multi_line(statement)));
    out.line("");
}

fn output(out: &mut Out, draft: &Draft) {
    out.line("[output]");
    out.noted(
        &format!("topic = {}", quoted(&format!("{}.stored", draft.table))),
        "leave [output] out: the job only stores",
    );
    match draft.is_batch {
        true => out.noted(
            "document = \"element\"",
            "the event's element alone; \"input\": the whole document, once per event",
        ),
        false => out.noted("document = \"input\"", "the document as it came, byte for byte"),
    }
    out.line("");
    out.line("# [[output.add]]                 # an element more, say what a look-up gave");
    out.line("# at = \".\"");
    out.line("# element = \"storedAt\"");
    out.line("# text = \":_now\"");
    out.line("");
}

fn rejects(out: &mut Out, draft: &Draft) {
    out.line("[rejects]");
    let topic = quoted(&format!("{}.rejected", draft.table));
    out.noted(&format!("dead_letter_topic = {topic}"), "what cannot be read goes here, with its reason");
    out.noted("refused = \"park\"", "what the database refuses waits, and its key behind it");
}

fn limits(out: &mut Out, frame: &Frame) {
    if frame.largest <= MIB / 2 {
        return;
    }
    let document = frame.largest.saturating_mul(2).div_ceil(MIB);
    out.line("");
    out.line("[limits]");
    let note = format!("the largest sample has {} bytes", frame.largest);
    out.noted(&format!("document_bytes = \"{document}MiB\""), &note);
    const IN_FLIGHT_MIB: usize = 64;
    if document.saturating_mul(4) > IN_FLIGHT_MIB {
        out.line(&format!("in_flight_bytes = \"{}MiB\"", document.saturating_mul(4)));
    }
}

/// The schema: of the tables that are not there; none, where all are.
pub(super) fn schema(plans: &[TablePlan], frame: &Frame) -> Option<String> {
    let made: Vec<&TablePlan> =
        plans.iter().filter(|plan| !plan.is_there && !plan.columns.is_empty()).collect();
    if made.is_empty() {
        return None;
    }
    let engine = match frame.dialect {
        Dialect::MySql => "MySQL and MariaDB",
        Dialect::Sqlite => "SQLite: decimals, days and times are exact as text",
    };
    let mut text = format!("-- The tables of the job {}. {engine}.\n", frame.job);
    for plan in made {
        // Writing to a text does not fail.
        let _written = write!(text, "\n{}\n", plan.create(frame.dialect));
    }
    Some(text)
}

struct Out(String);

impl Out {
    fn line(&mut self, text: &str) {
        self.0.push_str(text);
        self.0.push('\n');
    }

    /// A line with a comment behind it, or above it where it is long.
    fn noted(&mut self, text: &str, note: &str) {
        const WIDTH: usize = 130;
        let note = one_line(note);
        let at = NOTE_COLUMN.max(text.chars().count() + 1);
        if at + 2 + note.chars().count() > WIDTH {
            self.line(&format!("# {note}"));
            return self.line(text);
        }
        self.line(&format!("{text:<NOTE_COLUMN$} # {note}"));
    }
}

fn listed(names: &[String]) -> String {
    const SHOWN: usize = 3;
    match names.len().checked_sub(SHOWN) {
        Some(more) if more > 0 => {
            format!("{} and {more} more", names.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", "))
        }
        _ => names.join(", "),
    }
}

/// A text for a comment: one line, whatever is in it.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// A text of the documents or the database as a value: what looks like a variable is none.
fn quoted(text: &str) -> String {
    basic_string(&text.replace("${", "$${"))
}

/// A TOML string.
fn basic_string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => {
                // Writing to a text does not fail.
                let _written = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A statement inside of `"""`.
fn multi_line(statement: &str) -> String {
    statement.replace('\\', "\\\\").replace("\"\"", "\"\\\"").replace("${", "$${")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_text_holds_it_is_one_value() {
        for text in ["a\"b\\c", "${HOME}", "tab\tline\nend", "\u{7f}", "$${x}", "emoji \u{1f600}"] {
            let toml = format!(
                "a = {}\nb = \"\"\"\n{}\"\"\"",
                quoted(text),
                multi_line("SELECT \"a\"\"b\"\"\" \\ ${x}")
            );
            let table: toml::Table = toml.parse().unwrap();
            assert_eq!(table["a"].as_str().unwrap(), text.replace("${", "$${"));
            assert_eq!(table["b"].as_str().unwrap(), "SELECT \"a\"\"b\"\"\" \\ $${x}");
        }
        assert_eq!(one_line("a\nb\u{1}c"), "a b c");
        assert_eq!(listed(&["a", "b", "c", "d", "e"].map(str::to_owned)), "a, b, c and 2 more");
    }
}
