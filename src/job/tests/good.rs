//! Jobs without mistakes: what they become.

use super::super::*;
use super::{ORDERS, changed, checked};

fn name(local: &str) -> Name {
    Name { namespace: Some("urn:shop:1".to_owned()), local: local.to_owned() }
}

fn plain(local: &str) -> Name {
    Name { namespace: None, local: local.to_owned() }
}

/// Steps and attribute of a path with one branch, which begins at the event.
fn parts(path: &Path) -> (Vec<Name>, Option<Name>) {
    let [branch] = &path.branches[..] else { panic!("{path:?}") };
    assert_eq!(branch.from, Base::Here { up: 0 });
    assert!(branch.steps.iter().all(|step| step.predicates.is_empty()));
    let steps = branch.steps.iter().map(|step| step.name.clone()).collect();
    match &branch.end {
        End::Element => (steps, None),
        End::Attribute(name) => (steps, Some(name.clone())),
        End::Count(_) => panic!("{path:?}"),
    }
}

fn path_of(field: &Field) -> &Path {
    let FieldSource::Path(path) = &field.source else { panic!("{field:?}") };
    path
}

fn addition(output: &OutputSpec) -> &Addition {
    let [Edit::Add(addition)] = &output.edits[..] else { panic!("{output:?}") };
    addition
}

