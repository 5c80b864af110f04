//! One job that uses all of the language: what it becomes.

use super::super::*;
use super::checked;

const LANGUAGE: &str = include_str!("language.toml");

fn spec() -> JobSpec {
    checked(LANGUAGE).spec
}

fn bank(local: &str) -> Name {
    Name { namespace: Some("urn:bank:1".to_owned()), local: local.to_owned() }
}

fn mail(local: &str) -> Name {
    Name { namespace: Some("urn:mail:1".to_owned()), local: local.to_owned() }
}

fn plain(local: &str) -> Name {
    Name { namespace: None, local: local.to_owned() }
}

fn xml_lang() -> Name {
    Name { namespace: Some("http://www.w3.org/XML/1998/namespace".to_owned()), local: "lang".to_owned() }
}

fn step(name: Name) -> PathStep {
    PathStep { name, predicates: Vec::new() }
}

fn equals(steps: Vec<Name>, attribute: Option<Name>, value: &str) -> Predicate {
    Predicate::Equals { steps, attribute, value: value.to_owned() }
}

fn branches(field: &Field) -> Vec<Branch> {
    let FieldSource::Path(path) = &field.source else { panic!("{field:?}") };
    path.branches.clone()
}

fn here(up: usize, steps: Vec<PathStep>, end: End) -> Branch {
    Branch { from: Base::Here { up }, steps, end }
}

#[test]
fn the_event_its_key_and_its_rules() {
    let event = spec().event;
    let statement =
        PathStep { name: bank("statement"), predicates: vec![equals(vec![], Some(plain("kind")), "final")] };
    assert_eq!(event.each, [step(mail("box")), statement]);
    assert_eq!(
        (event.no_match, event.doctype, event.tombstone),
        (NoMatch::Discard, Doctype::Refuse, TombstoneRule::Event)
    );
    let [KeyPart::Path(path), KeyPart::RecordKey, KeyPart::Header(header)] = &event.key[..] else {
        panic!("{:?}", event.key)
    };
    assert_eq!(header, "tenant");
    let head = here(1, vec![step(mail("head"))], End::Attribute(plain("id")));
    assert_eq!(path.branches, [head, here(0, vec![step(bank("id"))], End::Element)]);
}

#[test]
fn paths_with_predicates_counts_and_roots() {
    let fields = spec().event.fields;
    let of_code = equals(vec![bank("type"), bank("code")], None, "CLBD");
    let balance = PathStep { name: bank("balance"), predicates: vec![of_code, Predicate::Last] };
    assert_eq!(branches(&fields[1]), [here(0, vec![balance, step(bank("amount"))], End::Element)]);
    let note = PathStep { name: bank("note"), predicates: vec![Predicate::Nth(2)] };
    let root = Branch { from: Base::Root, steps: vec![step(mail("box"))], end: End::Attribute(xml_lang()) };
    assert_eq!(branches(&fields[2]), [here(0, vec![note], End::Attribute(xml_lang())), root]);
    assert_eq!(branches(&fields[3]), [here(0, vec![step(bank("entry"))], End::Count(None))]);
    assert_eq!(fields[5].source, FieldSource::Header("tenant".to_owned()));
    assert_eq!(fields[6].source, FieldSource::RecordKey);
    assert_eq!(fields[7].source, FieldSource::List(0));
}

#[test]
fn lists_stand_in_front_of_those_inside_of_them() {
    let lists = spec().event.lists;
    let shape: Vec<(&str, Option<usize>)> = lists.iter().map(|l| (l.name.as_str(), l.parent)).collect();
    assert_eq!(shape, [("entry", None), ("detail", Some(0)), ("party", None)]);
    assert_eq!(lists[0].each, [step(bank("entries")), step(bank("entry"))]);
    assert_eq!(branches(&lists[0].fields[1]), [here(2, vec![step(bank("id"))], End::Element)]);
    let used =
        PathStep { name: bank("detail"), predicates: vec![equals(vec![], Some(plain("used")), "true")] };
    assert_eq!(lists[1].each, [used]);
    assert_eq!(lists[1].text, "b:detail[@used='true']");
    assert_eq!(branches(&lists[1].fields[1]), [here(1, vec![], End::Attribute(plain("id")))]);
}

#[test]
fn steps_know_their_records_their_rows_and_their_conditions() {
    let spec = spec();
    let [Step::Lookup(customer), Step::Store(statement), Step::Store(detail), Step::Store(deleted)] =
        &spec.database.steps[..]
    else {
        panic!("{:?}", spec.database.steps)
    };
    assert_eq!((customer.on, customer.missing), (On::Any, Missing::Null));
    assert_eq!(customer.columns, ["tier", "name"], "what conditions, statements, topics and edits refer to");
    let account = Condition::IsNull(ValueRef::Field(6));
    assert_eq!(customer.when, Some(Condition::Not(Box::new(account))));
    let Some(Condition::All(parts)) = &statement.when else { panic!("{:?}", statement.when) };
    let tier = ValueRef::Lookup { step: 0, column: 0 };
    let closed = ["closed", "dead"].map(|text| Operand::Text(text.to_owned())).to_vec();
    assert_eq!(parts[0], Condition::Not(Box::new(Condition::In { value: tier, among: closed })));
    assert_eq!((detail.for_each, detail.on), (Some(1), On::Document));
    assert_eq!(
        detail.statement.parameters,
        [
            ValueRef::Field(0),
            ValueRef::RowIndex { list: 0 },
            ValueRef::Row { list: 0, field: 0 },
            ValueRef::RowIndex { list: 1 },
            ValueRef::Row { list: 1, field: 0 },
        ]
    );
    assert_eq!((deleted.for_each, deleted.on), (None, On::Tombstone));
}

#[test]
fn several_outputs_share_the_topics() {
    let spec = spec();
    assert_eq!(spec.output_topics, ["gold", "silver", "deleted", "all"]);
    let [enriched, gold, deleted, all] = &spec.outputs[..] else { panic!("{:?}", spec.outputs) };
    assert_eq!(enriched.name.as_deref(), Some("enriched"));
    let tier = ValueRef::Lookup { step: 0, column: 0 };
    assert_eq!(enriched.topic, TopicChoice::By { value: tier, allowed: vec![0, 1] });
    assert_eq!(enriched.document, Document::Element);
    let [Edit::Add(add), Edit::Set(status), Edit::Set(by), Edit::Remove(_), Edit::Remove(editor)] =
        &enriched.edits[..]
    else {
        panic!("{:?}", enriched.edits)
    };
    assert_eq!(add.attributes, [("xml:lang".to_owned(), Content::Literal("en".to_owned()))]);
    assert_eq!(status.to, Content::Literal(":stored".to_owned()));
    assert_eq!(by.to, Content::Value(ValueRef::Meta(Meta::Topic)));
    assert_eq!(editor.branches.len(), 2);
    assert_eq!(gold.topic, TopicChoice::Fixed(0));
    let template = Template { file: "gold.xml.j2".to_owned(), source: String::new() };
    assert_eq!((&gold.document, gold.edits.len()), (&Document::Template(template), 0));
    assert_eq!((deleted.on, &deleted.document), (On::Tombstone, &Document::Nothing));
    assert_eq!((all.on, &all.document), (On::Any, &Document::Input));
}
