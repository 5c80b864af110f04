//! `[source]`: which topics of which cluster are read, and where a job begins.

use super::catalogue::Kind;
use super::checker::{Checker, Text, quote};
use super::choices::choice_or;
use super::client_options::read_client;
use super::names::topic_problem;
use super::section::{Given, Section};
use super::{SourceSpec, Start};
use std::num::NonZeroU16;

const STARTS: [(&str, Start); 3] =
    [("earliest", Start::Earliest), ("latest", Start::Latest), ("group", Start::Group)];

/// What `[source]` says, and the names of its topics even where the rest is wrong.
pub(super) struct Source {
    pub(super) spec: Option<SourceSpec>,
    pub(super) topics: Vec<String>,
}

pub(super) fn read(checker: &mut Checker<'_>, root: &mut Section<'_>, job: Option<&str>) -> Source {
    let nothing = Source { spec: None, topics: Vec::new() };
    let Some(mut section) = root.section(checker, "source") else { return nothing };
    let servers = bootstrap_servers(checker, &mut section);
    let topics = topics(checker, &mut section);
    let start = choice_or(checker, &mut section, "start", &STARTS);
    let group_id = group_id(checker, &mut section, job);
    let client = read_client(checker, &mut section);
    section.finish(checker);
    let names = topics.clone().unwrap_or_default();
    let spec = match (servers, topics, start, group_id, client) {
        (Some(bootstrap_servers), Some(topics), Some(start), Some(group_id), Some(client)) => {
            Some(SourceSpec { bootstrap_servers, topics, start, group_id, client })
        }
        _ => None,
    };
    Source { spec, topics: names }
}

fn bootstrap_servers(checker: &mut Checker<'_>, section: &mut Section<'_>) -> Option<String> {
    let hint = "write [source] and bootstrap_servers = \"host:9092\"; several servers by commas";
    let entry = section.required(checker, "bootstrap_servers", hint)?;
    let text = checker.text(&entry)?;
    let right = text.value.split(',').all(|server| is_host_and_port(server.trim()));
    if !right {
        let message = format!("must be host:port, several by commas, got {}", text.quoted());
        checker.error_of(&text, message, Some("such as \"127.0.0.1:9092\"".to_owned()));
        return None;
    }
    checker.given_text(&text, format!("{:?}", text.value));
    Some(text.value)
}

fn is_host_and_port(server: &str) -> bool {
    let Some((host, port)) = server.rsplit_once(':') else { return false };
    let bare = host.strip_prefix('[').and_then(|h| h.strip_suffix(']'));
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let host_right = match bare {
        Some(address) => {
            !address.is_empty() && address.chars().all(|c| c.is_ascii_hexdigit() || matches!(c, ':' | '.'))
        }
        None => !host.is_empty() && host.chars().all(legal),
    };
    host_right && port.parse::<NonZeroU16>().is_ok()
}

fn topics(checker: &mut Checker<'_>, section: &mut Section<'_>) -> Option<Vec<String>> {
    let entry = section.required(checker, "topics", "write topics = [\"...\"]")?;
    let hint = Some("write topics = [\"...\"]".to_owned());
    let entries = checker.list(&entry, "a list of names of topics", hint)?;
    let most = match section.known("topics").map(|key| &key.kind) {
        Some(Kind::Texts { most, .. }) => *most,
        _ => 0,
    };
    if entries.is_empty() || entries.len() > most {
        let message = format!("must have 1..={most} topics, got {}", entries.len());
        checker.error(entry.at(), &entry.key, message, None);
        return None;
    }
    let mut right = true;
    let mut texts: Vec<Text> = Vec::new();
    for entry in &entries {
        let Some(text) = checker.text(entry) else {
            right = false;
            continue;
        };
        right &= topic(checker, &text);
        if texts.iter().any(|earlier| earlier.value == text.value) {
            checker.error_of(
                &text,
                format!("{} is there twice", text.quoted()),
                Some("name each topic once".to_owned()),
            );
            right = false;
        }
        texts.push(text);
    }
    let names: Vec<String> = texts.iter().map(|text| text.value.clone()).collect();
    checker.given_texts(&entry.key, entry.at(), &texts, format!("{names:?}"));
    right.then_some(names)
}

/// Whether a text is a legal name of a topic; else the error is recorded.
pub(super) fn topic(checker: &mut Checker<'_>, text: &Text) -> bool {
    match topic_problem(&text.value) {
        None => true,
        Some(problem) => {
            checker.error_of(text, format!("{problem}, got {}", text.quoted()), None);
            false
        }
    }
}

fn group_id(checker: &mut Checker<'_>, section: &mut Section<'_>, job: Option<&str>) -> Option<String> {
    match section.text(checker, "group_id") {
        Given::Wrong => None,
        Given::Right(text) if text.value.trim().is_empty() => {
            checker.error_of(
                &text,
                "is empty",
                Some("leave it out for `tidegate-` and the job's name".to_owned()),
            );
            None
        }
        Given::Right(text) => {
            checker.given_text(&text, quote(&text.value));
            Some(text.value)
        }
        Given::No => {
            let group_id = format!("tidegate-{}", job?);
            checker.default(
                &section.key_of("group_id"),
                format!("{group_id:?}"),
                Some("tidegate- and job.name"),
            );
            Some(group_id)
        }
    }
}
