//! Keys: what the samples are most likely told apart by.
//!
//! In:        an event's fields with the texts that the samples have     Out: which of them make the ordering key, and why
//! Order:     by name and depth; the first that is unique over the samples, else the first two that are together
//! Fails:     never: without a candidate it is the Kafka record key

use super::draft::Raw;
use super::guess::Guess;

/// Longest text of a key.
const CHARS_MAX: usize = 100;
/// Less than this is no candidate.
const SCORE_MIN: i32 = 20;
const PER_STEP: i32 = 6;

/// The ordering key.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Key {
    /// Indexes of its fields; none: the Kafka record key.
    pub(super) fields: Vec<usize>,
    /// Why it is this one.
    pub(super) note: String,
}

/// Identifiers of other things than the document: their elements say so.
const OTHERS: [&str; 31] = [
    "ref",
    "reference",
    "party",
    "sender",
    "from",
    "to",
    "acct",
    "account",
    "agt",
    "agent",
    "author",
    "custodian",
    "cdtr",
    "dbtr",
    "creditor",
    "debtor",
    "fininstnid",
    "parent",
    "related",
    "scheme",
    "tax",
    "address",
    "credential",
    "svcr",
    "location",
    "ownr",
    "vehicle",
    "country",
    "assigned",
    "contact",
    "attachment",
];

/// Identifiers that are the same in every document.
const CONSTANT: [&str; 15] = [
    "schemeid",
    "listid",
    "typeid",
    "templateid",
    "listagencyid",
    "schemeagencyid",
    "currencyid",
    "customizationid",
    "profileid",
    "unitcodelistid",
    "setid",
    "realmcode",
    "guidelinespecifieddocumentcontextparameter",
    "formatid",
    "versionid",
];

