//! The keys of `[rejects]`, `[outage]` and `[limits]`.

use super::{Default, Kind, Table, Word, key, table, word};

const MIB: u64 = 1 << 20;

const UNREADABLES: &[Word] = &[
    word("dead_letter", "to `dead_letter_topic`"),
    word("halt", "the job ends with 65"),
    word("discard", "counted, and logged with its coordinates"),
];
const RULES: &[Word] = &[
    word("dead_letter", "to `dead_letter_topic`"),
    word("park", "into the ledger, and later events of its key behind it"),
    word("halt", "the job ends with 65"),
    word("discard", "counted, and logged with its coordinates"),
];

pub(in crate::job) static REJECTS: Table = table(
    "rejects",
    &[
        key(
            "unreadable",
            Kind::Choice(UNREADABLES),
            Default::Words("\"halt\""),
            "\"dead_letter\"",
            "Records, and events of one, that cannot be read. `\"dead_letter\"` is the default where there is a \
             `dead_letter_topic`.",
        ),
        key(
            "refused",
            Kind::Choice(RULES),
            Default::Words("\"park\""),
            "\"dead_letter\"",
            "Events that the database can never store, or whose output XML cannot express. [What the rules do](#what-becomes-of-a-reject).",
        ),
        key(
            "missing_lookup",
            Kind::Choice(RULES),
            Default::Words("\"park\""),
            "\"park\"",
            "Look-ups that find no row, where `missing = \"reject\"`. `\"dead_letter\"` is the default where there is a \
             `dead_letter_topic`.",
        ),
        key(
            "too_large",
            Kind::Choice(RULES),
            Default::Words("\"park\""),
            "\"discard\"",
            "Outputs over the limit of their topic (its `max.message.bytes`, read at the start, before compression), found before \
             anything is stored. `\"dead_letter\"` is the default where there is a `dead_letter_topic`.",
        ),
        key(
            "dead_letter_topic",
            Kind::Text("topic"),
            Default::None,
            "\"orders.rejected\"",
            "A topic that is neither read nor one that an output goes to; needed where a rule is `\"dead_letter\"`.",
        ),
        key(
            "budget",
            Kind::Table(&BUDGET),
            Default::None,
            "{ share = 0.05, window_s = 60, at_least = 100 }",
            "More rejects than that halt the job (65), whatever their rule. [How it counts](#a-flood-of-rejects).",
        ),
    ],
);

pub(in crate::job) static BUDGET: Table = table(
    "rejects.budget",
    &[
        key("share", Kind::Share, Default::Required, "0.05", "0.000001 to 1 of the records."),
        key(
            "window_s",
            Kind::Integer { least: 1, most: 86_400, or_zero: false },
            Default::Is("60"),
            "60",
            "Rejects that are further apart than so many seconds are no flood.",
        ),
        key(
            "at_least",
            Kind::Integer { least: 1, most: 1_000_000, or_zero: false },
            Default::Is("100"),
            "100",
            "So many are always let through.",
        ),
    ],
);

pub(in crate::job) static OUTAGE: Table = table(
    "outage",
    &[key(
        "limit_s",
        Kind::Integer { least: 0, most: 4_294_967_295, or_zero: false },
        Default::Is("0"),
        "3600",
        "Seconds that the database, or the broker for sending, may be out before the job halts (exit code 69); 0: it holds for \
         ever. Reading alone always waits.",
    )],
);

pub(in crate::job) static LIMITS: Table = table(
    "limits",
    &[
        key(
            "in_flight_bytes",
            Kind::Size { least: MIB, most: 1024 * 1024 * MIB },
            Default::Is("\"16MiB\""),
            "\"256MiB\"",
            "Per process: read and not yet committed; at least `document_bytes`. May be overdrawn by what one reader takes at a \
             time, and by what is made of that.",
        ),
        key(
            "document_bytes",
            // An output place is kept as 32 bits.
            Kind::Size { least: 1024, most: 1024 * MIB },
            Default::Is("\"1MiB\""),
            "\"16MiB\"",
            "Of one document.",
        ),
        key(
            "document_depth",
            Kind::Integer { least: 1, most: 10_000, or_zero: false },
            Default::Is("256"),
            "64",
            "Elements inside elements.",
        ),
        key(
            "events_per_record",
            // Each counts some 400 bytes and what was read of it: this bounds what one record can do to the memory.
            Kind::Integer { least: 1, most: 1_000_000, or_zero: false },
            Default::Is("100000"),
            "100000",
            "A record with more events is unreadable.",
        ),
        key(
            "peer_silence_s",
            // A process says once a second that it is alive: less than a few of these is no silence.
            Kind::Integer { least: 5, most: 86_400, or_zero: true },
            Default::Is("30"),
            "30",
            "A process of the cluster that has said nothing for so many seconds, though its connection is open, is lost: all \
             others end with 75. 0: it is waited for, for ever.",
        ),
        key(
            "parked_keys",
            Kind::Integer { least: 1, most: 100_000_000, or_zero: false },
            Default::Is("1000000"),
            "1000000",
            "Ordering keys that may be parked in a process's key groups, shared evenly by its workers (some 100 bytes of memory \
             each: a million measured at 98 MiB, and 4 s more of a start); one more halts the job (65): by then something is \
             wrong that is not an event.",
        ),
    ],
);
