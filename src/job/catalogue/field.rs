//! The keys of a field.

use super::super::types;
use super::{Default, Kind, Table, Word, key, word};

const GAPS: &[Word] = &[
    word("reject", "the event is unreadable (`field_missing`)"),
    word("null", "NULL"),
    word("default", "`default`"),
];
const EMPTIES: &[Word] = &[
    word("value", "the empty text, which only `text` and arrays can be"),
    word("reject", "the event is unreadable (`field_missing`)"),
    word("null", "NULL"),
    word("default", "`default`"),
];
const SPACES: &[Word] = &[
    word("preserve", "as it is"),
    word("replace", "tabs and line ends become blanks"),
    word("collapse", "runs become one blank, none at the ends"),
    word("trim", "none at the ends"),
];
const ROUNDS: &[Word] = &[
    word("half_even", "to the nearest, from the middle to the even digit"),
    word("half_up", "to the nearest, from the middle away from zero"),
    word("down", "they are cut"),
];

pub(in crate::job) static FIELD: Table = Table {
    path: "event.fields.NAME",
    one_of: &["path", "header", "record_key", "list"],
    keys: &[
        key(
            "path",
            Kind::Text("path"),
            Default::None,
            "\"s:customer/@ref\"",
            "Where the field's text stands in the document. A field has one source: this or one of the next three.",
        ),
        key(
            "header",
            Kind::Text("name of a header"),
            Default::None,
            "\"tenant\"",
            "The last Kafka header of that name, as UTF-8.",
        ),
        key("record_key", Kind::True, Default::None, "true", "The Kafka record key, as UTF-8."),
        key(
            "list",
            Kind::Text("name of a list"),
            Default::None,
            "\"lines\"",
            "The rows of a list as a JSON array of objects; with `type = \"json\"`.",
        ),
        key(
            "type",
            Kind::Form { words: types::WORDS, pattern: types::PATTERN },
            Default::Required,
            "\"decimal(12,2)\"",
            "How the text is read: see [types](#types).",
        ),
        key(
            "zone",
            Kind::Text("time zone"),
            Default::None,
            "\"Europe/Zurich\"",
            "IANA name of the time zone of values that carry none; only with `timestamp`.",
        ),
        key(
            "optional",
            Kind::Boolean,
            Default::Is("false"),
            "true",
            "`true`: absent and nil are NULL, unless `absent` or `nil` say otherwise.",
        ),
        key(
            "white_space",
            Kind::Choice(SPACES),
            Default::Words("\"preserve\""),
            "\"collapse\"",
            "What becomes of white space before anything else looks at the text; only with `text`. With `values` the default is \
             `\"collapse\"`.",
        ),
        key(
            "round",
            Kind::Choice(ROUNDS),
            Default::None,
            "\"half_even\"",
            "What becomes of digits that the type does not hold; left out: the text is not of its type. Only with decimal, time, \
             timestamp, duration(s) and duration(ms).",
        ),
        key(
            "format",
            Kind::Text("strptime format"),
            Default::Words("ISO 8601"),
            "\"%Y%m%d\"",
            "How a date, time or timestamp is written.",
        ),
        key(
            "absent",
            Kind::Choice(GAPS),
            Default::Words("\"reject\""),
            "\"null\"",
            "Where the path finds nothing. With `optional` the default is `\"null\"`, with `default` it is `\"default\"`.",
        ),
        key(
            "nil",
            Kind::Choice(GAPS),
            Default::Words("\"reject\""),
            "\"default\"",
            "Where the element has `xsi:nil=\"true\"`. With `optional` the default is `\"null\"`.",
        ),
        key(
            "empty",
            Kind::Choice(EMPTIES),
            Default::Words("\"value\""),
            "\"null\"",
            "Where the text is empty.",
        ),
        key(
            "default",
            Kind::Text("text"),
            Default::None,
            "\"0.00\"",
            "What stands for what is not there, in the form that the type reads.",
        ),
        key(
            "values",
            Kind::Map("text"),
            Default::Words("every text"),
            "{ \"01\" = \"open\", \"02\" = \"closed\" }",
            "The texts that may stand there, and what each means, in the form that the type reads. Another text is not of its \
             type.",
        ),
    ],
};
