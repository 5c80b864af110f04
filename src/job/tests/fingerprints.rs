//! The fingerprints of jobs that older versions could read: a ledger that one of them has written must go on fitting.

use super::checked;
use std::collections::BTreeMap;

/// `[event]` of a job, and what the version before alternatives, predicates and lists made of it.
const OLD: [(&str, &str); 12] = [
    ("", "634755e4c8596d5163b87fb040d1576b"),
    ("each = \"/order\"", "22c1e63e07ea6eb50176682ed0429600"),
    ("namespaces = { s = \"urn:a\" }\neach = \"/s:order\"", "6c67f1ffd16d33aa1febb76025dd5ec3"),
    ("key = [\"@id\"]", "6bbafe525179fe83ec5ec55f93609e44"),
    ("key = [\"id\"]", "b36a7fd9365848011c83011f24e013fd"),
    ("key = [\".\"]", "9da7f7cdcc675c798e108600daacd118"),
    ("key = [\"@xml:lang\", \"a/b/c\"]", "5d099afd616d0cde55193c99d45ca6af"),
    ("key = [\"a/text()\"]", "bc3faafefb1b4e0dec1b3977d7358148"),
    ("key = [\"a\"]", "bc3faafefb1b4e0dec1b3977d7358148"),
    (
        "namespaces = { s = \"urn:a\" }\neach = \"/s:o\"\nkey = [\"/s:o/s:a/@s:b\", \"/s:o\", \"s:c/text()\"]",
        "db5fba78b6463bc369cf74ef3ba9eb13",
    ),
    (
        "namespaces = { t = \"urn:a\" }\neach = \"/t:o\"\nkey = [\"t:a/@t:b\", \".\", \"t:c\"]",
        "db5fba78b6463bc369cf74ef3ba9eb13",
    ),
    (
        "namespaces = { s = \"urn:a\" }\neach = \"/o\"\nkey = [\"s:a/b\", \"@id\"]",
        "13556717b2d9c5c385a1a172bc8cdd3f",
    ),
];

fn fingerprint(event: &str) -> String {
    let text = format!(
        "[job]\nname = \"old\"\nkey_groups = 8\n[source]\nbootstrap_servers = \"k:9092\"\ntopics = [\"a\", \"b\"]\n\
         [event]\n{event}\n[database]\nurl = \"sqlite:old.db\"\n[output]\ntopic = \"out\"\n"
    );
    checked(&text).spec.fingerprint()
}

#[test]
fn a_job_that_older_versions_could_read_keeps_its_fingerprint() {
    for (event, old) in OLD {
        assert_eq!(fingerprint(event), old, "{event}");
    }
}

#[test]
fn what_older_versions_could_not_read_has_a_fingerprint_of_its_own() {
    let events = [
        "",
        "each = \"/o\"",
        "each = \"/o/p\"",
        "each = \"/o/p[1]\"",
        "each = \"/o/p[2]\"",
        "each = \"/o/p[last()]\"",
        "each = \"/o/p[@a='b']\"",
        "each = \"/o/p[@a='c']\"",
        "each = \"/o/p[a='b']\"",
        "each = \"/o/p[.='b']\"",
        "key = [\"a\"]",
        "key = [\"a[1]\"]",
        "key = [\"a | b\"]",
        "key = [\"b | a\"]",
        "key = [\"a\", \"b\"]",
        "key = [\"count(a)\"]",
        "key = [\"count(@a)\"]",
        "key = [\"/r/a\"]",
        "key = [\":_key\"]",
        "key = [\":_header.a\"]",
        "key = [\":_header.b\"]",
        "key = [\":_key\", \":_header.a\"]",
        "each = \"/o/p\"\nkey = [\"../a\"]",
        "each = \"/o/p\"\nkey = [\"a\"]",
        "each = \"/o/p\"\nkey = [\"/o/a\"]",
    ];
    let mut seen = BTreeMap::new();
    for event in events {
        if let Some(other) = seen.insert(fingerprint(event), event) {
            panic!("{event} and {other} have one fingerprint");
        }
    }
    let same = [
        ("key = [\"a[ 1 ]\"]", "key = [\"a[1]\"]"),
        ("key = [\"a|b\"]", "key = [\"a | b/text()\"]"),
        ("key = [\"a[text()=\\\"b\\\"]\"]", "key = [\"a[.='b']\"]"),
        ("key = [\"a\"]\ndoctype = \"refuse\"", "key = [\"a\"]"),
        ("each = \"/o\"\nkey = [\"/o/a | b\"]", "each = \"/o\"\nkey = [\"a | b\"]"),
    ];
    for (one, other) in same {
        assert_eq!(fingerprint(one), fingerprint(other), "{one} is {other}");
    }
}
