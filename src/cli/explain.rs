//! `explain`: a job's effective settings and where each comes from; or what an error means to it.
//!
//! In:        a job file, and perhaps a number or a name     Out: text or JSON on standard output, an exit code
//! Fails:     78 for a job that is wrong, 64 for a name that no table has
//! Not here:  the tables of codes (database, kafka), what a job makes of a class (trouble)

use super::args::ExplainArgs;
use super::exit;
use super::load::load;
use super::out::{error_line, line};
use super::trouble::exits::{EXITS, Exit};
use super::trouble::{Engine, Entry, Reaction, Wanted, find, near, reaction};
use crate::database::ErrorClass;
use crate::job::{Checked, JobSpec, render_explain};
use serde_json::{Value, json};

pub(super) fn explain(args: &ExplainArgs) -> u8 {
    let checked = match load(&args.job) {
        Ok(checked) => checked,
        Err(text) => {
            error_line(&text);
            return exit::JOB;
        }
    };
    let Some(error) = &args.error else {
        line(render_explain(&checked).trim_end());
        return exit::OK;
    };
    let answer = Answer::of(&checked, error);
    line(&if args.json { answer.to_json().to_string() } else { answer.to_text() });
    answer.exit_code()
}

/// What there is to say about what was typed.
struct Answer<'a> {
    typed: &'a str,
    spec: &'a JobSpec,
    wanted: Wanted,
    /// Codes of the worlds that this job meets.
    found: Vec<Entry>,
    /// Codes of an engine that this job does not meet; looked for where nothing else was found.
    elsewhere: Vec<Entry>,
    /// A process's exit code of this number.
    ends: Option<&'static Exit>,
    near: Option<String>,
}

impl Answer<'_> {
    fn of<'a>(checked: &'a Checked, typed: &'a str) -> Answer<'a> {
        let spec = &checked.spec;
        let wanted = Wanted::of(typed);
        let mine = [Engine::of(&spec.database.kind), Engine::Kafka];
        let found = find(&mine, &wanted);
        let ends = match &wanted {
            Wanted::Number(number) => EXITS.iter().find(|exit| i64::from(exit.code) == *number),
            Wanted::Name(_) => None,
        };
        let nothing = found.is_empty() && ends.is_none();
        let elsewhere = if nothing { find(&Engine::ALL, &wanted) } else { Vec::new() };
        let near = if nothing && elsewhere.is_empty() { near(&mine, &wanted) } else { None };
        Answer { typed, spec, wanted, found, elsewhere, ends, near }
    }

    fn is_known(&self) -> bool {
        !self.found.is_empty() || self.ends.is_some() || !self.elsewhere.is_empty()
    }

    /// A number that no table has is still answered: it is held as an outage. A name is a slip, mostly.
    fn exit_code(&self) -> u8 {
        match self.wanted {
            Wanted::Name(_) if !self.is_known() => exit::USAGE,
            _ => exit::OK,
        }
    }

    fn unknown(&self) -> Reaction {
        reaction(self.spec, super::trouble::Class::Database(ErrorClass::Unknown))
    }

    fn to_text(&self) -> String {
        let mut parts: Vec<String> = self.found.iter().map(|entry| self.entry_text(entry)).collect();
        parts.extend(self.ends.map(|exit| {
            let restart = if exit.restart { "start it again" } else { "do not start it again by itself" };
            format!("exit code {}: {}\n  a supervisor: {restart}: {}", exit.code, exit.means, exit.why)
        }));
        parts.extend(self.elsewhere.iter().map(|entry| {
            format!("{}\n  this job's database is another one: it never meets this code", head(entry))
        }));
        if parts.is_empty() {
            let near = self.near.as_ref().map_or(String::new(), |near| format!("; did you mean {near}?"));
            parts.push(format!(
                "{}: no table knows this code{near}\n  this job {}",
                self.typed,
                self.unknown().text
            ));
        }
        parts.join("\n\n")
    }

    fn entry_text(&self, entry: &Entry) -> String {
        let Reaction { text, exit } = reaction(self.spec, entry.class);
        let exit = exit.map_or(String::new(), |code| format!("\n  exit code: {code}"));
        let seen =
            if entry.seen { "provoked on a real server by a test" } else { "by the engine's documents" };
        let advice = entry.advice;
        format!(
            "{}\n  class: {} ({seen})\n  this job {text}{exit}\n  you: {advice}",
            head(entry),
            entry.class.as_str()
        )
    }

    fn to_json(&self) -> Value {
        let entry = |entry: &Entry| {
            let Reaction { text, exit } = reaction(self.spec, entry.class);
            json!({
                "engine": entry.engine.to_string(), "code": entry.number, "name": entry.name, "also": entry.also,
                "class": entry.class.as_str(), "means": entry.sentence, "job": text, "exit_code": exit,
                "person": entry.advice, "provoked": entry.seen,
            })
        };
        let ends = |exit: &Exit| json!({ "code": exit.code, "means": exit.means, "restart": exit.restart, "why": exit.why });
        json!({
            "error": self.typed, "known": self.is_known(),
            "codes": self.found.iter().map(entry).collect::<Vec<_>>(),
            "codes_of_other_engines": self.elsewhere.iter().map(entry).collect::<Vec<_>>(),
            "exit": self.ends.map(ends), "did_you_mean": self.near,
            "if_unknown": (!self.is_known()).then(|| self.unknown().text),
        })
    }
}

