//! `new`: a first job file out of sample documents.
//!
//! In:        documents, and perhaps a database whose tables are asked     Out: a job file, and the schema of its tables
//! Order:     read the samples, draft, ask the tables, write; what was written was checked before
//! Fails:     64 where a file is there already or cannot be read, 65 where a sample is no document, as `check` where the
//!            database does not answer. Then nothing is written
//! Not here:  XML (xml), what is right in a job file (job)

mod ask;
mod columns;
mod draft;
mod guess;
mod key;
mod names;
mod prefixes;
mod shape;
mod tables;
mod told;
mod write;

use super::args::NewArgs;
use super::exit;
use super::out::{error_line, line};
use super::verify::Failure;
use crate::job;
use crate::xml::{Tree, TreeElement};
use draft::Draft;
use prefixes::Prefixes;
use shape::Shape;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use tables::Dialect;
use write::Frame;

/// A sample of more bytes is none.
const SAMPLE_BYTES_MAX: usize = 64 << 20;
/// As `limits.document_depth` is by default.
const DEPTH_MAX: usize = 256;

pub(super) fn new(args: &NewArgs) -> u8 {
    match make(args) {
        Ok(()) => exit::OK,
        Err(Failure { text, code }) => {
            error_line(&text);
            code
        }
    }
}

fn make(args: &NewArgs) -> Result<(), Failure> {
    let schema = schema_path(&args.job);
    let there = [&args.job, &schema].into_iter().find(|path| path.exists());
    if let Some(path) = there.filter(|_| !args.force) {
        let text =
            format!("{}: is there already: take another name, or overwrite it with --force", path.display());
        return Err(Failure { text, code: exit::USAGE });
    }
    let samples = read_all(&args.sample)?;
    let written = compose(args, &samples, &schema)?;
    put(&args.job, &written.job, args.force)?;
    if let Some(text) = &written.schema {
        put(&schema, text, args.force)?;
    }
    tell(args, &written, &schema);
    Ok(())
}

/// A document as it was read.
struct Sample {
    bytes: usize,
    tree: Tree,
}

fn read_all(files: &[PathBuf]) -> Result<Vec<Sample>, Failure> {
    let mut samples: Vec<Sample> = Vec::new();
    for file in files {
        let shown = file.display();
        let fail = |text: String, code| Failure { text: format!("{shown}: {text}"), code };
        let bytes =
            std::fs::read(file).map_err(|error| fail(format!("cannot be read: {error}"), exit::USAGE))?;
        let tree = Tree::read(&bytes, SAMPLE_BYTES_MAX, DEPTH_MAX).map_err(|reason| {
            fail(format!("is no document that a job could read: {reason}"), exit::REJECT)
        })?;
        if let (Some(first), Some(path)) = (samples.first(), files.first())
            && first.tree.root.name != tree.root.name
        {
            let (own, other) = (shown_name(&tree.root), shown_name(&first.tree.root));
            let text = format!(
                "its root is {own}, and that of {} is {other}: samples are documents of one kind, make a job for each kind",
                path.display()
            );
            return Err(fail(text, exit::REJECT));
        }
        samples.push(Sample { bytes: bytes.len(), tree });
    }
    Ok(samples)
}

fn shown_name(element: &TreeElement) -> String {
    match &element.name.namespace {
        Some(uri) => format!("<{}> of {uri}", element.name.local),
        None => format!("<{}> of no namespace", element.name.local),
    }
}

/// What is written.
struct Written {
    job: String,
    schema: Option<String>,
    fields: usize,
    lists: usize,
    /// The key is the Kafka record's.
    kafka_key: bool,
}

