//! Parameters are found where a server would read an expression, and nowhere else.

use super::*;

fn names(text: &str, dialect: Dialect) -> Vec<String> {
    match scan(text, dialect) {
        Ok(scanned) => scanned.parameters.into_iter().map(|p| p.name).collect(),
        Err(problems) => panic!("{text}: {problems:?}"),
    }
}

fn problem(text: &str, dialect: Dialect) -> (usize, &'static str) {
    match scan(text, dialect) {
        Ok(scanned) => panic!("{text}: {scanned:?}"),
        Err(problems) => (problems[0].offset, problems[0].message),
    }
}

#[test]
fn parameters_are_not_looked_for_in_strings_names_and_comments() {
    for dialect in [Dialect::MySql, Dialect::Sqlite] {
        assert_eq!(
            names("SELECT ':a', \":b\", `:c`, :d FROM x /* :e ? ; */ WHERE y = :f -- :g ?", dialect),
            ["d", "f"]
        );
        assert_eq!(names("SELECT 'it''s :a', :b", dialect), ["b"]);
        assert_eq!(names("SELECT 1 -- :a\n, :b", dialect), ["b"]);
    }
}

#[test]
fn dialects_differ_in_escapes_comments_and_brackets() {
    assert_eq!(names(r"SELECT 'a\' :x', :b", Dialect::MySql), ["b"]);
    assert_eq!(names(r"SELECT 'a\', :x, ':b'", Dialect::Sqlite), ["x"]);
    assert_eq!(names(r#"SELECT "a\" :x", :b"#, Dialect::MySql), ["b"]);
    assert_eq!(names(r"SELECT `a\`, :x", Dialect::MySql), ["x"], "a backslash escapes nothing in a name");
    assert_eq!(names("SELECT 1--:a\n", Dialect::MySql), ["a"], "two minus signs");
    assert_eq!(names("SELECT 1--:a\n", Dialect::Sqlite), [""; 0]);
    assert_eq!(names("SELECT 1 # :a\n, :b", Dialect::MySql), ["b"]);
    assert_eq!(names("SELECT [:a], :b", Dialect::Sqlite), ["b"]);
    assert_eq!(names("SELECT @x := :a", Dialect::MySql), ["a"]);
}

#[test]
fn names_end_where_they_end() {
    assert_eq!(names("SELECT :a+:b.c*:d.e.f", Dialect::MySql), ["a", "b.c", "d.e"]);
    assert_eq!(names("SELECT :a. b", Dialect::MySql), ["a"]);
    assert_eq!(
        names("SELECT :_header.x-request.id, :_header.y- 1", Dialect::MySql),
        ["_header.x-request.id", "_header.y"]
    );
    assert_eq!(names("SELECT x::y, :a", Dialect::MySql), ["a"]);
}

#[test]
fn the_text_for_the_server_keeps_everything_else() {
    let scanned = scan("  SELECT ':a' /* :b */, :c, (:c)\n ; -- end\n", Dialect::MySql).unwrap();
    assert_eq!(scanned.sql, "SELECT ':a' /* :b */, ?, (?)");
    assert_eq!(scanned.parameters.len(), 2);
    assert_eq!(scanned.parameters[0].offset, 24);
    assert_eq!(scanned.words, ["SELECT"]);
}

#[test]
fn one_statement_is_all() {
    assert!(scan("SELECT 1;; ", Dialect::MySql).is_err());
    assert_eq!(problem("SELECT 1; SELECT 2", Dialect::MySql), (10, "more than one statement"));
    assert_eq!(problem("SELECT ';'; x", Dialect::MySql), (12, "more than one statement"));
    assert_eq!(problem("SELECT 1; 'x", Dialect::Sqlite).1, "more than one statement");
}

#[test]
fn what_is_left_open_is_an_error() {
    assert_eq!(problem("SELECT 'a", Dialect::MySql).0, 7);
    assert_eq!(problem(r"SELECT 'a\'", Dialect::MySql).0, 7);
    assert_eq!(problem("SELECT /* a", Dialect::MySql).0, 7);
    assert_eq!(problem("SELECT `a", Dialect::MySql).0, 7);
}

#[test]
fn other_kinds_of_parameters_are_refused() {
    assert_eq!(problem("SELECT ?", Dialect::MySql).0, 7);
    assert_eq!(problem("SELECT ?1", Dialect::Sqlite).0, 7);
    assert_eq!(problem("SELECT @a", Dialect::Sqlite).0, 7);
    assert_eq!(problem("SELECT $a", Dialect::Sqlite).0, 7);
    assert_eq!(problem("SELECT :1", Dialect::MySql).0, 7);
}

#[test]
fn comments_that_servers_execute_are_refused() {
    assert!(scan("SELECT /*!40000 1 */ 2", Dialect::MySql).is_err());
    assert!(scan("SELECT /*M! 1 */ 2", Dialect::MySql).is_err());
    assert!(scan("SELECT /*! 1 */ 2", Dialect::Sqlite).is_ok());
}
