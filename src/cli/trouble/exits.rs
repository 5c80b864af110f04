//! Exit codes: what each means, and what a supervisor does about it.
//!
//! In:        nothing     Out: a table
//! Order:     by code
//! Fails:     never
//! Not here:  which cause has which code (`protocol::halt`, `cli::exit`): a test holds the table to them

/// An exit code.
#[derive(Debug)]
pub(in crate::cli) struct Exit {
    pub(in crate::cli) code: u8,
    pub(in crate::cli) means: &'static str,
    /// A supervisor starts it again by itself; else a person has to do something first.
    pub(in crate::cli) restart: bool,
    pub(in crate::cli) why: &'static str,
}

const fn exit(code: u8, restart: bool, means: &'static str, why: &'static str) -> Exit {
    Exit { code, means, restart, why }
}

/// All of them.
pub(in crate::cli) const EXITS: [Exit; 10] = [
    exit(0, false, "drained (SIGTERM, SIGINT, --until-end)", "somebody wanted it to end"),
    exit(64, false, "wrong usage", "the same arguments give the same answer"),
    exit(
        65,
        false,
        "a reject whose rule is halt, more of them than the budget, or more parked keys than allowed",
        "the next start meets the same event, or sets as many aside again before it halts",
    ),
    exit(69, true, "an outage longer than outage.limit_s", "a start waits for servers, for as long again"),
    exit(
        70,
        true,
        "an internal fault",
        "what was in doubt is looked up. Let it wake a person: what the audit finds ends with this code, too",
    ),
    exit(75, true, "a peer process was lost", "all processes end with it, and are started together"),
    exit(
        76,
        false,
        "a newer instance runs, or positions are not what they were",
        "a start would end the newer instance, and the two would take turns",
    ),
    exit(77, false, "rights are missing, or credentials are refused", "somebody has to grant them"),
    exit(78, false, "the job file, or the schema it meets, is wrong", "somebody has to mend it"),
    exit(143, true, "a second signal: ended at once", "the next start goes on where it stood"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::exit as codes;
    use crate::protocol::halt::HaltKind as Kind;

    #[test]
    fn every_code_that_a_process_ends_with_is_there() {
        let halts = [
            Kind::Reject,
            Kind::Outage,
            Kind::Internal,
            Kind::PeerLost,
            Kind::Fenced,
            Kind::Rights,
            Kind::Misconfigured,
        ];
        let mut ends: Vec<u8> = halts.map(Kind::exit_code).to_vec();
        ends.extend([codes::OK, codes::USAGE, codes::INTERNAL, codes::PEER_LOST, codes::JOB, codes::AT_ONCE]);
        ends.sort_unstable();
        ends.dedup();
        assert_eq!(EXITS.map(|exit| exit.code).to_vec(), ends);
    }
}