fn head(entry: &Entry) -> String {
    let also = entry.also.map_or(String::new(), |also| format!(" ({also})"));
    format!("{} {} {}{also}: {}", entry.engine, entry.number, entry.name, entry.sentence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::check;

    fn job(database: &str, more: &str) -> Checked {
        let text = format!(
            "[job]\nname = \"j\"\n[source]\nbootstrap_servers = \"a:1\"\ntopics = [\"t\"]\n[event.fields]\n\
             id = {{ path = \"@id\", type = \"text\" }}\n[database]\nurl = \"{database}\"\n[[database.steps]]\n\
             store = \"DELETE FROM t WHERE a = :id\"\n[rejects]\ndead_letter_topic = \"d\"\n{more}"
        );
        check("job.toml", &text, &|_| None).unwrap_or_else(|errors| panic!("{errors}"))
    }

    fn said(checked: &Checked, typed: &str) -> (String, u8) {
        let answer = Answer::of(checked, typed);
        assert_eq!(answer.to_json()["error"], typed);
        (answer.to_text(), answer.exit_code())
    }

    #[test]
    fn the_answer_is_about_this_job() {
        let checked = job("mysql://a@b/c", "");
        insta::assert_snapshot!(said(&checked, "er_data_too_long").0, @r#"
        MariaDB and MySQL 1406 ER_DATA_TOO_LONG: the value is longer than its column
          class: reject (provoked on a real server by a test)
          this job parks the event and every later one of its key in the ledger, in their order, and goes on with all other keys (rejects.refused = "park"); `tidegate parked retry JOB` has them tried again
          you: make the column longer
        "#);
        for (rule, does) in
            [("halt", "halts"), ("dead_letter", "sends its record to"), ("discard", "counts and logs")]
        {
            let ruled = job("mysql://a@b/c", &format!("refused = \"{rule}\"\n"));
            let (text, code) = said(&ruled, "1406");
            assert!(text.contains(does) && text.contains(&format!("rejects.refused = \"{rule}\"")), "{text}");
            assert_eq!((code, text.contains("exit code: 65")), (0, rule == "halt"), "{text}");
        }
        insta::assert_snapshot!(said(&checked, "1040").0, @r#"
        MariaDB and MySQL 1040 ER_CON_COUNT_ERROR: the server has no connection left (max_connections)
          class: outage (provoked on a real server by a test)
          this job holds: it keeps its place, stops reading, and goes on by itself from the very event that met it, however long it takes (outage.limit_s = 0)
          you: find who keeps so many connections, or raise max_connections
        "#);
        let limited = job("mysql://a@b/c", "[outage]\nlimit_s = 600\n");
        let (text, _) = said(&limited, "1040");
        assert!(
            text.contains("halts after 600 s (outage.limit_s)") && text.contains("exit code: 69"),
            "{text}"
        );
        insta::assert_snapshot!(said(&checked, "NOT_ENOUGH_REPLICAS").0, @r#"
        Kafka 19 NOT_ENOUGH_REPLICAS: too few replicas of the partition are in sync
          class: outage (by the engine's documents)
          this job holds: it keeps its place, stops reading, and goes on by itself from the very event that met it, however long it takes (outage.limit_s = 0)
          you: bring the other brokers back, or see min.insync.replicas of the topic
        "#);
        insta::assert_snapshot!(said(&checked, "77").0, @r#"
        Kafka 77 STALE_BROKER_EPOCH: the cluster is changing its controller
          class: outage (by the engine's documents)
          this job holds: it keeps its place, stops reading, and goes on by itself from the very event that met it, however long it takes (outage.limit_s = 0)
          you: nothing; where it stays, see the controllers' quorum

        exit code 77: rights are missing, or credentials are refused
          a supervisor: do not start it again by itself: somebody has to grant them
        "#);
    }

    #[test]
    fn a_number_of_two_worlds_is_told_twice() {
        let (text, code) = said(&job("sqlite:a.db", ""), "10");
        assert!(
            text.contains("SQLite 10 SQLITE_IOERR") && text.contains("Kafka 10 MSG_SIZE_TOO_LARGE"),
            "{text}"
        );
        assert_eq!(code, exit::OK);
    }

    #[test]
    fn what_no_table_has_is_said() {
        let checked = job("mysql://a@b/c", "");
        let (text, code) = said(&checked, "31999");
        assert!(
            text.contains("31999: no table knows this code\n  this job holds, and logs an alarm"),
            "{text}"
        );
        assert_eq!(code, exit::OK);
        let (text, code) = said(&checked, "ER_DATA_TO_LONG");
        assert!(text.contains("did you mean ER_DATA_TOO_LONG?"), "{text}");
        assert_eq!(code, exit::USAGE);
        let (text, code) = said(&checked, "SQLITE_FULL");
        assert!(text.contains("SQLite 13 SQLITE_FULL") && text.contains("never meets this code"), "{text}");
        assert_eq!(code, exit::OK);
    }
}
