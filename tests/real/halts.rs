//! Where going on would be wrong: the exit codes of the contract, one clear message, and nothing done that a later start
//! would have to undo.

use super::input;
use super::job::Job;
use super::plan::Unreadable;
use super::process::{Ended, run, run_cluster, start};
use super::services::turn;
use super::verify;
use super::wait::report;
use std::time::Duration;

const DEADLINE: Duration = Duration::from_secs(60);

#[test]
fn a_missing_table_is_refused_by_name() {
    let turn = turn();
    let mut job = Job::new(turn.services, input::small(turn.services), "no_table");
    job.journal = "journel";
    let ended = run(&job, &["--until-end"]).expect(78, DEADLINE);
    assert!(ended.log.contains("journel"), "the message names the table:\n{}", ended.log);
    assert_untouched(&job);
}

#[test]
fn a_missing_output_topic_is_refused_by_name() {
    let turn = turn();
    let mut job = Job::new(turn.services, input::small(turn.services), "no_topic");
    job.output = format!("{}_nowhere", job.name);
    let ended = run(&job, &["--until-end"]).expect(78, DEADLINE);
    assert!(ended.log.contains(&job.output), "the message names the topic:\n{}", ended.log);
    assert_untouched(&job);
}

#[test]
fn a_wrong_password_is_refused_and_never_printed() {
    let turn = turn();
    let job = Job::new(turn.services, input::small(turn.services), "password");
    let file = job.write_file();
    job.place("password", "hunter-two\n");
    let path = file.to_str().expect("a temporary path is text");
    let ended = start(job.dir.path(), &["run", path, "--until-end"]).expect(77, DEADLINE);
    assert!(!ended.log.contains("hunter-two"), "the password stands in the log:\n{}", ended.log);
    assert_untouched(&job);
}

#[test]
fn a_rule_that_halts_stops_before_the_unreadable_record_again_and_again() {
    let turn = turn();
    let mut job = Job::new(turn.services, input::small(turn.services), "halt");
    job.unreadable = "halt";
    for _ in 0..2 {
        let ended = run(&job, &["-w", "2", "--until-end"]).expect(65, DEADLINE);
        let plan = &job.input.plan;
        let at = |n: usize| job.input.source(plan.unreadable[n].partition, plan.unreadable[n].offset);
        let named = (0..plan.unreadable.len()).any(|n| ended.log.contains(&at(n)));
        assert!(named, "the message names a record that cannot be read:\n{}", ended.log);
        let incident = job.incident("");
        assert_eq!(
            (&incident["kind"], &incident["exit_code"]),
            (&"reject".into(), &65.into()),
            "{incident:#}"
        );
        assert_eq!(incident["error"]["class"], "unreadable", "{incident:#}");
        let stands = |record: &Unreadable| {
            (&incident["record"]["partition"], &incident["record"]["offset"])
                == (&record.partition.into(), &record.offset.into())
        };
        assert!(plan.unreadable.iter().any(stands), "the record is one that cannot be read: {incident:#}");
        for (partition, committed) in job.input_positions().committed().into_iter().enumerate() {
            let first = plan.unreadable.iter().find(|record| record.partition == partition as i32);
            let first = first.expect("each partition has one").offset;
            assert!(committed <= first, "partition {partition}: committed {committed}, unreadable {first}");
        }
    }
    // The rule changed, the job goes on where it stood.
    job.unreadable = "dead_letter";
    run(&job, &["-w", "2", "--until-end"]).expect(0, super::runs::RUN_DEADLINE);
    verify::all(&job);
}

#[test]
fn every_process_names_the_same_first_cause() {
    let turn = turn();
    let mut job = Job::new(turn.services, input::small(turn.services), "cause");
    job.unreadable = "halt";
    let processes = run_cluster(&job, 3, 2, &["--until-end"]);
    let ends: Vec<Ended> = processes.into_iter().map(|process| process.expect(65, DEADLINE)).collect();
    let took = ends.iter().map(|ended| ended.took);
    let apart = took.clone().max().unwrap_or_default() - took.min().unwrap_or_default();
    report(&format!(
        "a halt on three processes: {} ms between the first end and the last",
        apart.as_millis()
    ));
    assert!(apart < Duration::from_secs(2), "{apart:?} between the first end and the last");
    let incidents = ["", "-p1", "-p2"].map(|process| job.incident(process));
    for (number, incident) in incidents.iter().enumerate() {
        assert_eq!(incident["process"], number, "{incident:#}");
        for key in ["kind", "exit_code", "cause", "record", "error", "first_on", "job_file_sha256"] {
            assert_eq!(incident[key], incidents[0][key], "{key} of process {number}");
        }
    }
}

#[test]
fn wrong_usage_and_a_missing_job_file() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    start(dir.path(), &["run"]).expect(64, DEADLINE);
    start(dir.path(), &["swim"]).expect(64, DEADLINE);
    let ended = start(dir.path(), &["run", "nowhere.toml"]).expect(78, DEADLINE);
    assert!(ended.log.contains("nowhere.toml"), "{}", ended.log);
}

/// A job that was refused has stored nothing and committed nothing.
fn assert_untouched(job: &Job) {
    assert_eq!(job.sql().peek::<i64>("SELECT COUNT(*) FROM journal"), Some(0));
    // A start that finds nothing wrong shows where it begins, before a statement meets what is missing.
    let committed = job.input_positions().committed();
    assert!(committed.iter().all(|next| *next <= 0), "records are committed: {committed:?}");
}

#[test]
fn an_output_topic_that_is_deleted_under_the_job_halts_it_by_name() {
    let turn = turn();
    let job = Job::new(turn.services, input::full(turn.services), "deleted");
    let mut process = run(&job, &["-w", "2"]);
    super::outages::stored_at_least(&job, &mut process, 2_000);
    super::kafka::delete_topics(&turn.services.kafka, &[&job.output]);
    let ended = process.expect(78, DEADLINE);
    assert!(ended.log.contains(&job.output), "the message names the topic:\n{}", ended.log);
}
