//! Report: results as a table for people and as JSON, which the table is made from.
//!
//! In:        tables: per row and column one value a turn     Out: Markdown with median and spread, JSON with every value
//! Not here:  what is measured (scenarios)

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// One table. Every cell has one value for each turn.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Table {
    pub(crate) title: String,
    /// How to run it again, and on what.
    pub(crate) note: String,
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<(String, Vec<Vec<f64>>)>,
}

impl Table {
    pub(crate) fn new(title: &str, note: String, columns: &[&str]) -> Table {
        let columns = columns.iter().map(|column| (*column).to_owned()).collect();
        Table { title: title.to_owned(), note, columns, rows: Vec::new() }
    }

    /// Adds a turn's values to a row.
    pub(crate) fn add(&mut self, row: &str, values: &[f64]) {
        assert!(values.iter().all(|value| value.is_finite()), "{row}: {values:?}");
        let place = match self.rows.iter().position(|(name, _)| name == row) {
            Some(place) => place,
            None => {
                self.rows.push((row.to_owned(), vec![Vec::new(); self.columns.len()]));
                self.rows.len() - 1
            }
        };
        for (cell, value) in self.rows[place].1.iter_mut().zip(values) {
            cell.push(*value);
        }
    }

    /// The values of a cell, one a turn.
    pub(crate) fn cell(&self, row: &str, column: usize) -> &[f64] {
        self.rows.iter().find(|(name, _)| name == row).map_or(&[], |(_, cells)| &cells[column])
    }

    pub(crate) fn markdown(&self) -> String {
        let mut text = format!("### {}\n\n{}\n\n| |", self.title, self.note);
        self.columns.iter().for_each(|column| _ = write!(text, " {column} |"));
        _ = writeln!(text, "\n| --- |{}", " ---: |".repeat(self.columns.len()));
        for (row, cells) in &self.rows {
            _ = write!(text, "| {row} |");
            cells.iter().for_each(|cell| _ = write!(text, " {} |", shown(cell)));
            text.push('\n');
        }
        text.push('\n');
        text
    }
}

/// Median, and the spread where there is one.
fn shown(values: &[f64]) -> String {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (Some(low), Some(high)) = (sorted.first(), sorted.last()) else { return "-".to_owned() };
    let middle = number(median(values));
    if sorted.len() == 1 || number(*low) == number(*high) {
        middle
    } else {
        format!("{middle} ({}..{})", number(*low), number(*high))
    }
}

fn number(value: f64) -> String {
    match value.abs() {
        big if big >= 100.0 => {
            let digits = format!("{:.0}", value);
            let (mut text, count) = (String::new(), digits.len());
            for (place, digit) in digits.chars().enumerate() {
                if place > 0 && (count - place) % 3 == 0 && digit.is_ascii_digit() {
                    text.push(',');
                }
                text.push(digit);
            }
            text
        }
        middle if middle >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

/// The one in the middle; of an even number of values the upper one of the two.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Everything that was measured, by scenario.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Results {
    pub(crate) machine: BTreeMap<String, String>,
    pub(crate) scenarios: BTreeMap<String, Vec<Table>>,
}

impl Results {
    pub(crate) fn new(machine: BTreeMap<String, String>) -> Results {
        Results { machine, scenarios: BTreeMap::new() }
    }

    /// Takes over what was recorded on this machine; numbers of two machines do not stand in one table.
    pub(crate) fn keep(&mut self, file: &Path) {
        if !file.exists() {
            return;
        }
        let text = std::fs::read_to_string(file).expect("the record is read");
        let recorded: Results =
            serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        if recorded.machine == self.machine {
            self.scenarios = recorded.scenarios;
        } else {
            println!("The record is of another machine, or of other versions: it is begun anew.");
        }
    }

    pub(crate) fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("results are JSON") + "\n"
    }

    pub(crate) fn markdown(&self) -> String {
        let mut text = String::from(
            "# Performance: results\n\nWritten by `scripts/bench --record` from [performance-results.json](performance-results.json), which has \
             every value: do not edit. Cells are medians over the turns of one run, with the lowest and the highest. What the lines mean and \
             how they are measured: [performance.md](performance.md).\n\n",
        );
        for (what, value) in &self.machine {
            _ = writeln!(text, "- {what}: {value}");
        }
        text.push('\n');
        for (scenario, tables) in &self.scenarios {
            _ = writeln!(text, "## {scenario}\n");
            tables.iter().for_each(|table| text.push_str(&table.markdown()));
        }
        text.truncate(text.trim_end().len());
        text + "\n"
    }
}

/// What it ran on.
pub(crate) fn machine(kafka_jars: Option<String>, database: String) -> BTreeMap<String, String> {
    let file = |name: &str| std::fs::read_to_string(name).unwrap_or_default();
    let line = |text: &str, key: &str| {
        let found = text.lines().find(|line| line.starts_with(key)).and_then(|line| line.split_once(':'));
        found.map_or_else(|| "?".to_owned(), |(_, value)| value.trim().to_owned())
    };
    let said = |program: &str, argument: &str| {
        let output = Command::new(program).arg(argument).output().ok();
        let text = output.map(|o| [o.stdout, o.stderr].concat()).unwrap_or_default();
        String::from_utf8_lossy(&text).lines().next().unwrap_or("-").to_owned()
    };
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    BTreeMap::from([
        ("processor".to_owned(), format!("{} x {}", cores, line(&file("/proc/cpuinfo"), "model name"))),
        ("memory".to_owned(), line(&file("/proc/meminfo"), "MemTotal")),
        ("kernel".to_owned(), file("/proc/sys/kernel/osrelease").trim().to_owned()),
        ("Kafka".to_owned(), kafka_jars.unwrap_or_else(|| "?".to_owned())),
        ("database".to_owned(), database),
        ("Java".to_owned(), said("java", "-version")),
        ("rustc".to_owned(), said("rustc", "--version")),
    ])
}
