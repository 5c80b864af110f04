//! Templates: what they write, and that nothing of an event can make them write something else.

use super::*;
use crate::model::{Date, Decimal, Time};

fn text(value: &str) -> Shown {
    Shown::Value(Value::Text(value.to_owned()))
}

fn names<const N: usize>(names: [(&str, Shown); N]) -> Vec<(String, Shown)> {
    names.into_iter().map(|(name, shown)| (name.to_owned(), shown)).collect()
}

fn render(source: &str, event: &[(String, Shown)]) -> Result<String, String> {
    let template = Template::compile("t.xml", source).map_err(|error| error.to_string())?;
    template.render(event).map_err(|error| error.to_string())
}

#[test]
fn every_kind_of_value_is_its_canonical_text() {
    let date = Date { year: 2021, month: 2, day: 3 };
    let time = Time { hour: 4, minute: 5, second: 6, micros: 700_000 };
    for (value, shown) in [
        (Value::Text("a".into()), "a"),
        (Value::Int(i64::MIN), "-9223372036854775808"),
        (Value::UInt(u64::MAX), "18446744073709551615"),
        (
            Value::Decimal(Decimal::from_canonical("1111111111111111200000002222.0987654321").unwrap()),
            "1111111111111111200000002222.0987654321",
        ),
        (Value::Decimal(Decimal::from_canonical("0.10").unwrap()), "0.10"),
        (Value::Bool(true), "true"),
        (Value::Bool(false), "false"),
        (Value::Date(date), "2021-02-03"),
        (Value::Time(time), "04:05:06.7"),
        (Value::Bytes(Bytes::from_static(b"hello")), "aGVsbG8="),
        (Value::Float(0.1), "0.1"),
        (Value::Null, ""),
    ] {
        let written = render("<a>{{ v }}</a>", &names([("v", Shown::Value(value.clone()))]));
        assert_eq!(written.as_deref(), Ok(format!("<a>{shown}</a>").as_str()), "{value:?}");
    }
}

#[test]
fn whole_numbers_are_numbers() {
    let event = names([("n", Shown::Value(Value::UInt(u64::MAX))), ("m", Shown::Value(Value::Int(2)))]);
    assert_eq!(
        render("<a>{{ n - 1 }} {{ m * 3 }}{% if m > 1 %}!{% endif %}</a>", &event).as_deref(),
        Ok("<a>18446744073709551614 6!</a>")
    );
}

#[test]
fn everything_is_escaped_in_text_and_attributes() {
    let event = names([("v", text("<&>\"' ]]> \r\n\t"))]);
    let escaped = "&lt;&amp;&gt;&quot;&apos; ]]&gt; &#13;&#10;&#9;";
    for source in [
        "<a b=\"{{ v }}\" c='{{ v }}'>{{ v }}</a>",
        "<a b=\"{{ v|e }}\" c='{{ v|escape }}'>{% set w = v %}{{ w }}</a>",
        "{% autoescape false %}<a b=\"{{ v }}\" c='{{ v }}'>{{ v }}</a>{% endautoescape %}",
        "{% autoescape 'none' %}<a b=\"{{ v }}\" c='{{ v }}'>{{ v }}</a>{% endautoescape %}",
        "<a b=\"{{ v ~ '' }}\" c='{{ [v]|join }}'>{% set w %}{{ v }}{% endset %}{{ w }}</a>",
    ] {
        let written = render(source, &event);
        assert_eq!(written, Ok(format!("<a b=\"{escaped}\" c='{escaped}'>{escaped}</a>")), "{source}");
    }
}