#[test]
fn a_whole_job_becomes_its_parts() {
    let spec = checked(ORDERS).spec;
    assert_eq!(spec.event.each, [PathStep { name: name("order"), predicates: vec![] }]);
    let [KeyPart::Path(key)] = &spec.event.key[..] else { panic!("{:?}", spec.event.key) };
    assert_eq!(parts(key), (vec![], Some(plain("id"))));
    let fields: Vec<&str> = spec.event.fields.iter().map(|field| field.name.as_str()).collect();
    assert_eq!(fields, ["id", "customer", "total", "placed_at", "note"], "in the order of the file");
    let path = |field: usize| parts(path_of(&spec.event.fields[field]));
    assert_eq!(path(1), (vec![name("customer")], Some(plain("ref"))));
    assert_eq!(path(2), (vec![name("total")], None), "an absolute path is made relative");
    assert_eq!(spec.event.fields[2].of_type, FieldType::Decimal { precision: 12, scale: 2 });
    assert_eq!(spec.event.fields[3].of_type, FieldType::Timestamp { zone: Some("Europe/Zurich".to_owned()) });
    assert_eq!(spec.event.fields[4].rules, FieldRules::optional());
    assert_eq!(spec.event.fields[0].rules, FieldRules::required());
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
    let [output] = &spec.outputs[..] else { panic!() };
    assert_eq!(output.key, [ValueRef::Field(0)]);
    assert_eq!(addition(output).element, name("name"));
    assert_eq!(addition(output).prefix, "s");
    assert_eq!(parts(&addition(output).at), (vec![name("customer")], None));
    assert_eq!(addition(output).text, Some(Content::Value(ValueRef::Lookup { step: 0, column: 0 })));
    assert_eq!(
        addition(output).attributes,
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
    assert_eq!((spec.key_groups, spec.audit, spec.source.start), (16, true, Start::Earliest));
    assert_eq!(spec.source.group_id, "tidegate-small");
    assert_eq!(
        spec.event,
        EventSpec {
            each: vec![],
            no_match: NoMatch::Unreadable,
            key: vec![],
            fields: vec![],
            lists: vec![],
            doctype: Doctype::Read,
            tombstone: TombstoneRule::Unreadable,
        }
    );
    assert_eq!(
        (spec.database.connections, spec.database.batch_events, spec.database.deadline_s),
        (1, 500, 30)
    );
    let rejects = &spec.rejects;
    let rules = [rejects.unreadable, rejects.refused, rejects.missing_lookup, rejects.too_large];
    assert_eq!(rules, [RejectRule::Halt, RejectRule::Park, RejectRule::Park, RejectRule::Park]);
    assert_eq!(spec.outage.limit_s, 0);
    let limits = LimitsSpec {
        in_flight_bytes: 16 << 20,
        document_bytes: 1 << 20,
        document_depth: 256,
        events_per_record: 100_000,
        peer_silence_s: 30,
        parked_keys: 1_000_000,
    };
    assert_eq!(spec.limits, limits);
    assert_eq!((spec.outputs, spec.output_topics), (vec![], Vec::<String>::new()));
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
    let rejects = &checked.spec.rejects;
    let rules = [rejects.unreadable, rejects.refused, rejects.missing_lookup, rejects.too_large];
    let letter = RejectRule::DeadLetter;
    assert_eq!(rules, [letter, RejectRule::Park, letter, letter]);
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
        ("key_groups = 16", "key_groups = 16\naudit = false"),
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

#[test]
fn paths_may_end_at_a_text_and_may_be_the_event_itself() {
    let text = changed("\"s:note\"", "\"s:notes/s:note/text()\"");
    let note = parts(path_of(&checked(&text).spec.event.fields[4]));
    assert_eq!(note, (vec![name("notes"), name("note")], None));
    for itself in [".", "text()", "/s:order", "/s:order/text()"] {
        let text = changed("\"s:note\"", &format!("\"{itself}\""));
        let spec = checked(&text).spec;
        let note = path_of(&spec.event.fields[4]);
        assert_eq!(parts(note), (vec![], None), "{itself}");
        assert_eq!(note.text, itself, "messages show what the user wrote");
    }
    let text = changed("\"s:note\"", "\"s:note/@xml:lang\"");
    let (_, lang) = parts(path_of(&checked(&text).spec.event.fields[4]));
    assert_eq!(lang.unwrap().namespace.as_deref(), Some("http://www.w3.org/XML/1998/namespace"));
}

#[test]
fn additions_say_fixed_texts_too() {
    for (written, said) in
        [("EUR", "EUR"), ("::EUR", ":EUR"), ("", ""), ("a: b", "a: b"), ("customer.", "customer.")]
    {
        let text = changed("text = \":customer.name\"", &format!("text = {written:?}"));
        let output = checked(&text).spec.outputs.remove(0);
        assert_eq!(addition(&output).text, Some(Content::Literal(said.to_owned())), "{written}");
    }
}

#[test]
fn variables_fill_values_and_nothing_else_is_special() {
    let environment = |name: &str| (name == "A").then(|| "${B}$x".to_owned());
    for (written, filled) in [
        ("${A}", "${B}$x"),
        ("x${A}y", "x${B}$xy"),
        ("${C:a:b}", "a:b"),
        ("${C:}", ""),
        ("$${A}", "${A}"),
        ("$$", "$$"),
        ("$5 {A}", "$5 {A}"),
    ] {
        let text = changed("source = \"crm\"", &format!("source = {written:?}"));
        let spec = check("l", &text, &environment).unwrap().spec;
        let said = &addition(&spec.outputs[0]).attributes[1].1;
        assert_eq!(said, &Content::Literal(filled.to_owned()), "{written}");
    }
}

#[test]
fn a_file_with_a_byte_order_mark_and_windows_line_ends_is_the_same_job() {
    let windows = format!("\u{feff}{}", ORDERS.replace('\n', "\r\n"));
    let (unix, windows) = (checked(ORDERS).spec, checked(&windows).spec);
    assert_eq!(unix.fingerprint(), windows.fingerprint());
    assert_eq!((unix.event, unix.outputs), (windows.event, windows.outputs));
}

#[test]
fn statements_follow_the_rules_of_their_engine() {
    let url = "url = \"mysql://app@127.0.0.1:3306/shop\"\npassword_file = \"secrets/db\"";
    let lookup = "SELECT name, tier FROM customer WHERE id = :customer";
    // TOML halves the backslashes, then MySQL does.
    let two = changed(lookup, r"SELECT name, tier FROM customer WHERE x = 'a\\\\' OR id = :customer");
    assert!(check("l", &two, &|_| None).is_ok(), "MySQL: an escaped backslash");
    let one = changed(lookup, r"SELECT name, tier FROM customer WHERE x = 'a\\' OR id = :customer");
    assert!(check("l", &one, &|_| None).is_err(), "MySQL: the string does not end");
    let sqlite = one
        .replace(url, "url = \"sqlite:shop.db\"")
        .replace("ON DUPLICATE KEY UPDATE total = VALUES(total)", "");
    assert!(check("l", &sqlite, &|_| None).is_ok(), "SQLite: a backslash is a character");
}
