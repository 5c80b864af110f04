//! Watch: which process of the cluster has been silent for too long.
//!
//! In:        whom it has heard; a look now and then, with the time     Out: the process that must be taken for lost
//! Holds:     how long each has been silent
//! Fails:     never
//! Not here:  no clock: the caller's looks bring it
//!
//! Silence counts only while this process itself looks. Whoever was stopped, swapped out or paused with its machine has
//! not looked, and when it wakes up it knows nothing of the time in between: a gap between two looks counts for
//! [`GAP_MAX_MS`] at the most. So it accuses nobody with an old clock; and a slow machine notices late, and never wrongly.

/// What a gap between two looks counts for at the most.
pub const GAP_MAX_MS: u64 = 500;

/// One process's view of the others.
#[derive(Debug)]
pub struct Watch {
    own: usize,
    limit_ms: u64,
    silent_ms: Vec<u64>,
    looked_ms: Option<u64>,
}

impl Watch {
    /// Of process `own` of so many. `limit_ms`: a process that is silent for longer is lost.
    pub fn new(own: usize, processes: usize, limit_ms: u64) -> Watch {
        Watch { own, limit_ms, silent_ms: vec![0; processes], looked_ms: None }
    }

    /// This process was heard.
    pub fn heard(&mut self, process: usize) {
        if let Some(silent) = self.silent_ms.get_mut(process) {
            *silent = 0;
        }
    }

    /// A look, so many milliseconds after some moment that stays the same. Some: this process is lost.
    pub fn look(&mut self, now_ms: u64) -> Option<usize> {
        let before = self.looked_ms.replace(now_ms).unwrap_or(now_ms);
        let gap = now_ms.saturating_sub(before).min(GAP_MAX_MS);
        for (process, silent) in self.silent_ms.iter_mut().enumerate() {
            if process != self.own {
                *silent = silent.saturating_add(gap);
            }
        }
        self.silent_ms.iter().position(|silent| *silent > self.limit_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: u64 = 30_000;
    const STEP: u64 = 100;

    /// Looks every 100 ms for so long, and hears each of these once a second: when it accused whom.
    fn run(watch: &mut Watch, from: u64, lasts: u64, heard: &[usize]) -> Option<(usize, u64)> {
        let mut now = from;
        while now < from + lasts {
            if now.is_multiple_of(1_000) {
                heard.iter().for_each(|process| watch.heard(*process));
            }
            if let Some(lost) = watch.look(now) {
                return Some((lost, now));
            }
            now += STEP;
        }
        None
    }

    #[test]
    fn who_is_heard_is_never_lost() {
        let mut watch = Watch::new(1, 3, LIMIT);
        assert_eq!(run(&mut watch, 0, LIMIT * 10, &[0, 2]), None);
    }

    #[test]
    fn who_is_silent_is_lost_behind_the_limit_and_not_before() {
        let mut watch = Watch::new(1, 3, LIMIT);
        assert_eq!(run(&mut watch, 0, LIMIT, &[0, 2]), None);
        let (lost, when) = run(&mut watch, LIMIT, LIMIT * 2, &[0]).expect("process 2 is silent");
        assert_eq!(lost, 2);
        assert!(when > LIMIT * 2 - 2_000 && when < LIMIT * 2 + 1_000, "{when}");
    }

    #[test]
    fn who_was_stopped_itself_accuses_nobody_when_it_wakes_up() {
        let mut watch = Watch::new(0, 2, LIMIT);
        assert_eq!(run(&mut watch, 0, LIMIT - STEP * 20, &[]), None);
        // Away for a day, with nearly all of the limit used up before.
        let woken = 86_400_000;
        assert_eq!(watch.look(woken), None, "the day does not count");
        // What the peer said meanwhile comes in.
        watch.heard(1);
        assert_eq!(run(&mut watch, woken, LIMIT - STEP, &[]), None, "it starts anew");
        assert!(run(&mut watch, woken + LIMIT, LIMIT, &[]).is_some());
    }

    #[test]
    fn a_process_that_looks_seldom_notices_late_and_never_wrongly() {
        let mut watch = Watch::new(0, 2, LIMIT);
        // Starved: a look each 3 s, the peer heard each 30 s of the wall clock.
        for n in 0..1_000 {
            if n % 10 == 0 {
                watch.heard(1);
            }
            assert_eq!(watch.look(3_000 * n), None);
        }
    }
}
