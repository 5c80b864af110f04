//! `dead-letters`: what a job has rejected: a list, one in full, and its records back to where they came from.
//!
//! In:        a job file and a filter     Out: lines, or JSON
//! Order:     per partition of the dead-letter topic as the broker keeps it
//! Fails:     64: not the one letter that was asked for; 65: letters that cannot be replayed; 76: another replay began; else
//!            as Kafka fails
//! Not here:  the job's ledger and its database: nobody asks them

mod filter;
mod letter;
mod list;
mod replay;
mod replayed;
mod show;
mod topic;

pub(super) use filter::{letter_at, moment};

use super::args::{DeadLettersArgs, DeadLettersVerb};
use super::exit;
use super::out::error_line;
use super::verify::Failure;

pub(super) fn dead_letters(args: &DeadLettersArgs) -> u8 {
    let done = match &args.what {
        DeadLettersVerb::List { job, filter, json } => list::list(job, filter, *json).map(|()| exit::OK),
        DeadLettersVerb::Show { job, filter, payload_to, json } => {
            show::show(job, filter, payload_to.as_deref(), *json).map(|()| exit::OK)
        }
        DeadLettersVerb::Replay(args) => replay::replay(args),
    };
    done.unwrap_or_else(|Failure { text, code }| {
        error_line(&text);
        code
    })
}
