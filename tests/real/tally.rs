//! Counts what came out against the plan: lost, doubled, out of order, wrong.

use super::plan::Plan;
use std::fmt::Display;

/// One place where every event of a plan must be seen exactly once, and those of a key in their order.
pub struct Tally<'a> {
    what: &'static str,
    plan: &'a Plan,
    seen: Vec<u8>,
    next_sequence: Vec<u32>,
    out_of_order: usize,
    complaints: Vec<String>,
    wrong: usize,
}

impl<'a> Tally<'a> {
    pub fn new(what: &'static str, plan: &'a Plan) -> Tally<'a> {
        Tally {
            what,
            plan,
            seen: vec![0; plan.events.len()],
            next_sequence: vec![0; plan.keys as usize],
            out_of_order: 0,
            complaints: vec![],
            wrong: 0,
        }
    }

    /// An event was met.
    pub fn saw(&mut self, number: usize) {
        let Some(event) = self.plan.events.get(number) else {
            return self.complain(format!("event {number} was never sent"));
        };
        self.seen[number] = self.seen[number].saturating_add(1);
        let next = &mut self.next_sequence[event.key as usize];
        if event.sequence < *next {
            self.out_of_order += 1;
        }
        *next = (*next).max(event.sequence + 1);
    }

    /// Something is not as it must be.
    pub fn equal<T: PartialEq + std::fmt::Debug>(&mut self, of: impl Display, found: T, expected: T) {
        if found != expected {
            self.complain(format!("{of}: found {found:?}, expected {expected:?}"));
        }
    }

    /// Something is wrong that no comparison says.
    pub fn complain(&mut self, complaint: String) {
        self.wrong += 1;
        if self.complaints.len() < 5 {
            self.complaints.push(complaint);
        }
    }

    /// # Panics
    /// When anything was lost, doubled, out of order or wrong.
    pub fn finish(self) {
        let lost: Vec<_> = (0..self.seen.len()).filter(|&n| self.seen[n] == 0).collect();
        let doubled: Vec<_> = (0..self.seen.len()).filter(|&n| self.seen[n] > 1).collect();
        let faults = lost.len() + doubled.len() + self.out_of_order + self.wrong;
        assert_eq!(
            faults,
            0,
            "{}: of {} events {} lost {:?}.., {} doubled {:?}.., {} out of order, {} wrong:\n{}",
            self.what,
            self.seen.len(),
            lost.len(),
            &lost[..lost.len().min(5)],
            doubled.len(),
            &doubled[..doubled.len().min(5)],
            self.out_of_order,
            self.wrong,
            self.complaints.join("\n")
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::Size;
    use super::*;

    fn finish_with(numbers: impl FnOnce(&Plan) -> Vec<usize>) -> Result<(), String> {
        let plan = Plan::new(Size { events: 100, keys: 1 }, 7);
        let numbers = numbers(&plan);
        std::panic::catch_unwind(move || {
            let mut tally = Tally::new("a tally", &plan);
            numbers.into_iter().for_each(|number| tally.saw(number));
            tally.finish();
        })
        .map_err(|panic| *panic.downcast::<String>().expect("a message"))
    }

    #[test]
    fn a_tally_finds_what_is_lost_doubled_and_out_of_order() {
        let all = |plan: &Plan| (0..plan.events.len()).collect::<Vec<_>>();
        assert_eq!(finish_with(all), Ok(()));
        for (change, fault) in [
            ((|numbers: &mut Vec<usize>| numbers.retain(|n| *n != 50)) as fn(&mut Vec<usize>), "1 lost [50]"),
            (|numbers| numbers.insert(51, 50), "1 doubled [50]"),
            (|numbers| numbers.swap(50, 51), "1 out of order"),
            (|numbers| numbers.push(100), "event 100 was never sent"),
        ] {
            let message = finish_with(|plan| {
                let mut numbers = all(plan);
                change(&mut numbers);
                numbers
            });
            let message = message.expect_err(fault);
            assert!(message.contains(fault), "{message} lacks {fault}");
        }
    }
}