/// Chooses the key among the fields of `events` events.
pub(super) fn choose(fields: &[Raw<'_>], events: usize) -> Key {
    let mut candidates: Vec<(i32, usize)> = fields
        .iter()
        .enumerate()
        .filter(|(_, field)| may_be(field, events))
        .filter_map(|(index, field)| Some((score(field)?, index)))
        .collect();
    candidates.sort_by_key(|(score, index)| (std::cmp::Reverse(*score), *index));
    let named: Vec<usize> = candidates.iter().map(|(_, index)| *index).collect();
    let over = match events {
        1 => "of one document, nothing is there twice".to_owned(),
        _ => format!("no two of the {events} events have the same"),
    };
    if let Some(single) = named.iter().find(|index| unique(fields, &[**index])) {
        let pair = partner(fields, *single, events);
        let fields = pair.into_iter().chain([*single]).collect();
        return Key { fields, note: format!("the likely key by its name; {over}") };
    }
    // One that is named like a key and something else that is always there.
    for first in &named {
        let others = (0..fields.len())
            .filter(|index| index != first && fields.get(*index).is_some_and(|f| may_be(f, events)));
        for second in named.iter().copied().filter(|index| index != first).chain(others) {
            if unique(fields, &[*first, second]) {
                return Key {
                    fields: vec![*first, second],
                    note: format!("two parts: only together {over}"),
                };
            }
        }
    }
    let note = match named.is_empty() {
        true => "the samples name no key",
        false => "what the samples name like a key is there more than once",
    };
    Key { fields: Vec::new(), note: note.to_owned() }
}

/// Whether each event has one text there.
fn may_be(field: &Raw<'_>, events: usize) -> bool {
    !field.optional
        && !field.outside
        && field.texts.len() == events
        && matches!(field.guess, Guess::Text | Guess::Int64)
        && field.texts.iter().all(|text| text.chars().count() <= CHARS_MAX && !text.contains('\n'))
}

fn unique(fields: &[Raw<'_>], of: &[usize]) -> bool {
    let columns: Vec<&Vec<&str>> =
        of.iter().filter_map(|index| fields.get(*index)).map(|field| &field.texts).collect();
    let events = columns.first().map_or(0, |texts| texts.len());
    let mut seen = std::collections::HashSet::new();
    (0..events).all(|event| {
        let parts: Vec<&str> =
            columns.iter().filter_map(|texts| texts.get(event)).map(|text| text.trim()).collect();
        seen.insert(parts)
    })
}

/// An `@extension` is unique within its `@root` alone: the index of that.
fn partner(fields: &[Raw<'_>], of: usize, events: usize) -> Option<usize> {
    let path = &fields.get(of)?.path;
    let root = format!("{}@root", path.strip_suffix("@extension")?);
    fields.iter().position(|field| field.path == root && may_be(field, events))
}

/// How likely a name is that of a key; none: not at all.
fn score(field: &Raw<'_>) -> Option<i32> {
    let local = field.chain.last()?.as_str();
    let lower = local.to_ascii_lowercase();
    let above: Vec<String> = field.chain.iter().rev().skip(1).map(|part| part.to_ascii_lowercase()).collect();
    let parent = above.first().map_or("", String::as_str);
    if CONSTANT.contains(&lower.as_str()) || CONSTANT.contains(&parent) {
        return None;
    }
    // An attribute of an `id` is part of it.
    let of_id = matches!(parent, "id" | "identifier") && matches!(lower.as_str(), "extension" | "value");
    let by_name = match lower.as_str() {
        "id" | "identifier" | "key" => 100,
        _ if of_id => 104,
        "msgid" | "messageid" | "bizmsgidr" | "documentid" | "invoiceid" => 96,
        "orderid" | "shipmentid" | "transactionid" | "invoicenumber" | "ordernumber" | "documentnumber" => {
            110
        }
        "uuid" | "guid" => 60,
        "buyercookie" => 70,
        _ if local.ends_with("Id")
            || local.ends_with("ID")
            || local.ends_with("_id")
            || local.ends_with("Idr") =>
        {
            62
        }
        _ if lower.ends_with("number") || lower.ends_with("nr") || lower.ends_with("no") => 30,
        _ => return None,
    };
    let steps = i32::try_from(above.len()).unwrap_or(i32::MAX);
    let elsewhere = above.iter().any(|part| OTHERS.iter().any(|other| is_word_of(part, other)));
    let own_other = OTHERS.iter().any(|other| is_word_of(&lower, other));
    let score = by_name - steps.saturating_mul(PER_STEP) - if elsewhere || own_other { 50 } else { 0 };
    (score >= SCORE_MIN).then_some(score)
}

/// Whether a name is the word, or begins or ends with it where it is no short one.
fn is_word_of(name: &str, word: &str) -> bool {
    const LONG: usize = 4;
    name == word || (word.len() >= LONG && (name.starts_with(word) || name.ends_with(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw<'a>(path: &str, texts: &[&'a str]) -> Raw<'a> {
        let chain = path.split('/').map(|part| part.trim_start_matches('@').to_owned()).collect();
        Raw { chain, texts: texts.to_vec(), ..Raw::of_path(path) }
    }

    fn chosen(fields: &[Raw<'_>]) -> Vec<String> {
        let events = fields.first().map_or(0, |field| field.texts.len());
        choose(fields, events).fields.iter().map(|index| fields[*index].path.clone()).collect()
    }

    #[test]
    fn the_best_name_that_is_unique() {
        assert_eq!(
            chosen(&[raw("d/Acct/Id", &["x"]), raw("d/h/MsgId", &["m"]), raw("d/total", &["1"])]),
            ["d/h/MsgId"]
        );
        assert_eq!(
            chosen(&[raw("c/@payloadID", &["1", "2"]), raw("c/r/h/@orderID", &["a", "b"])]),
            ["c/r/h/@orderID"]
        );
        assert_eq!(chosen(&[raw("a/@id", &["1", "1"]), raw("a/MsgId", &["a", "b"])]), ["a/MsgId"]);
        assert_eq!(
            chosen(&[raw("d/id/@root", &["1"]), raw("d/id/@extension", &["2"])]),
            ["d/id/@root", "d/id/@extension"]
        );
    }

    #[test]
    fn two_parts_where_one_is_not_unique_and_none_where_nothing_helps() {
        let fields = [raw("a/@id", &["1", "1", "2"]), raw("a/version", &["1", "2", "1"])];
        assert_eq!(chosen(&fields), ["a/@id", "a/version"]);
        let key = choose(&[raw("a/@id", &["1", "1"])], 2);
        assert!(key.fields.is_empty() && key.note.contains("more than once"), "{key:?}");
        let key = choose(&[raw("a/total", &["1"])], 1);
        assert!(key.fields.is_empty() && key.note.contains("name no key"), "{key:?}");
    }

    #[test]
    fn what_is_not_always_there_is_no_key() {
        let optional = Raw { optional: true, ..raw("a/@id", &["1"]) };
        assert!(chosen(&[optional]).is_empty());
        assert!(chosen(&[raw("a/schemeID", &["1"])]).is_empty());
    }
}
