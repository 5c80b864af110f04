//! The tree itself: what may import what, what each file owes its reader, and that the documents say what the code does.
//!
//! In:        the files of this repository; the job checker and the exit codes, which the documents are compared with
//! Fails:     with every offence at once, each with its file
//! Not here:  nothing that runs a job, and no server: tests/real does that

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking; helpers of a test are not inside of one"
)]

// The files, and Rust text without its comments and strings.
mod code;
mod files;

// The code.
mod boundaries;
mod tidiness;

// The documents.
mod documents;
mod job_reference;

/// Fails with everything that was found.
#[track_caller]
fn assert_none(offences: &[String], rule: &str) {
    assert!(offences.is_empty(), "{rule}:\n  {}", offences.join("\n  "));
}