#[test]
fn only_a_field_of_the_type_xml_is_markup() {
    let event = names([
        ("x", Shown::Markup("<b c='1'>&amp;</b>".into())),
        ("v", text("<b/>")),
        ("none", Shown::Value(Value::Null)),
    ]);
    assert_eq!(
        render("<a>{{ x|xml }}{{ none|xml }}</a>", &event).as_deref(),
        Ok("<a><b c='1'>&amp;</b></a>")
    );
    assert_eq!(
        render("<a>{{ x }}</a>", &event).as_deref(),
        Ok("<a>&lt;b c=&apos;1&apos;&gt;&amp;amp;&lt;/b&gt;</a>")
    );
    let refusal = render("<a>\n{{ v|xml }}</a>", &event).unwrap_err();
    assert_eq!(refusal, format!("t.xml, line 2: {NOT_MARKUP}"));
    for filter in REMOVED_FILTERS {
        assert!(render(&format!("<a>{{{{ v|{filter} }}}}</a>"), &event).is_err(), "{filter}");
    }
}

#[test]
fn lists_are_looped_over_and_may_be_nested() {
    let line = |sku: &str, parts: &[&str]| {
        let parts = parts.iter().map(|part| Shown::Table(names([("no", text(part))]))).collect();
        Shown::Table(names([("sku", text(sku)), ("parts", Shown::Rows(parts))]))
    };
    let event = names([("lines", Shown::Rows(vec![line("a&b", &["1", "2"]), line("c", &[])]))]);
    let source = "<o n='{{ lines|length }}'>{% for line in lines %}<l i='{{ loop.index }}' s='{{ line.sku }}'>\
                  {% for part in line.parts %}<p>{{ part.no }}</p>{% else %}<none/>{% endfor %}</l>{% endfor %}</o>";
    assert_eq!(
        render(source, &event).as_deref(),
        Ok("<o n='2'><l i='1' s='a&amp;b'><p>1</p><p>2</p></l><l i='2' s='c'><none/></l></o>")
    );
}

#[test]
fn null_is_none_and_nothing_is_written_for_it() {
    let event = names([("c", Shown::Table(names([("name", Shown::Value(Value::Null))])))]);
    let source = "<a>{{ c.name }}{% if c.name is none %}-{% endif %}</a>";
    assert_eq!(render(source, &event).as_deref(), Ok("<a>-</a>"));
}

#[test]
fn a_name_that_is_a_fields_and_a_lookups_is_the_lookups() {
    let event = names([("c", text("17")), ("c", Shown::Table(names([("name", text("n"))])))]);
    assert_eq!(render("<a>{{ c.name }}</a>", &event).as_deref(), Ok("<a>n</a>"));
}

#[test]
fn a_name_that_gives_nothing_is_an_error_with_its_line() {
    let event = names([("v", text("secret")), ("c", Shown::Table(names([("name", text("secret"))])))]);
    for source in [
        "<a>\n{{ w }}</a>",
        "<a>\n{{ c.nam }}</a>",
        "<a>\n{% if w %}x{% endif %}</a>",
        "<a>\n{% for x in w %}{% endfor %}</a>",
        "<a>\n{{ v.x }}</a>",
    ] {
        let refusal = render(source, &event).unwrap_err();
        assert_eq!(refusal, "t.xml, line 2: a name that gives nothing", "{source}");
    }
}

#[test]
fn no_value_is_in_an_error() {
    let event = names([
        ("v", text("s3cret\u{1}")),
        ("n", text("s3cret")),
        ("c", Shown::Table(names([("name", text("s3cret"))]))),
        ("rows", Shown::Rows(vec![text("s3cret")])),
    ]);
    for source in [
        "<a>{{ v }}</a>",
        "<a>{{ v ~ '' }}</a>",
        "<a>{{ n + 1 }}</a>",
        "<a>{{ n|int }}</a>",
        "<a>{{ -n }}</a>",
        "<a>{{ c }}</a>",
        "<a>{{ rows }}</a>",
        "<a>{{ n() }}</a>",
        "<a>{{ n.name() }}</a>",
        "<a>{{ c[n].x }}</a>",
        "<a>{{ [n]|map(n) }}</a>",
        "<a>{{ {'s3': 1}[n].x }}</a>",
        "<{{ n }}&/>",
        "<{{ n }}></b>",
        "{{ n }}",
    ] {
        let refusal = render(source, &event).unwrap_err();
        assert!(!refusal.contains("s3cret"), "{source}: {refusal}");
        assert!(refusal.starts_with("t.xml"), "{source}: {refusal}");
    }
    assert_eq!(render("<a>\n\n{{ v }}</a>", &event).unwrap_err(), format!("t.xml, line 3: {NOT_XML}"));
    assert_eq!(render("<a>{{ c }}</a>", &event).unwrap_err(), format!("t.xml, line 1: {NOT_WRITTEN}"));
}

