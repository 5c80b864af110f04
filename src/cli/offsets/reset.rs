//! `offsets reset`: shows what a move of positions does, and does it where it is told to.
//!
//! In:        a job file and a place to go to     Out: a table of before and after; or one JSON object
//! Fails:     64: no such place; 76: the world does not allow it; else as a start fails

use super::Failure;
use crate::cli::args::{OutboxRule, ResetArgs};
use crate::cli::{exit, load, worlds};
use crate::cluster::{Failed, Preview, Reset};
use crate::protocol::halt::HaltKind;
use crate::protocol::reset::{InDoubt, Step, Wish};
use crate::status::Board;
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) fn reset(args: &ResetArgs) -> Result<(String, u8), Failure> {
    let checked = load::load(&args.job).map_err(|text| (text, exit::JOB))?;
    let worlds = worlds::open(checked).map_err(|text| (text, exit::JOB))?;
    let job = worlds.job(&Arc::new(Board::new(1)), false);
    let in_doubt = args.outbox.map(|rule| match rule {
        OutboxRule::Send => InDoubt::Send,
        OutboxRule::Drop => InDoubt::Drop,
    });
    let wish = Wish { to: args.to.clone(), only: args.only.clone(), in_doubt };
    let reset = Reset::new(&job).map_err(failure)?;
    let shown = if args.execute { reset.execute(&wish) } else { reset.preview(&wish) }.map_err(failure)?;
    let code = if shown.group_failed.is_some() { HaltKind::Outage.exit_code() } else { exit::OK };
    let name = &job.spec.name;
    let text =
        if args.json { as_json(name, &shown, args.execute) } else { lines(name, &shown, args.execute) };
    Ok((text, code))
}

fn failure(failed: Failed) -> Failure {
    match failed {
        Failed::Usage(text) => (text, exit::USAGE),
        Failed::Halt(halt) => (halt.message.clone(), halt.kind.exit_code()),
    }
}

fn lines(job: &str, shown: &Preview, executed: bool) -> String {
    let name = |step: &Step| format!("{}/{}", step.found.topic, step.found.partition);
    let steps = &shown.plan.steps;
    let width = steps.iter().map(|step| name(step).len()).max().unwrap_or(0).max("partition".len());
    let mut lines = vec![format!(
        "{:width$} {:>14} {:>14} {:>14} {:>14} {:>14}",
        "partition", "ledger", "group", "to", "again", "skipped"
    )];
    for step in steps {
        let or_dash =
            |next: Option<crate::model::NextOffset>| next.map_or_else(|| "-".to_owned(), |n| n.to_string());
        lines.push(format!(
            "{:width$} {:>14} {:>14} {:>14} {:>14} {:>14}{}",
            name(step),
            or_dash(step.found.ledger),
            or_dash(step.found.group),
            step.to.to_string(),
            step.again(),
            step.skipped(),
            if !step.chosen {
                "  stays"
            } else if step.found.anew {
                "  topic made anew"
            } else {
                ""
            }
        ));
    }
    lines.extend(remarks(shown));
    lines.push(match (executed, &shown.group_failed) {
        (false, _) => format!(
            "nothing was changed: --execute does it, and ends an instance of job \"{job}\" that runs; stop it first (SIGTERM)"
        ),
        (true, None) => format!("done: the ledger of job \"{job}\" and consumer group \"{}\" stand there", shown.group_id),
        (true, Some(why)) => format!(
            "the ledger of job \"{job}\" was moved, and consumer group \"{}\" was not ({why}): `--to ledger --execute` does it",
            shown.group_id
        ),
    });
    lines.join("\n")
}

/// What is to be known beside the table.
fn remarks(shown: &Preview) -> Vec<String> {
    let mut remarks = Vec::new();
    if shown.plan.steps.iter().any(|step| step.again() > 0) {
        remarks.push(
            "again: offsets that are handled a second time; what is stored and sent for them comes a second time, too"
                .to_owned(),
        );
    }
    if shown.plan.steps.iter().any(|step| step.skipped() > 0) {
        remarks.push("skipped: offsets that are never handled".to_owned());
    }
    if let Some(why) = &shown.disagreement {
        remarks.push(format!("ledger and progress topic do not fit together: {why}"));
    }
    if let (Some((group, from, to)), count) = (shown.raised.first(), shown.raised.len()) {
        remarks.push(format!(
            "batch numbers of {count} key groups go up to the progress topic's (key group {group}: {from} to {to}): what the \
             ledger has not and Kafka has is handled again, and its outputs are sent again"
        ));
    }
    for (batches, what) in [
        (&shown.plan.send, "sent first: the outbox has them and Kafka has not"),
        (&shown.plan.drop, "dropped: they count as sent"),
    ] {
        if let (Some((group, batch)), count) = (batches.first(), batches.len()) {
            remarks
                .push(format!("{count} batches (key group {group}, batch {batch} is the first) are {what}"));
        }
    }
    remarks
}

fn as_json(job: &str, shown: &Preview, executed: bool) -> String {
    let partitions: Vec<Value> = shown
        .plan
        .steps
        .iter()
        .map(|step| {
            json!({
                "topic": step.found.topic, "partition": step.found.partition, "chosen": step.chosen,
                "ledger": step.found.ledger, "handled": step.found.handled, "group": step.found.group,
                "first": step.found.first, "end": step.found.end, "to": step.to, "again": step.again(),
                "skipped": step.skipped(), "topic_made_anew": step.found.anew,
            })
        })
        .collect();
    let batches = |list: &[(crate::model::KeyGroup, crate::model::BatchNumber)]| -> Vec<Value> {
        list.iter().map(|(group, batch)| json!({ "key_group": group, "batch": batch })).collect()
    };
    let raised: Vec<Value> = shown
        .raised
        .iter()
        .map(|(group, from, to)| json!({ "key_group": group, "from": from, "to": to }))
        .collect();
    json!({
        "job": job, "executed": executed, "group_id": shown.group_id, "partitions": partitions,
        "sent": batches(&shown.plan.send), "dropped": batches(&shown.plan.drop), "raised": raised,
        "disagreement": shown.disagreement, "group_failed": shown.group_failed,
    })
    .to_string()
}
