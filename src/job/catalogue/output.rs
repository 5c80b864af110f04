//! The keys of `[output]`, and of the changes that it makes.

use super::{Default, Kind, Table, Word, key, table, word};

pub(super) const ONS: &[Word] = &[
    word("document", "records with a value"),
    word("tombstone", "records without one; needs `event.tombstone = \"event\"`"),
    word("any", "both"),
];
const DOCUMENTS: &[Word] = &[
    word("input", "the document as it came, byte for byte, with the changes"),
    word("element", "the event's element alone, with the changes"),
    word("template", "a new document from `template_file`"),
];

pub(in crate::job) static OUTPUT: Table = table(
    "output",
    &[
        key("name", Kind::Text("name"), Default::None, "\"enriched\"", "For messages; no two alike."),
        key(
            "on",
            Kind::Choice(ONS),
            Default::Is("\"document\""),
            "\"any\"",
            "For which records it is sent. Of a tombstone a tombstone is sent.",
        ),
        key(
            "topic",
            Kind::Text("topic or reference"),
            Default::Required,
            "\"orders.enriched\"",
            "A topic that the job does not read, or `\":field\"`: the topic that its value names, which is one of `topics`, else \
             the event is a reject (`output_topic`).",
        ),
        key(
            "topics",
            Kind::Texts { what: "topic", most: usize::MAX },
            Default::None,
            "[\"orders.gold\", \"orders.silver\"]",
            "The topics that `topic = \":field\"` may name.",
        ),
        key(
            "key",
            Kind::Texts { what: "reference", most: usize::MAX },
            Default::Words("the ordering key"),
            "[\":id\"]",
            "The Kafka key's parts; several are joined by a vertical bar.",
        ),
        key(
            "when",
            Kind::Text("condition"),
            Default::None,
            "\":total > 1000\"",
            "It is sent only where this [condition](#conditions) holds.",
        ),
        key("document", Kind::Choice(DOCUMENTS), Default::Is("\"input\""), "\"element\"", "What is sent."),
        key(
            "template_file",
            Kind::Text("path of a file"),
            Default::None,
            "\"order.xml.j2\"",
            "Relative to the job file; with `document = \"template\"`, and then required.",
        ),
        key("add", Kind::Tables(&ADD), Default::Is("[]"), "", "`[[output.add]]`: elements that are added."),
        key(
            "set",
            Kind::Tables(&SET),
            Default::Is("[]"),
            "",
            "`[[output.set]]`: texts and attributes that are replaced.",
        ),
        key(
            "remove",
            Kind::Texts { what: "path", most: usize::MAX },
            Default::Is("[]"),
            "[\"s:internal\", \"s:customer/@secret\"]",
            "Elements and attributes that are taken away, all that a path finds; none is fine.",
        ),
    ],
);

pub(in crate::job) static ADD: Table = table(
    "output.add[]",
    &[
        key(
            "at",
            Kind::Text("path"),
            Default::Required,
            "\"s:customer\"",
            "The element that gets the addition as its last child; `\".\"` is the event's element.",
        ),
        key(
            "element",
            Kind::Text("name of an element"),
            Default::Required,
            "\"s:name\"",
            "The added element's name. Where the document binds its namespace, the document's prefix is taken; else it is \
             declared there.",
        ),
        key(
            "text",
            Kind::Text("text or reference"),
            Default::None,
            "\":customer.name\"",
            "A fixed text, or `\":field\"`; `\"::...\"` is a text that begins with a colon. NULL gives an empty element.",
        ),
        key(
            "attributes",
            Kind::Map("text or reference"),
            Default::Is("{}"),
            "{ tier = \":customer.tier\" }",
            "Names without a prefix, or with `xml:`; values as `text`. NULL leaves the attribute out.",
        ),
    ],
);

pub(in crate::job) static SET: Table = table(
    "output.set[]",
    &[
        key(
            "at",
            Kind::Text("path"),
            Default::Required,
            "\"s:status/@code\"",
            "The element whose text is replaced, or the attribute. An attribute that is absent is added to its element; an \
             element with children is a reject.",
        ),
        key(
            "text",
            Kind::Text("text or reference"),
            Default::Required,
            "\":customer.tier\"",
            "What it becomes, as the `text` of an addition. NULL empties an element, and takes an attribute away.",
        ),
    ],
);
