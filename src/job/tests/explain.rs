//! What `explain` prints: every key, its value, and where that comes from.

use super::super::{Origin, check, render_explain};
use super::{ORDERS, checked};

fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn explain_a_whole_job() {
    snapshot("explain_a_whole_job", &render_explain(&checked(ORDERS)));
}

#[test]
fn explain_defaults_and_variables() {
    let text = r#"
[job]
name = "${STAGE:test}-small"
[source]
bootstrap_servers = "${KAFKA}"
topics = ["a", "${STAGE:test}.b"]
client = { "sasl.password" = "${KAFKA_PASSWORD}", "fetch.min.bytes" = 1, "ssl.ca.location" = "ca.pem" }
[database]
url = "mariadb://app:${DB_PASSWORD}@db/shop"
[output]
topic = "out"
"#;
    let environment = |name: &str| match name {
        "KAFKA" => Some("kafka:9092".to_owned()),
        "KAFKA_PASSWORD" | "DB_PASSWORD" => Some("MARKER".to_owned()),
        _ => None,
    };
    let checked = check("jobs/small.toml", text, &environment).unwrap();
    snapshot("explain_defaults_and_variables", &render_explain(&checked));
    let name = checked.settings.iter().find(|s| s.key == "job.name").unwrap();
    let Origin::Variable { uses, line: 3, column: 8 } = &name.origin else { panic!("{name:?}") };
    assert_eq!((uses[0].name.as_str(), uses[0].from_environment), ("STAGE", false));
}

#[test]
fn no_key_is_explained_twice() {
    let checked = checked(ORDERS);
    let mut keys: Vec<&str> = checked.settings.iter().map(|s| s.key.as_str()).collect();
    let all = keys.len();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), all);
}
