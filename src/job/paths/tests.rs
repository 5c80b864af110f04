//! Paths that are right, and everything of XPath that is not known, each with its place.

use super::*;
use proptest::prelude::*;

fn name(text: &str) -> String {
    text.to_owned()
}

/// A path written back from its parts.
fn written(path: &RawPath) -> String {
    let branches: Vec<String> = path.branches.iter().map(written_branch).collect();
    branches.join(" | ")
}

fn written_name(name: &RawName) -> String {
    name.prefix.as_ref().map_or_else(|| name.local.clone(), |prefix| format!("{prefix}:{}", name.local))
}

fn written_branch(branch: &RawBranch) -> String {
    let mut parts: Vec<String> = (0..branch.up).map(|_| name("..")).collect();
    for step in &branch.steps {
        let predicates: String = step.predicates.iter().map(written_predicate).collect();
        parts.push(format!("{}{predicates}", written_name(&step.name)));
    }
    match &branch.end {
        RawEnd::Element => {}
        RawEnd::Text => parts.push(name("text()")),
        RawEnd::Attribute(name) => parts.push(format!("@{}", written_name(name))),
    }
    let path = if parts.is_empty() { name(".") } else { parts.join("/") };
    let path = if branch.absolute { format!("/{path}") } else { path };
    if branch.count { format!("count({path})") } else { path }
}

fn written_predicate(predicate: &RawPredicate) -> String {
    match predicate {
        RawPredicate::Nth(number) => format!("[{number}]"),
        RawPredicate::Last => name("[last()]"),
        RawPredicate::Equals { steps, attribute, value } => {
            let mut parts: Vec<String> = steps.iter().map(written_name).collect();
            parts.extend(attribute.iter().map(|name| format!("@{}", written_name(name))));
            let operand = if parts.is_empty() { name(".") } else { parts.join("/") };
            let quote = if value.contains('\'') { '"' } else { '\'' };
            format!("[{operand}={quote}{value}{quote}]")
        }
    }
}

#[test]
fn what_is_written_is_what_is_read() {
    for (text, back) in [
        (".", "."),
        ("..", ".."),
        ("../../@id", "../../@id"),
        ("../a:b/text()", "../a:b/text()"),
        ("/a/b/@c", "/a/b/@c"),
        ("text()", "text()"),
        ("count", "count"),
        ("last", "last"),
        ("text", "text"),
        ("count(a)", "count(a)"),
        ("count ( ../a/@b )", "count(../a/@b)"),
        ("a[1]", "a[1]"),
        ("a[ 12 ]/b[last()]/c", "a[12]/b[last()]/c"),
        ("a[ last ( ) ]", "a[last()]"),
        ("a[@b='c'][2]", "a[@b='c'][2]"),
        ("a[@x:b = \"it's\"]", "a[@x:b=\"it's\"]"),
        ("a[x:b/c='']/d", "a[x:b/c='']/d"),
        ("a[b/@c='|]/[']", "a[b/@c='|]/[']"),
        ("a[.='v']", "a[.='v']"),
        ("a[text()='v']", "a[.='v']"),
        ("a[b/text()='v']", "a[b='v']"),
        ("a|b", "a | b"),
        ("a[1] | /b/@c|count(d)", "a[1] | /b/@c | count(d)"),
        ("\u{e4}.b-c_d", "\u{e4}.b-c_d"),
    ] {
        let path = parse(text).unwrap_or_else(|problem| panic!("{text}: {problem:?}"));
        assert_eq!(written(&path), back, "{text}");
    }
}

