//! The names that a template takes: they are the event's, or the template is wrong.

use super::{ORDERS, checked};
use crate::job::{Document, JobSpec, Step, Template};

fn with_template() -> JobSpec {
    let mut spec = checked(ORDERS).spec;
    spec.outputs[0].document =
        Document::Template(Template { file: "order.xml".to_owned(), source: String::new() });
    spec
}

fn fill(spec: &mut JobSpec, names: &[&str]) -> Result<(), Vec<String>> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    spec.fill_template(0, "<a/>", &names)
}

fn columns(spec: &JobSpec) -> Vec<String> {
    let Step::Lookup(lookup) = &spec.database.steps[0] else { panic!() };
    lookup.columns.clone()
}

#[test]
fn only_outputs_with_a_template_have_a_file() {
    assert_eq!(checked(ORDERS).spec.template_files(), []);
    assert_eq!(with_template().template_files(), [(0, "order.xml".to_owned())]);
}

#[test]
fn columns_that_a_template_takes_are_asked_for() {
    let mut spec = with_template();
    assert_eq!(columns(&spec), ["name", "tier"]);
    fill(&mut spec, &["total", "customer.tier", "customer.since", "_topic", "_header.trace-id", "note"])
        .unwrap();
    assert_eq!(columns(&spec), ["name", "tier", "since"]);
    let Document::Template(template) = &spec.outputs[0].document else { panic!() };
    assert_eq!(template.source, "<a/>");
}

#[test]
fn names_that_nothing_gives_are_all_told() {
    let mut spec = with_template();
    let wrong = fill(&mut spec, &["totl", "customer", "_tpic", "shipment.id", "total"]).unwrap_err();
    assert_eq!(
        wrong,
        [
            "nothing gives `totl`: did you mean `total`?",
            "`customer` is a look-up: write `customer.COLUMN`",
            "nothing gives `_tpic`: did you mean `_topic`?",
            "nothing gives `shipment.id`: it is no field, list, look-up or meta field",
        ]
    );
    let Document::Template(template) = &spec.outputs[0].document else { panic!() };
    assert_eq!(template.source, "");
}
