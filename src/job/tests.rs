//! The check as a whole: a job without mistakes, and every kind of mistake by its message.

mod explain;
mod fingerprints;
mod good;
mod language;
mod mistakes;
mod properties;
mod schema;
mod secrets;
mod shipped;

use super::{Checked, JobErrors, check};

/// A whole job that is right; the tests change it.
const ORDERS: &str = include_str!("tests/orders.toml");

fn no_variables(_: &str) -> Option<String> {
    None
}

/// A job that is right, and that the schema for editors takes, too.
fn checked(text: &str) -> Checked {
    match check("jobs/test.toml", text, &no_variables) {
        Ok(checked) => {
            let text = text.trim_start_matches('\u{feff}');
            assert_eq!(schema::judge().refuses(&schema::value_of(text)), None, "{text}");
            checked
        }
        Err(errors) => panic!("{errors}"),
    }
}

fn errors(text: &str) -> JobErrors {
    match check("jobs/test.toml", text, &no_variables) {
        Ok(_) => panic!("no mistake was found in\n{text}"),
        Err(errors) => errors,
    }
}

/// The job with one text in it replaced by another.
fn changed(from: &str, to: &str) -> String {
    assert_eq!(ORDERS.matches(from).count(), 1, "{from} must stand once in the job");
    ORDERS.replace(from, to)
}

/// The messages for the job with one text replaced.
fn mistakes(from: &str, to: &str) -> String {
    errors(&changed(from, to)).to_string()
}
