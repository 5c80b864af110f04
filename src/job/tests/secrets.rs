//! What a variable or a secret position gives is never printed: not by errors, not by explain, not by `Debug`.

use super::super::{check, render_explain};
use super::ORDERS;

/// Looks like nothing else, and like everything that breaks a parser.
const MARKER: &str = "MARKER-7f3a";

fn everything_printed(text: &str, value: &str) -> String {
    match check("jobs/test.toml", text, &|_| Some(value.to_owned())) {
        Ok(checked) => format!("{checked:?}\n{checked:#?}\n{}", render_explain(&checked)),
        Err(errors) => format!("{errors}\n{errors:?}\n{errors:#?}"),
    }
}

#[test]
fn a_secret_in_its_place_is_shown_nowhere() {
    let url = "url = \"mysql://app@127.0.0.1:3306/shop\"\npassword_file = \"secrets/db\"";
    let places = [
        (url, "url = \"mysql://app:${S}@127.0.0.1:3306/shop\""),
        (url, "url = \"mysql://app:x${S}@127.0.0.1:3306/shop\""),
        (
            "{ \"fetch.min.bytes\" = \"1\" }",
            "{ \"sasl.password\" = \"${S}\", \"ssl.key.password\" = \"x${S}\" }",
        ),
        ("{ \"fetch.min.bytes\" = \"1\" }", "{ \"some.option\" = \"MARKER-7f3a\" }"),
    ];
    for (from, to) in places {
        let text = super::changed(from, to);
        assert!(check("l", &text, &|_| Some(MARKER.to_owned())).is_ok(), "{to}");
        let printed = everything_printed(&text, MARKER);
        assert!(!printed.contains(MARKER), "{to}\n{printed}");
        assert!(printed.contains("***"), "{printed}");
    }
}

#[test]
fn a_secret_in_the_file_itself_is_refused_and_not_shown() {
    let url = "url = \"mysql://app@127.0.0.1:3306/shop\"\npassword_file = \"secrets/db\"";
    for (from, to) in [
        (url, "url = \"mysql://app:MARKER-7f3a@127.0.0.1:3306/shop\""),
        (url, "url = \"mysql://app:MARKER-7f3a@${HOST}:3306/shop\""),
        ("{ \"fetch.min.bytes\" = \"1\" }", "{ \"sasl.password\" = \"MARKER-7f3a\" }"),
    ] {
        let printed = everything_printed(&super::changed(from, to), "db.example");
        assert!(printed.contains("in plain text"), "{to}\n{printed}");
        assert!(!printed.contains(MARKER), "{to}\n{printed}");
    }
}

#[test]
fn a_url_that_is_wrong_is_not_quoted() {
    for url in [
        "MARKER-7f3a",
        "mysql:MARKER-7f3a",
        "mysql://MARKER-7f3a",
        "mysql://app:MARKER-7f3a@",
        "mysql://app:MARKER-7f3a@h",
        "mysql://app:MARKER-7f3a@h:99999/s",
        "mysql://app:MARKER-7f3a/x@h/s",
        "mysql://app:MARKER-7f3a?x@h/s",
        "mysql://app:%zzMARKER-7f3a@h/s",
        "mysql://:MARKER-7f3a@h/s",
        "postgres://app:MARKER-7f3a@h/s",
        "sqlite://MARKER-7f3a",
        "mysql://app@h:MARKER-7f3a/s",
    ] {
        let text = super::changed("mysql://app@127.0.0.1:3306/shop", url);
        let printed = everything_printed(&text, "");
        assert!(printed.contains("database.url"), "{url}\n{printed}");
        assert!(!printed.contains(MARKER), "{url}\n{printed}");
    }
}

/// Puts a variable in the place of every string of the job, one after the other: where its value is a mistake, the messages
/// must not quote it.
#[test]
fn no_error_quotes_what_a_variable_gives() {
    let pieces: Vec<&str> = ORDERS.replace("\"\"\"", "'''").leak().split('"').collect();
    let mut errors_seen = 0;
    for value in [
        MARKER,
        "MARKER-7f3a ",
        ":MARKER-7f3a",
        "x.MARKER-7f3a",
        "/s:MARKER-7f3a/y",
        "SELECT :MARKER_7f3a",
        "MARKER:x",
        "/MARKER:x/y",
    ] {
        for index in (1..pieces.len()).step_by(2) {
            // The text of an option's name is a key: variables are for values.
            let mut changed = pieces.clone();
            changed[index] = "${S}";
            let text = changed.join("\"");
            let Err(errors) = check("jobs/test.toml", &text, &|_| Some(value.to_owned())) else { continue };
            errors_seen += 1;
            let printed = format!("{errors}\n{errors:?}").to_lowercase();
            assert!(!printed.contains("marker"), "{value} at {index}\n{printed}");
        }
    }
    assert!(errors_seen > 100, "{errors_seen}");
}

#[test]
fn a_value_of_a_wrong_kind_or_an_unknown_key_is_not_quoted() {
    for (from, to) in [
        ("key_groups = 16", "key_groups = \"MARKER-7f3a\""),
        ("key_groups = 16", "password = \"MARKER-7f3a\""),
        ("password_file = \"secrets/db\"", "password = \"MARKER-7f3a\""),
        ("optional = true", "optional = \"MARKER-7f3a\""),
        ("{ \"fetch.min.bytes\" = \"1\" }", "\"MARKER-7f3a\""),
        ("{ \"fetch.min.bytes\" = \"1\" }", "{ \"sasl.password\" = [\"MARKER-7f3a\"] }"),
        ("key_groups = 16", "key_groups = MARKER-7f3a"),
        ("key_groups = 16", "key_groups = 16 MARKER-7f3a"),
        ("key_groups = 16", "password = \"MARKER-7f3a"),
    ] {
        let printed = everything_printed(&super::changed(from, to), "");
        assert!(printed.contains("jobs/test.toml:"), "{to}");
        assert!(!printed.contains(MARKER), "{to}\n{printed}");
    }
}
