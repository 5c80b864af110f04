//! URLs as people write them, with passwords as passwords are.

use super::*;

fn mysql_parts(text: &str, from_variables: &[Range<usize>]) -> (String, Option<String>, String, u16, String) {
    match parse(text, from_variables) {
        Ok(DatabaseKind::MySql { host, port, user, password, database, .. }) => {
            (user, password.map(|p| p.0), host, port, database)
        }
        other => panic!("{text}: {other:?}"),
    }
}

fn parts(
    user: &str,
    password: Option<&str>,
    host: &str,
    port: u16,
    schema: &str,
) -> (String, Option<String>, String, u16, String) {
    (user.to_owned(), password.map(str::to_owned), host.to_owned(), port, schema.to_owned())
}

/// Puts a variable's value between two texts.
fn around(before: &str, value: &str, behind: &str) -> (String, Vec<Range<usize>>) {
    let range = before.len()..before.len() + value.len();
    (format!("{before}{value}{behind}"), vec![range])
}

#[test]
fn plain_urls() {
    let expected = parts("app", None, "db.example", 3306, "shop");
    assert_eq!(mysql_parts("mysql://app@db.example/shop", &[]), expected);
    assert_eq!(mysql_parts("MariaDB://app@db.example:3306/shop", &[]), expected);
    assert_eq!(mysql_parts("mysql://app:@db.example/shop", &[]), expected, "an empty password is none");
    let expected = parts("app", Some("pw"), "::1", 3307, "shop");
    assert_eq!(mysql_parts("mysql://app:pw@[::1]:3307/shop", &[]), expected);
}

#[test]
fn percent_codes_are_decoded() {
    let expected = parts("a@b", Some("p:/@%ü"), "h", 1, "sch ema");
    assert_eq!(mysql_parts("mysql://a%40b:p%3A%2F%40%25%C3%BC@h:1/sch%20ema", &[]), expected);
    for broken in ["mysql://a:%zz@h/s", "mysql://a:%4@h/s", "mysql://a:%+4@h/s", "mysql://a:%ff@h/s"] {
        assert!(parse(broken, &[]).is_err(), "{broken}");
    }
}

#[test]
fn a_variable_gives_a_password_of_any_characters() {
    for password in ["p@ss/w:rd?#%41", "@", "://", "a@h/b", "%"] {
        let (url, ranges) = around("mysql://app:", password, "@h:1/s");
        assert_eq!(mysql_parts(&url, &ranges), parts("app", Some(password), "h", 1, "s"), "{password}");
    }
}

#[test]
fn a_variable_may_give_the_address_or_the_whole() {
    let (url, ranges) = around("mysql://app@", "h:1", "/s");
    assert_eq!(mysql_parts(&url, &ranges), parts("app", None, "h", 1, "s"));
    let (url, ranges) = around("", "mysql://app:p%40w@h:1/s", "");
    assert_eq!(mysql_parts(&url, &ranges), parts("app", Some("p@w"), "h", 1, "s"));
    let (url, ranges) = around("mysql://", "app:pw@h:1/s", "");
    assert_eq!(mysql_parts(&url, &ranges), parts("app", Some("pw"), "h", 1, "s"));
}

#[test]
fn sqlite_paths() {
    let path = |text: &str| match parse(text, &[]) {
        Ok(DatabaseKind::Sqlite { path }) => path,
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(path("sqlite:a/b.db"), "a/b.db");
    assert_eq!(path("sqlite:/a/b.db"), "/a/b.db");
    assert_eq!(path("sqlite:///a/b.db"), "/a/b.db");
    assert!(parse("sqlite://a/b.db", &[]).is_err());
    assert!(parse("sqlite:", &[]).is_err());
    assert!(parse("sqlite::memory:", &[]).is_err());
}