fn compose(args: &NewArgs, samples: &[Sample], schema: &Path) -> Result<Written, Failure> {
    let used: Vec<(String, String)> =
        samples.iter().flat_map(|sample| sample.tree.prefixes.clone()).collect();
    let prefixes = Prefixes::of(&used);
    let roots: Vec<&TreeElement> = samples.iter().map(|sample| &sample.tree.root).collect();
    let nothing = || Failure { text: "there is no sample".to_owned(), code: exit::USAGE };
    let shape = Shape::of_roots(&roots).ok_or_else(nothing)?;
    let mut draft = Draft::of(&shape, &prefixes);
    let asked = args.database.as_deref().map(ask::ask).transpose()?;
    let (url, dialect, there) = match asked {
        Some(answer) => (answer.url, answer.dialect, answer.tables),
        None => (format!("sqlite:{}.db", draft.table), Dialect::Sqlite, Vec::new()),
    };
    let plans = tables::plan(&mut draft, dialect, &there);
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let frame = Frame {
        job: job_name(&args.job, &draft.table),
        samples: args.sample.iter().map(|path| name(path)).collect(),
        url,
        dialect,
        schema: name(schema),
        largest: samples.iter().map(|sample| sample.bytes).max().unwrap_or(0),
        asked: args.database.is_some(),
    };
    let text = write::job(&draft, &plans, &frame, &prefixes);
    check(&args.job.display().to_string(), &text)?;
    Ok(Written {
        schema: write::schema(&plans, &frame),
        job: text,
        fields: draft.fields.len() + draft.lists.iter().map(|list| list.fields.len()).sum::<usize>(),
        lists: draft.lists.len(),
        kafka_key: draft.key.fields.is_empty(),
    })
}

/// A file that `check` would find something wrong with is not written: it would be our mistake, not the user's.
fn check(label: &str, text: &str) -> Result<(), Failure> {
    let checked = job::check(label, text, &|name| std::env::var(name).ok());
    checked.map(|_| ()).map_err(|errors| Failure {
        text: format!("an internal fault: the job file would be wrong, and is not written:\n{errors}"),
        code: exit::INTERNAL,
    })
}

/// `orders.toml` to `orders.sql`.
fn schema_path(job: &Path) -> PathBuf {
    let is_sql = job.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("sql"));
    job.with_extension(if is_sql { "schema.sql" } else { "sql" })
}

/// The file's own name, where it is a name for a job; else the table's.
fn job_name(job: &Path, table: &str) -> String {
    const CHARS_MAX: usize = 63;
    let stem = job.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
    let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let stem: String =
        stem.chars().map(|c| if legal(c) || matches!(c, '.' | '_' | '-') { c } else { '-' }).collect();
    let stem = stem.trim_start_matches(|c: char| !legal(c)).trim_end_matches(['-', '.']);
    let name = if stem.is_empty() || stem == "job" { table } else { stem };
    name.chars().take(CHARS_MAX).collect()
}

fn put(path: &Path, text: &str, force: bool) -> Result<(), Failure> {
    let mut options = OpenOptions::new();
    options.write(true);
    if force {
        options.create(true).truncate(true)
    } else {
        options.create_new(true)
    };
    let written = options.open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|error| Failure {
        text: format!("{}: cannot be written: {error}", path.display()),
        code: exit::USAGE,
    })
}

fn tell(args: &NewArgs, written: &Written, schema: &Path) {
    let (job, files) = (args.job.display(), args.sample.iter().map(|file| file.display().to_string()));
    let files = files.collect::<Vec<_>>().join(" ");
    let lists = match written.lists {
        0 => String::new(),
        1 => " and a list".to_owned(),
        lists => format!(" and {lists} lists"),
    };
    line(&format!(
        "{job}: a job with {} fields{lists}, made of {} samples",
        written.fields,
        args.sample.len()
    ));
    if written.schema.is_some() {
        line(&format!("{}: the tables that it stores in", schema.display()));
    }
    let key = if written.kafka_key { " --key KEY" } else { "" };
    line(&format!(
        "Read it, then see what it makes of a document:\n  tidegate check {job} --offline --sample {files}{key}"
    ));
}

#[cfg(test)]
mod tests;
