//! Refusals: tells a refusal that stays from one that passes.
//!
//! In:        "it refuses" and "it does not refuse any more", from whoever asks one world again and again
//! Out:       since when it refuses, once that is long enough to be believed
//! Holds:     since when, and how often in a row
//! Order:     refusals count in a row; any other answer ends the row
//! Fails:     never
//! Not here:  what is a refusal (the tables of codes), and what is done about it (prober, emitter, ledger)
//!
//! A server that comes back may refuse for a moment: a replica whose accounts are not there yet, a proxy that is being
//! configured, a schema that is being put back. Who halts at once needs a person for what would have passed.

use std::time::Duration;
use tokio::time::Instant;

/// How long a world must refuse without a break before that is believed.
pub const STAYS_FOR: Duration = Duration::from_secs(10);

/// And how often at the least: one answer before a silence and one behind it prove nothing.
const TIMES: u32 = 4;

/// A row of refusals.
#[derive(Clone, Copy, Debug, Default)]
pub struct Refusals {
    since: Option<Instant>,
    times: u32,
}

impl Refusals {
    /// It refuses, once more: for how long it does by now, where that is to be believed.
    pub fn again(&mut self) -> Option<Duration> {
        let refused_for = self.since.get_or_insert_with(Instant::now).elapsed();
        self.times = self.times.saturating_add(1);
        (self.times >= TIMES && refused_for >= STAYS_FOR).then_some(refused_for)
    }

    /// The last answer was a refusal.
    pub fn goes_on(&self) -> bool {
        self.since.is_some()
    }

    /// It gave another answer.
    pub fn end(&mut self) {
        *self = Refusals::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::advance;

    #[test]
    fn only_what_stays_is_believed() {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime.enable_all().start_paused(true).build().unwrap().block_on(stays());
    }

    async fn stays() {
        let mut refusals = Refusals::default();
        for _ in 0..20 {
            assert_eq!(refusals.again(), None, "often, and for a moment");
        }
        advance(STAYS_FOR).await;
        assert_eq!(refusals.again(), Some(STAYS_FOR));
        refusals.end();
        assert_eq!(refusals.again(), None, "the row begins anew");
        advance(STAYS_FOR * 2).await;
        assert_eq!(refusals.again(), None, "for long, and twice only");
    }
}
