//! The keys of `[database]` and of its steps.

use super::output::ONS;
use super::{Default, Kind, Table, Word, key, table, word};

const MISSINGS: &[Word] = &[
    word("reject", "the event is a reject, see `rejects.missing_lookup`"),
    word("null", "all its columns are NULL"),
];

pub(in crate::job) static DATABASE: Table = table(
    "database",
    &[
        key(
            "url",
            Kind::Text("URL"),
            Default::Required,
            "\"mysql://app@127.0.0.1:3306/shop\"",
            "`mysql://user:password@host:port/schema`, `mariadb://...` (port 3306 where none is given; `%40` for `@` and so on; \
             the password by a variable), `sqlite:path` relative to the working directory.",
        ),
        key(
            "password_file",
            Kind::Text("path of a file"),
            Default::None,
            "\"secrets/db\"",
            "A file with one line, relative to the job file; not with a password in the URL, not with SQLite.",
        ),
        key(
            "connections",
            Kind::Integer { least: 1, most: 64, or_zero: false },
            Default::Is("4"),
            "8",
            "Per process: transactions open at the same time; shared among its workers, at least one each. With SQLite 1.",
        ),
        key(
            "batch_events",
            Kind::Integer { least: 1, most: 10_000, or_zero: false },
            Default::Is("500"),
            "500",
            "Events in one transaction at the most.",
        ),
        key(
            "deadline_s",
            Kind::Integer { least: 1, most: 3600, or_zero: false },
            Default::Is("30"),
            "30",
            "Seconds for one transaction, before its connection is given up.",
        ),
        key(
            "together",
            Kind::Boolean,
            Default::Is("true"),
            "false",
            "`false`: the job's steps are run event by event. Only needed where steps meet by something that neither their SQL nor \
             the schema shows, such as a trigger on a table on which the job's account has not the right TRIGGER. What may run \
             together is found out from the SQL and, at a start, from views, triggers, foreign keys, unique keys and types of \
             columns, so that the outcome is that of one by one; `tidegate explain` says how each step runs by its SQL, and the \
             log of a start which do not run together, each with the reason.",
        ),
        key(
            "steps",
            Kind::Tables(&STEP),
            Default::Is("[]"),
            "",
            "`[[database.steps]]`, in order, all in one transaction. Without steps there must be an output.",
        ),
    ],
);

pub(in crate::job) static STEP: Table = Table {
    path: "database.steps[]",
    one_of: &["lookup", "store"],
    keys: &[
        key(
            "name",
            Kind::Text("name"),
            Default::None,
            "\"customer\"",
            "For messages, and for `:name.column`; no two alike.",
        ),
        key(
            "lookup",
            Kind::Text("SQL"),
            Default::None,
            "\"SELECT name, tier FROM customer WHERE id = :customer\"",
            "One SELECT that gives at most one row; a step has either this or `store`.",
        ),
        key(
            "store",
            Kind::Text("SQL"),
            Default::None,
            "\"INSERT INTO orders (id, total) VALUES (:id, :total)\"",
            "One INSERT, REPLACE, UPDATE or DELETE.",
        ),
        key(
            "missing",
            Kind::Choice(MISSINGS),
            Default::Is("\"reject\""),
            "\"null\"",
            "What no row means; only with `lookup`.",
        ),
        key(
            "cache_s",
            Kind::Integer { least: 0, most: 86_400, or_zero: false },
            Default::Is("0"),
            "60",
            "Seconds for which a row that was found is not asked for again; 0: each transaction asks. What others change in that \
             time is not seen; that there is no row is never kept. Not for a table that the job writes; only with `lookup`. At most \
             20,000 rows per worker.",
        ),
        key(
            "on",
            Kind::Choice(ONS),
            Default::Is("\"document\""),
            "\"tombstone\"",
            "For which records it is run.",
        ),
        key(
            "for_each",
            Kind::Text("name of a list"),
            Default::None,
            "\"lines\"",
            "It is run for each row of that list, in document order; only with `store`.",
        ),
        key(
            "when",
            Kind::Text("condition"),
            Default::None,
            "\":status != 'draft'\"",
            "It is run only where this [condition](#conditions) holds, with `for_each` asked per row. The columns of a look-up \
             that is not run are NULL, and nothing is missing.",
        ),
    ],
};
