//! `parked show`: everything about events, their records included.
//!
//! In:        filters     Out: text or JSON; or one payload into a file
//! Holds:     one record at a time: it may have 64 MiB
//! Fails:     64: a payload is wanted, and not exactly one event is meant, it has none, or the file cannot be written
//! Not here:  no log line: a payload is shown to who asks for it, and to nobody else

use super::answer::nothing;
use super::ledger::Ledger;
use super::words::{counted, source, whole_json, whole_text};
use super::{Failure, Say, wish};
use crate::cli::args::ParkedShowArgs;
use crate::cli::exit;
use crate::database::{ParkedRow, ParkedState, ParkedWish};
use std::path::Path;

pub(super) fn show(args: &ParkedShowArgs, say: Say<'_>) -> Result<(), Failure> {
    let mut ledger = Ledger::open(&args.job)?;
    let wish = wish::wish(&args.filter, &ledger.spec)?;
    if let Some(file) = &args.payload_to {
        return payload_to(&mut ledger, &wish, args, file, say);
    }
    let (mut after, mut events): (_, u64) = (None, 0);
    loop {
        let page = ledger.ask(async |session| session.parked(&wish, after, 1, true).await)?;
        let Some(row) = page.first() else { break };
        after = Some(row.at);
        events += 1;
        say(&if args.json { whole_json(row).to_string() } else { whole_text(row) });
    }
    if events == 0 && !args.json {
        say(&nothing(&mut ledger, &args.filter)?);
    }
    Ok(())
}

fn payload_to(
    ledger: &mut Ledger,
    wish: &ParkedWish,
    args: &ParkedShowArgs,
    file: &Path,
    say: Say<'_>,
) -> Result<(), Failure> {
    let usage = |text: String| (text, exit::USAGE);
    let found = ledger.ask(async |session| session.parked(wish, None, 2, false).await)?;
    let row: &ParkedRow = match found.as_slice() {
        [] => return Err(usage(nothing(ledger, &args.filter)?)),
        [row] => row,
        // Events of one record have one payload.
        [row, ..] if wish.source.is_some() => row,
        [..] => {
            let text = "--payload-to takes the payload of one event, and several are meant: --source names one record";
            return Err(usage(text.to_owned()));
        }
    };
    if row.state == ParkedState::Dropped {
        return Err(usage(format!("{} was dropped: its record is not kept", source(row))));
    }
    let found = ledger.ask(async |session| session.parked(wish, None, 1, true).await)?;
    let same = found.first().filter(|whole| whole.at == row.at);
    let Some(value) = same.and_then(|whole| whole.record.value.as_ref()) else {
        return Err(usage(format!(
            "the record of {} has no payload, or is not parked any more",
            source(row)
        )));
    };
    let shown = file.display();
    std::fs::write(file, value).map_err(|error| usage(format!("{shown}: cannot be written: {error}")))?;
    let bytes = counted(u64::try_from(value.len()).unwrap_or(u64::MAX), "byte");
    say(&format!("{}: {bytes} written to {shown}", source(row)));
    Ok(())
}
