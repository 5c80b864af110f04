//! `parked`: what is set aside because the database can never store it; and having it tried again or dropped.
//!
//! In:        a job file and filters     Out: lines, or JSON objects, one a line
//! Holds:     one page of events at a time, however many are parked; to mark and to wait, some 40 bytes per key
//! Order:     a command only marks: the job that runs does the work, inside of its own transactions
//! Fails:     64: a filter that cannot be; 65, 69: what was waited for was refused, or not done in time; 69, 77, 78 as a start
//! Not here:  what a mark means (database), who handles what is marked (protocol, operator)

mod answer;
mod ledger;
mod list;
mod mark;
mod show;
mod wait;
mod wish;
pub(super) mod words;

pub(super) use wish::{hex_bytes, moment, source};

use super::args::{ParkedArgs, ParkedVerb};
use super::exit;
use super::out::{error_line, line};

/// What went wrong, and the exit code.
type Failure = (String, u8);

/// Where lines go.
type Say<'a> = &'a mut dyn FnMut(&str);

/// Most keys or events of a page.
const PAGE: usize = 256;

pub(super) fn parked(args: &ParkedArgs) -> u8 {
    let say: Say<'_> = &mut |text| line(text);
    let done = match &args.what {
        ParkedVerb::List(args) => list::list(args, say).map(|()| exit::OK),
        ParkedVerb::Show(args) => show::show(args, say).map(|()| exit::OK),
        ParkedVerb::Retry(args) => mark::mark(args, mark::Verb::Retry, say),
        ParkedVerb::Drop(args) => mark::mark(args, mark::Verb::Drop, say),
    };
    done.unwrap_or_else(|(text, code)| {
        error_line(&text);
        code
    })
}