#[test]
fn what_is_written_is_a_document() {
    let event = names([("v", text("x"))]);
    for source in [
        "",
        "text",
        "<a>",
        "<a/><b/>",
        "<a><p:b/></a>",
        "<a b='1' b='2'/>",
        "<a>&nbsp;</a>",
        "<?xml version='1.0' encoding='ISO-8859-1'?><a/>",
        "<a>\u{1}</a>",
        "<a>{{ v }}</{{ v }}>",
    ] {
        let refusal = render(source, &event).unwrap_err();
        assert!(refusal.contains("is no document"), "{source}: {refusal}");
    }
    for source in
        ["<?xml version='1.0' encoding='UTF-8'?>\n<a/>", "<!-- c --><{{ v }}/>", "<a><![CDATA[v]]></a>"]
    {
        assert!(render(source, &event).is_ok(), "{source}");
    }
}

#[test]
fn mistakes_of_a_template_are_told_with_their_line() {
    for (source, line, part) in [
        ("<a>\n{% for x in y %}</a>", Some(2), "end"),
        ("<a>\n\n{{ v | nofilter }}</a>", Some(3), "nofilter"),
        ("<a>{{ v", Some(1), "end"),
        ("<a>{% include 'b' %}</a>", Some(1), "include"),
        ("<a>{% import 'b' as b %}</a>", Some(1), "import"),
        ("<a>{% extends 'b' %}</a>", Some(1), "extends"),
        ("{% nothing %}", Some(1), "nothing"),
    ] {
        match Template::compile("t.xml", source) {
            Err(TemplateError::Syntax { line: found, detail, .. }) => {
                assert_eq!(found, line, "{source}");
                assert!(detail.contains(part), "{source}: {detail}");
            }
            // A filter is looked up when it is used.
            Ok(template) => {
                assert!(template.render(&names([("v", text(""))])).is_err(), "{source}");
            }
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn the_names_that_a_template_takes() {
    let source = "{% for line in lines %}{{ line.sku }}{{ total }}{% endfor %}{{ customer.name }}{% set x = 1 %}{{ x }}{{ range(3) }}";
    let template = Template::compile("t.xml", source).unwrap();
    assert_eq!(template.names(), ["customer.name", "lines", "total"]);
}

#[test]
fn no_template_runs_away() {
    let event = names([("v", text(&"x".repeat(1000)))]);
    for source in [
        "<a>{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}</a>",
        "<a>{% for a in range(99999) %}{% for b in range(99999) %}{{ v }}{% endfor %}{% endfor %}</a>",
        "<a>{{ 'x' * 100000000000 }}</a>",
        "<a>{{ range(100000000000)|list }}</a>",
        "<a>{% set ns = namespace(s='xxxxxxxxxxxxxxxx') %}{% for a in range(60) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}</a>",
        "<a>{{ '%100000000000d'|format(1) }}</a>",
        "<a>{{ v|replace('', v)|replace('', v)|replace('', v)|replace('', v) }}</a>",
    ] {
        assert!(render(source, &event).is_err(), "{source}");
    }
    let template = Template::compile("t.xml", "<a>{{ v }}</a>").unwrap().with_output_bytes_max(1006);
    let refusal = template.render(&event).unwrap_err().to_string();
    assert_eq!(refusal, "t.xml: writes more than 1006 bytes");
}