/// A path, the place of the mistake, and how its message begins.
const WRONG: &[(&str, usize, &str)] = &[
    ("", 0, "an empty path"),
    (" a", 0, "white space around"),
    ("/", 0, "`/` names no element"),
    ("a | /", 4, "`/` names no element"),
    ("//a", 0, "`//` is not known"),
    ("a//b", 1, "`//` is not known"),
    ("a/", 2, "an empty step"),
    ("a|", 2, "an empty step"),
    ("|a", 0, "an empty step"),
    ("a/*", 2, "`*` is not known"),
    ("@*", 1, "`*` is not known"),
    ("a/../b", 2, "`..` behind other steps"),
    ("/..", 1, "`..` behind other steps"),
    ("./a", 0, "`.` beside other steps"),
    ("a/.", 2, "`.` beside other steps"),
    (".[1]", 1, "a predicate behind `.`"),
    ("..[1]", 2, "a predicate behind `..`"),
    ("@a[1]", 2, "a predicate behind an attribute"),
    ("@a/b", 3, "a step behind an attribute"),
    ("text()/b", 7, "a step behind `text()`"),
    ("child::a", 5, "axes `::`"),
    ("a/following-sibling::b", 19, "axes `::`"),
    ("$a", 0, "`$` is not known"),
    ("a b", 2, "`b` is not known"),
    ("a + b", 2, "`+` is not known"),
    ("a = 'b'", 2, "`=` is not known"),
    ("string(a)", 0, "`string(...)` is not known"),
    ("a/node()", 2, "`node(...)` is not known"),
    ("count(a", 7, "`count(` without"),
    ("count()", 6, "an empty step"),
    ("count(a | b)", 8, "`|` inside of `count"),
    ("count(a/text())", 6, "`text()` cannot be counted"),
    ("count(a) | b", 11, "an alternative behind `count"),
    ("count(count(a))", 6, "`count(...)` is not known here"),
    ("count(a) - 1", 9, "`-` is not known"),
    ("a[0]", 2, "a position that no element has"),
    ("a[99999999999999999999999]", 2, "a position that no element has"),
    ("a[-1]", 2, "\"-1\" is not an XML name"),
    ("a[]", 2, "an empty step"),
    ("a[1", 1, "`[` without"),
    ("a[1.5]", 3, "`.5` is not known"),
    ("a[last()-1]", 8, "`-1` is not known"),
    ("a[position()=1]", 2, "`position(...)` is not known"),
    ("a[contains(b,'c')]", 2, "`contains(...)` is not known"),
    ("a[not(b='c')]", 2, "`not(...)` is not known"),
    ("a[b]", 3, "a predicate that compares nothing"),
    ("a[b", 3, "a predicate that compares nothing"),
    ("a[b!='c']", 3, "`!` is not known"),
    ("a[b>'c']", 3, "`>` is not known"),
    ("a[b=1]", 4, "a predicate that compares with something else"),
    ("a[b='c]", 4, "a text without its closing"),
    ("a[b='c' and d='e']", 8, "`and` is not known"),
    ("a[b='c' or d='e']", 8, "`or` is not known"),
    ("a[b[1]='c']", 3, "a predicate in a predicate"),
    ("a[../b='c']", 2, "`..` in a predicate"),
    ("a[/b='c']", 2, "`/` at the beginning of a predicate"),
    ("a[b='c'", 1, "`[` without"),
    ("2nd", 0, "\"2nd\" is not an XML name"),
    ("a:b:c", 0, "\"a:b:c\" is not an XML name"),
    (":a", 0, "\":a\" is not an XML name"),
];

#[test]
fn whatever_else_of_xpath_is_used_is_named_with_its_place() {
    for (text, offset, message) in WRONG {
        let problem = parse(text).expect_err(text);
        assert!(problem.message.starts_with(message), "{text}: {problem:?}");
        assert_eq!(problem.offset, *offset, "{text}: {problem:?}");
        assert!(problem.hint.is_some(), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_written_is_answered(text in r#"(a|b:c|\.\.?|/|//|@|\[|\]|'|"|=|\||\(|\)|count|last|text|[0-9]| |ä|::|\*|and){0,14}"#) {
        match parse(&text) {
            Ok(path) => {
                let back = written(&path);
                let again = parse(&back);
                prop_assert!(again.as_ref().is_ok_and(|again| written(again) == back), "{} {:?}", text, again);
            }
            Err(problem) => {
                prop_assert!(text.is_char_boundary(problem.offset), "{} {:?}", text, problem);
            }
        }
    }
}
