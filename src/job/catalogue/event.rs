//! The keys of `[event]` and of its lists.

use super::field::FIELD;
use super::{Default, Kind, Table, Word, key, table, word};

const FORMATS: &[Word] = &[word("xml", "documents are XML")];
const NO_MATCHES: &[Word] = &[
    word("unreadable", "the record is rejected, with the reason `not_the_event`"),
    word("discard", "it has no events, and is counted as discarded"),
];
const DOCTYPES: &[Word] = &[
    word(
        "read",
        "its internal subset is read and its entities are expanded, within limits; nothing external is ever fetched",
    ),
    word("refuse", "a document with a DOCTYPE is unreadable"),
];
const TOMBSTONES: &[Word] = &[
    word("unreadable", "the record is rejected, with the reason `no_value`"),
    word("discard", "it is counted as discarded"),
    word(
        "event",
        "it is an event of its Kafka record key, for steps and outputs with `on = \"tombstone\"` or `\"any\"`",
    ),
];

pub(in crate::job) static EVENT: Table = table(
    "event",
    &[
        key("format", Kind::Choice(FORMATS), Default::Is("\"xml\""), "\"xml\"", "What the documents are."),
        key(
            "namespaces",
            Kind::Map("URI"),
            Default::Is("{}"),
            "{ s = \"urn:shop:1\" }",
            "Prefix to URI, for the paths below. Documents may use any prefix: names match by URI.",
        ),
        key(
            "each",
            Kind::Text("path"),
            Default::Words("the root element"),
            "\"/s:orders/s:order\"",
            "The path of the event's element, from the root: one event for each element that it finds, in document order. Left \
             out: the root element, whatever its name is.",
        ),
        key(
            "no_match",
            Kind::Choice(NO_MATCHES),
            Default::Is("\"unreadable\""),
            "\"discard\"",
            "What a document is in which `each` finds nothing.",
        ),
        key(
            "key",
            Kind::Texts { what: "path or reference", most: usize::MAX },
            Default::Words("the Kafka record key"),
            "[\"s:supplier/@id\", \"@id\"]",
            "The ordering key's parts, no two alike: paths, `\":_key\"`, `\":_header.NAME\"`. Events with the same key stay in \
             order.",
        ),
        key(
            "doctype",
            Kind::Choice(DOCTYPES),
            Default::Is("\"read\""),
            "\"refuse\"",
            "What becomes of a document with a document type declaration.",
        ),
        key(
            "tombstone",
            Kind::Choice(TOMBSTONES),
            Default::Is("\"unreadable\""),
            "\"event\"",
            "What a record without a value is.",
        ),
        key(
            "fields",
            Kind::Named(&FIELD),
            Default::Is("{}"),
            "",
            "What statements and outputs refer to as `:NAME`.",
        ),
        key("lists", Kind::Named(&LIST), Default::Is("{}"), "", "Repeated elements: child tables."),
    ],
);

/// A list has lists, as the event has.
pub(in crate::job) static LIST: Table = table(
    "event.lists.NAME",
    &[
        key(
            "each",
            Kind::Text("path"),
            Default::Required,
            "\"s:lines/s:line\"",
            "The repeated element: downwards from the event's element, or, in a list inside of another, from its row's.",
        ),
        key(
            "fields",
            Kind::Named(&FIELD),
            Default::Is("{}"),
            "{ sku = { path = \"@sku\", type = \"text\" } }",
            "As those of the event, with paths from the row's element, and `path` as their only source.",
        ),
        key("lists", Kind::Named(&LIST), Default::Is("{}"), "", "Lists inside of this one."),
    ],
);
