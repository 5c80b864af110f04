//! Wrong: plans that run more together than they may. A comparison that cannot fail proves nothing.
//!
//! In:        a server     Out: a panic where one of them goes unnoticed
//! Not here:  the right plan (job::sets)

use super::play::{Server, Wrong};
use super::seeds::finds;
use tidegate::job::{Fold, SetMode, SetPlan};

/// What is wrong, the plan, and how many seeds it may take.
const WRONG: [(&str, Wrong, u64); 4] = [
    ("all at once", all_at_once, 20),
    ("a meeting is forgotten", meeting_forgotten, 60),
    ("waves that do not keep the order", order_forgotten, 150),
    ("capitals count", capitals_count, 300),
];

/// The first so many of them, the coarser ones in front.
pub fn each_is_found(server: &dyn Server, at_a_time: usize, first: usize) {
    for (what, wrong, seeds) in WRONG.into_iter().take(first) {
        finds(server, seeds, at_a_time, (what, wrong));
    }
}

fn all_at_once(plan: SetPlan) -> SetPlan {
    SetPlan { mode: SetMode::Together, ..plan }
}

fn meeting_forgotten(mut plan: SetPlan) -> SetPlan {
    plan.meetings.pop();
    plan
}

fn capitals_count(mut plan: SetPlan) -> SetPlan {
    for (_, fold) in plan.meetings.iter_mut().flat_map(|meeting| &mut meeting.parts) {
        if *fold == Fold::Folded {
            *fold = Fold::Exact;
        }
    }
    plan
}

fn order_forgotten(plan: SetPlan) -> SetPlan {
    let mode = if plan.mode == SetMode::WavesInOrder { SetMode::Waves } else { plan.mode };
    SetPlan { mode, ..plan }
}
