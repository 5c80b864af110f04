//! The keys of `[job]` and `[source]`.

use super::{Default, Kind, Table, Word, key, table, word};

const STARTS: &[Word] = &[
    word("earliest", "at the oldest record"),
    word("latest", "behind the newest record"),
    word("group", "at the group's committed offsets; a partition without one is refused"),
];

pub(in crate::job) static JOB: Table = table(
    "job",
    &[
        key(
            "name",
            Kind::Text("name of a job"),
            Default::Required,
            "\"orders\"",
            "1 to 63 of a-z, 0-9, `.`, `_`, `-`, beginning with a letter or digit. Names the ledger's rows, the progress topic \
             `tidegate-NAME-progress` and the transactional ids `NAME-0`, `NAME-1`, ...",
        ),
        key(
            "key_groups",
            Kind::Integer { least: 1, most: 4096, or_zero: false },
            // Enough workers for most machines, and few enough rows in the ledger.
            Default::Is("16"),
            "16",
            "Fixed for the job's life; at least the number of workers it will ever have, and each costs a transactional id at \
             the start.",
        ),
        key(
            "audit",
            Kind::Boolean,
            Default::Is("true"),
            "true",
            "Whether every record that is read is followed to its outcome; what is lost or doubled on the way halts the job \
             (70), [named](operating.md#when-the-audit-speaks).",
        ),
    ],
);

pub(in crate::job) static SOURCE: Table = table(
    "source",
    &[
        key(
            "bootstrap_servers",
            Kind::Text("host:port"),
            Default::Required,
            "\"127.0.0.1:9092\"",
            "`host:port`, several by commas.",
        ),
        key(
            "topics",
            // A position keeps a topic's index in 16 bits.
            Kind::Texts { what: "topic", most: 1024 },
            Default::Required,
            "[\"orders\"]",
            "No two alike; names of the form `tidegate-JOB-progress` are Tidegate's own.",
        ),
        key(
            "start",
            Kind::Choice(STARTS),
            Default::Is("\"earliest\""),
            "\"group\"",
            "Where a job without a ledger begins. Afterwards the ledger alone decides.",
        ),
        key(
            "group_id",
            Kind::Text("consumer group"),
            Default::Words("\"tidegate-JOB\""),
            "\"tidegate-orders\"",
            "Not empty. Offsets are committed here for lag tools; nobody joins the group.",
        ),
        key(
            "client",
            Kind::Options,
            Default::Is("{}"),
            "{ \"fetch.min.bytes\" = \"1\" }",
            "Options for librdkafka, names in quotation marks. Values may be secrets and are never printed.",
        ),
    ],
);
