//! An event as text: its key, its fields, its rows, its outputs.
//!
//! Not here:  its steps (`steps`)

use super::words::{cell, table, value};
use super::{Show, diff};
use crate::cli::parked::words::key;
use crate::job::{Document, Field, TopicChoice};
use crate::model::{Body, Destination, Event, Outgoing, Value};
use crate::operator::gate::Trial;
use std::fmt::Write;

impl Show<'_> {
    pub(super) fn heading(&self, event: &Event) -> String {
        format!("event {}: key {}, key group {}\n", event.at.index, key(&event.key), event.key_group.0)
    }

    /// Fields with name, type and value; then the lists, a table each.
    pub(super) fn fields(&self, event: &Event) -> String {
        let (values, lists) = match &event.body {
            Body::Readable(reading) => (&reading.values, reading.lists.as_slice()),
            Body::Tombstone { values } => (values, &[][..]),
            Body::Unreadable(_) => return String::new(),
        };
        let mut text = String::new();
        if !values.is_empty() {
            text.push_str("  fields\n");
            let row = |(field, found): (&Field, &Value)| {
                let of_type = self.setting(&format!("event.fields.{}.type", field.name));
                vec![
                    field.name.clone(),
                    of_type.unwrap_or_default().trim_matches('"').to_owned(),
                    value(found),
                ]
            };
            let rows: Vec<Vec<String>> = self.spec.event.fields.iter().zip(values).map(row).collect();
            if let Some((head, rest)) = rows.split_first() {
                text.push_str(&table(4, head, rest));
            }
        }
        for (list, rows) in self.spec.event.lists.iter().zip(lists) {
            let count = rows.len();
            let parent = list.parent.and_then(|parent| self.spec.event.lists.get(parent));
            let within = parent.map_or(String::new(), |parent| format!(" in {}", parent.name));
            let noun = if count == 1 { "row" } else { "rows" };
            // Writing to a text does not fail.
            let _written = writeln!(text, "  list {}{within}: {count} {noun}", list.name);
            if count == 0 {
                continue;
            }
            let mut head = vec!["_index".to_owned()];
            head.extend(parent.map(|parent| format!("{} row", parent.name)));
            head.extend(list.fields.iter().map(|field| field.name.clone()));
            let cells = rows.iter().map(|row| {
                let mut cells = vec![row.index.to_string()];
                cells.extend(parent.map(|_| row.parent.saturating_add(1).to_string()));
                cells.extend(row.values.iter().map(cell));
                cells
            });
            text.push_str(&table(4, &head, &cells.collect::<Vec<_>>()));
        }
        text
    }

    /// What each output sends.
    pub(super) fn sent(&self, trial: &Trial, event: &Event, input: &str) -> String {
        let mut text = String::new();
        if self.spec.outputs.is_empty() {
            text.push_str("  no output: the job only stores\n");
        }
        for (number, outgoing) in trial.outputs.iter().enumerate() {
            let Some(output) = self.spec.outputs.get(number) else { continue };
            let name = match (&output.name, self.spec.outputs.len()) {
                (Some(name), _) => format!("output {name}"),
                (None, 1) => "output".to_owned(),
                (None, _) => format!("output {}", number + 1),
            };
            let when = self.output_setting(number, "when").filter(|when| *when != "none");
            let when = when.map_or(String::new(), |when| format!(", when {when}"));
            let line = match outgoing {
                None => format!("  {name}: not sent{when}\n"),
                Some(sent) => {
                    let topic = self.topic(sent.to);
                    let chosen = match output.topic {
                        TopicChoice::Fixed(_) => String::new(),
                        TopicChoice::By { .. } => ", which a field names".to_owned(),
                    };
                    let key = sent.key.as_ref().map_or("none".to_owned(), |bytes| key(bytes));
                    format!("  {name} to {topic}{chosen}{when}: key {key}\n")
                }
            };
            text.push_str(&line);
            if let Some(sent) = outgoing {
                text.push_str(&self.document(&output.document, sent, event, input));
            }
        }
        text
    }

    fn topic(&self, to: Destination) -> &str {
        let topic = match to {
            Destination::Output(topic) => self.spec.output_topics.get(usize::from(topic)),
            Destination::DeadLetter => self.spec.rejects.dead_letter_topic.as_ref(),
        };
        topic.map_or("?", String::as_str)
    }

    pub(super) fn output_setting(&self, number: usize, key: &str) -> Option<&str> {
        let numbered = self.setting(&format!("output[{}].{key}", number + 1));
        numbered.or_else(|| self.setting(&format!("output.{key}")))
    }

    fn document(&self, kind: &Document, sent: &Outgoing, event: &Event, input: &str) -> String {
        let Some(bytes) = &sent.value else { return "    no value\n".to_owned() };
        let output = crate::xml::document_text(bytes);
        let (old, of) = match kind {
            Document::Nothing => return "    no value\n".to_owned(),
            Document::Template(_) => {
                let lines =
                    diff::lines(&output).into_iter().map(|line| format!("    {}\n", diff::shown(line)));
                return lines.collect();
            }
            Document::Input => (input, "input"),
            Document::Element => (element(event, input), "the event's element"),
        };
        if event.record.value.as_ref() == Some(bytes) {
            return "    the document as it came, byte for byte\n".to_owned();
        }
        if old == output {
            return format!("    {of} as it came\n");
        }
        diff::unified(old, &output, (of, self.topic(sent.to)), self.colour)
    }
}

/// The event's element in the document's text.
fn element<'t>(event: &Event, input: &'t str) -> &'t str {
    let Body::Readable(reading) = &event.body else { return input };
    let Some(span) = &reading.element else { return input };
    let place = |at: u32| usize::try_from(at).unwrap_or(usize::MAX);
    input.get(place(span.start)..place(span.end)).unwrap_or(input)
}
