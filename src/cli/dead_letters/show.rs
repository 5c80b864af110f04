//! `dead-letters show`: letters in full, with the record's headers and its payload.
//!
//! In:        a job file and a filter     Out: text, or one JSON object a line; one payload as it is, to a file
//! Holds:     one letter
//! Fails:     64: a payload is to go to a file, and not exactly one letter is meant

use super::letter::{Letter, put, shown};
use super::topic::Topic;
use crate::cli::args::LetterFilter;
use crate::cli::exit;
use crate::cli::out::line;
use crate::cli::verify::Failure;
use serde_json::{Value, json};
use std::path::Path;

pub(super) fn show(
    job: &Path,
    filter: &LetterFilter,
    payload_to: Option<&Path>,
    json: bool,
) -> Result<(), Failure> {
    let topic = Topic::open(job)?;
    if let Some(file) = payload_to {
        return payload(&topic, filter, file);
    }
    let mut count = 0_u64;
    topic.letters(|| (), &mut |letter, replayed| {
        if filter.takes(&letter) {
            count += 1;
            line(&if json { as_json(&letter, replayed) } else { as_text(&letter, replayed) });
        }
        Ok(())
    })?;
    if count == 0 && !json {
        line(&format!("no letter in \"{}\" is meant", topic.name));
    }
    Ok(())
}

/// The payload of exactly one letter.
fn payload(topic: &Topic, filter: &LetterFilter, file: &Path) -> Result<(), Failure> {
    let usage = |text: String| Failure { text, code: exit::USAGE };
    let mut only: Option<Letter> = None;
    topic.letters(|| (), &mut |letter, _| {
        if !filter.takes(&letter) {
            return Ok(());
        }
        if let Some(first) = &only {
            return Err(usage(format!(
                "--payload-to takes one letter, and {}/{} is meant as well as {}/{}: name one by --at",
                first.partition, first.offset, letter.partition, letter.offset
            )));
        }
        only = Some(letter);
        Ok(())
    })?;
    let letter = only.ok_or_else(|| usage(format!("no letter in \"{}\" is meant", topic.name)))?;
    let Some(value) = &letter.record.value else {
        return Err(usage(format!("letter {}/{} has no payload", letter.partition, letter.offset)));
    };
    std::fs::write(file, value)
        .map_err(|error| usage(format!("{}: cannot be written: {error}", file.display())))?;
    let whole = letter.cut.map_or(String::new(), |cut| format!(" of {}", cut.value_bytes));
    line(&format!(
        "{} bytes{whole} of letter {}/{} are in {}",
        value.len(),
        letter.partition,
        letter.offset,
        file.display()
    ));
    Ok(())
}

fn as_json(letter: &Letter, replayed: bool) -> String {
    let mut all = letter.as_json(replayed);
    let headers = letter.record.headers.iter().map(|(name, value)| {
        let mut header = json!({ "name": name });
        put(&mut header, "value", value.as_ref());
        header
    });
    let headers: Vec<Value> = headers.collect();
    if let Some(all) = all.as_object_mut() {
        all.insert("headers".to_owned(), Value::Array(headers));
    }
    put(&mut all, "payload", letter.record.value.as_ref());
    all.to_string()
}

fn as_text(letter: &Letter, replayed: bool) -> String {
    let mut lines = vec![
        format!("letter {}/{}{}", letter.partition, letter.offset, if replayed { ", replayed" } else { "" }),
        format!("  source  {}", letter.source),
        format!("  reason  {}: {}", letter.reason, letter.detail),
        format!("  time    {}", letter.time()),
        format!("  key     {}", shown(letter.record.key.as_ref())),
    ];
    for (name, value) in &letter.record.headers {
        lines.push(format!("  header  {name}: {}", shown(value.as_ref())));
    }
    if let Some(cut) = letter.cut {
        let key = cut.key_bytes.map_or(String::new(), |bytes| format!(", its key of {bytes} bytes"));
        lines.push(format!(
            "  cut     the payload had {} bytes; missing: {} headers{key}",
            cut.value_bytes, cut.headers
        ));
    }
    lines.push(match &letter.record.value {
        None => "  payload none".to_owned(),
        Some(value) => match std::str::from_utf8(value) {
            Ok(text) => format!("  payload {} bytes\n{text}", value.len()),
            Err(_) => format!(
                "  payload {} bytes that are no text: --payload-to writes them to a file, --json gives them in base64",
                value.len()
            ),
        },
    });
    lines.join("\n")
}
