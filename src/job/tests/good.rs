//! Jobs without mistakes: what they become.

use super::super::*;
use super::{ORDERS, changed, checked};

fn name(local: &str) -> Name {
    Name { namespace: Some("urn:shop:1".to_owned()), local: local.to_owned() }
}

fn plain(local: &str) -> Name {
    Name { namespace: None, local: local.to_owned() }
}

#[test]
fn a_whole_job_becomes_its_parts() {
    let spec = checked(ORDERS).spec;
    assert_eq!(spec.event.root, Some(name("order")));
    let key: Vec<_> = spec.event.key.iter().map(|path| (&path.steps, &path.attribute)).collect();
    assert_eq!(key, [(&vec![], &Some(plain("id")))]);
    let fields: Vec<&str> = spec.event.fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(fields, ["id", "customer", "total", "placed_at", "note"], "in the order of the file");
    assert_eq!(spec.event.fields[1].path.steps, [name("customer")]);
    assert_eq!(spec.event.fields[1].path.attribute, Some(plain("ref")));
    assert_eq!(spec.event.fields[2].path.steps, [name("total")], "an absolute path is made relative");
    assert_eq!(spec.event.fields[2].of_type, FieldType::Decimal { precision: 12, scale: 2 });
    assert_eq!(spec.event.fields[3].of_type, FieldType::Timestamp { zone: Some("Europe/Zurich".to_owned()) });
    assert!(spec.event.fields[4].optional && !spec.event.fields[0].optional);
}

#[test]
fn statements_get_marks_and_references() {
    let spec = checked(ORDERS).spec;
    let [Step::Lookup(lookup), Step::Store(store)] = spec.database.steps.as_slice() else {
        panic!("{:?}", spec.database.steps)
    };
    assert_eq!(lookup.statement.sql, "SELECT name, tier FROM customer WHERE id = ?");
    assert_eq!(lookup.statement.parameters, [ValueRef::Field(1)]);
    assert_eq!(lookup.columns, ["name", "tier"]);
    assert_eq!(store.statement.parameters, [0, 1, 2, 3].map(ValueRef::Field));
    assert!(store.statement.sql.contains("VALUES (?, ?, ?, ?)\n"), "{}", store.statement.sql);
    let output = spec.output.unwrap();
    assert_eq!(output.key, [ValueRef::Field(0)]);
    assert_eq!(output.additions[0].element, name("name"));
    assert_eq!(output.additions[0].prefix, "s");
    assert_eq!(output.additions[0].at.steps, [name("customer")]);
    assert_eq!(output.additions[0].text, Some(Content::Value(ValueRef::Lookup { step: 0, column: 0 })));
    assert_eq!(
        output.additions[0].attributes,
        [
            ("tier".to_owned(), Content::Value(ValueRef::Lookup { step: 0, column: 1 })),
            ("source".to_owned(), Content::Literal("crm".to_owned())),
        ],
    );
}

const SMALL: &str = r#"
job.name = "small"
source = { bootstrap_servers = "[::1]:9092, kafka-2:9092", topics = ["a", "b"] }
database.url = "sqlite:small.db"
database.steps = [{ store = "INSERT INTO t VALUES (:_topic, :_partition, :_offset, :_timestamp, :_key, :_header.trace-id, :_now)" }]
"#;

#[test]
fn what_is_left_out_has_a_default() {
    let spec = checked(SMALL).spec;
    assert_eq!((spec.key_groups, spec.source.start), (16, Start::Earliest));
    assert_eq!(spec.source.group_id, "tidegate-small");
    assert_eq!(spec.event, EventSpec { root: None, key: vec![], fields: vec![] });
    assert_eq!(
        (spec.database.connections, spec.database.batch_events, spec.database.deadline_s),
        (1, 500, 30)
    );
    assert_eq!(spec.rejects.unreadable, RejectRule::Halt);
    assert_eq!(spec.outage.limit_s, 0);
    let limits = LimitsSpec { in_flight_bytes: 64 << 20, document_bytes: 1 << 20, document_depth: 256 };
    assert_eq!(spec.limits, limits);
    assert_eq!(spec.output, None);
    let Step::Store(store) = &spec.database.steps[0] else { panic!() };
    let metas = [Meta::Topic, Meta::Partition, Meta::Offset, Meta::Timestamp, Meta::Key];
    let rest = [Meta::Header("trace-id".to_owned()), Meta::Now];
    let expected: Vec<ValueRef> = metas.into_iter().chain(rest).map(ValueRef::Meta).collect();
    assert_eq!(store.statement.parameters, expected);
}

#[test]
fn a_dead_letter_topic_makes_dead_letters_the_default() {
    let text = changed("unreadable = \"dead_letter\"\n", "");
    let checked = checked(&text);
    assert_eq!(checked.spec.rejects.unreadable, RejectRule::DeadLetter);
    let setting = checked.settings.iter().find(|s| s.key == "rejects.unreadable").unwrap();
    assert_eq!(setting.origin, Origin::Default);
    assert!(setting.note.as_ref().unwrap().contains("dead_letter_topic"));
}

#[test]
fn the_fingerprint_hears_on_what_decides_the_key_group_alone() {
    let of = |text: &str| checked(text).spec.fingerprint();
    let whole = of(ORDERS);
    assert_eq!(
        whole, "dc3e8296ee544d3b584aaeefe7d40a63",
        "another value makes every ledger look like another job's"
    );
    let same = [
        ("127.0.0.1:3306/shop", "127.0.0.1:3307/shop"),
        ("[\":id\"]", "[\":customer\"]"),
        ("topic = \"orders.enriched\"", "topic = \"orders.richer\""),
        ("key = [\"@id\"]", "key = [\"/s:order/@id\"]"),
    ];
    for (from, to) in same {
        assert_eq!(of(&changed(from, to)), whole, "{to}");
    }
    assert_eq!(
        of(&ORDERS.replace("s:", "shop:").replace("{ s =", "{ shop =")),
        whole,
        "prefixes do not count"
    );
    let other = [
        ("topics = [\"orders\"]", "topics = [\"orders2\"]"),
        ("key_groups = 16", "key_groups = 17"),
        ("urn:shop:1", "urn:shop:2"),
        ("key = [\"@id\"]", "key = [\"id\"]"),
        ("key = [\"@id\"]", "key = [\"@id\", \"s:total\"]"),
    ];
    for (from, to) in other {
        assert_ne!(of(&changed(from, to)), whole, "{to}");
    }
}

#[test]
fn a_password_file_is_filled_in_by_whoever_reads_it() {
    let mut spec = checked(ORDERS).spec;
    assert_eq!(spec.password_file(), Some("secrets/db"));
    assert_eq!(spec.fill_password("\n"), Err(PasswordError::Empty));
    assert_eq!(spec.fill_password("a\nb\n"), Err(PasswordError::Lines));
    spec.fill_password(" p w \r\n").unwrap();
    let DatabaseKind::MySql { password, .. } = &spec.database.kind else { panic!() };
    assert_eq!(password, &Some(Secret(" p w ".to_owned())), "blanks belong to it");
}
