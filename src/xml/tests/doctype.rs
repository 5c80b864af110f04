//! Documents with a document type definition: what is read of it, what is refused, and what it can cost.

use super::*;
use std::time::{Duration, Instant};

fn job() -> Job {
    Job::new().optional(".", FieldType::Text).optional("@a", FieldType::Text).optional("b", FieldType::Text)
}

/// The root's own text, its attribute `a`, and the text of its child `b`; what is missing is `-`.
fn read(subset: &str, root: &str) -> [String; 3] {
    let values = job().decode(&format!("<!DOCTYPE r [{subset}]>{root}")).reading.values;
    let shown = values.iter().map(|value| match value {
        Value::Text(text) => text.clone(),
        _ => "-".to_owned(),
    });
    shown.collect::<Vec<_>>().try_into().unwrap()
}

fn refuses(subset: &str, root: &str, code: ReasonCode, detail: &str) {
    let document = format!("<!DOCTYPE r [{subset}]>{root}");
    let (found, told) = job().refusal(&document);
    assert_eq!(found, code, "{document}: {told}");
    assert!(told.contains(detail), "{document}: {told}");
}

fn ill_formed(subset: &str, root: &str, detail: &str) {
    refuses(subset, root, ReasonCode::NotWellFormed, detail);
}

#[test]
fn entities_in_text() {
    let declared = "<!ENTITY e 'x &f; y'><!ENTITY f \"<b>in</b>&#38;#60;\"><!ENTITY f 'later'>";
    assert_eq!(read(declared, "<r>1&e;2</r>"), ["1x < y2", "-", "in"]);
    assert_eq!(read("<!ENTITY e 'a\r\nb&#13;c'>", "<r>&e;</r>")[0], "a\nb\rc");
    assert_eq!(read("<!ENTITY e '<![CDATA[<&#38;]]>'>", "<r>&e;</r>")[0], "<&");
    assert_eq!(read("<!ENTITY e '<!-- x --><?p q?>z'>", "<r>&e;</r>")[0], "z");
    assert_eq!(read("<!ENTITY e ''>", "<r>&e;&e;</r>")[0], "");
    assert_eq!(read("<!ENTITY lt '&#38;#60;'><!ENTITY amp '&#38;#38;'>", "<r>&lt;&amp;</r>")[0], "<&");
    assert_eq!(read("<!ENTITY e '<p:b xmlns:p=\"\"/>'>", "<r/>")[0], "", "never referred to, never read");
}

#[test]
fn what_an_entity_holds_is_whole() {
    ill_formed(
        "<!ENTITY e '<b>'>",
        "<r>&e;</b></r>",
        "line 1, column 36: an entity that ends with an element",
    );
    ill_formed("<!ENTITY e '</r>'>", "<r>&e;", "column 37: an end tag and no open element");
    ill_formed("<!ENTITY e '<b'>", "<r>&e;/></r>", "");
    ill_formed("<!ENTITY e ']]&#62;'>", "<r>&e;</r>", "`]]>` in text");
    ill_formed("<!ENTITY e '&#38;'>", "<r>&e;</r>", "`&` that begins no reference");
    ill_formed("<!ENTITY e '&#38;amp'>", "<r>&e;;</r>", "`&` that begins no reference");
    ill_formed("<!ENTITY e '<!--'>", "<r>&e;--></r>", "");
    ill_formed("<!ENTITY e '<?xml version=\"1.0\"?>'>", "<r>&e;</r>", "not at the document's start");
    ill_formed("<!ENTITY e 'x'>", "&e;<r/>", "text outside the root");
    ill_formed("<!ENTITY e '<r/>'>", "<r/>&e;", "text outside the root");
}

#[test]
fn entities_in_attributes() {
    let declared = "<!ENTITY e '\n&f;\t'><!ENTITY f 'f&#38;#38;&#38;#10;&#13;'>";
    assert_eq!(read(declared, "<r a='[&e;]'/>")[1], "[ f&\n  ]");
    ill_formed("<!ENTITY e 'a&#60;b'>", "<r a='&e;'/>", "`<` in an attribute's value");
    assert_eq!(read("<!ENTITY e 'a&#38;#60;b'>", "<r a='&e;'/>")[1], "a<b");
    ill_formed("<!ENTITY e '&f;'>", "<r a='&e;'/>", "an entity that is not declared");
    ill_formed("<!ENTITY e '&e;'>", "<r a='&e;'/>", "an entity that refers to itself");
    refuses("<!ENTITY e SYSTEM 'x'>", "<r a='&e;'/>", ReasonCode::Doctype, "an external entity");
}

#[test]
fn parameter_entities_stand_between_declarations() {
    let declared = "<!ENTITY % p \"<!ENTITY e 'in'>\">%p;<!ENTITY e 'out'>";
    assert_eq!(read(declared, "<r>&e;</r>")[0], "in");
    let built = "<!ENTITY % q '<!ENTITY e \"x\">'><!ENTITY % p '&#37;q;'> %p; ";
    assert_eq!(read(built, "<r>&e;</r>")[0], "x");
    ill_formed("<!ENTITY % p '(a)'><!ELEMENT r %p;>", "<r/>", "a `%` inside a declaration");
    ill_formed("<!ENTITY % p 'x'><!ENTITY e '%p;'>", "<r/>", "a `%` inside a declaration");
    ill_formed("<!ENTITY % p 'x'>%p;", "<r/>", "something that is no declaration");
    ill_formed("<!ENTITY % p '<!ENTITY e \"x\"'>%p;>", "<r/>", "does not end here");
    ill_formed("<!ENTITY % p '&#37;p;'>%p;", "<r/>", "a parameter entity that refers to itself");
    ill_formed("%p;", "<r/>", "a parameter entity that is not declared");
    ill_formed("<!ENTITY % p '<![INCLUDE[]]>'>%p;", "<r/>", "a conditional section");
}

#[test]
fn nothing_outside_the_document_is_read() {
    let external = ReasonCode::Doctype;
    refuses(
        "<!ENTITY e SYSTEM 'file:///etc/hostname'>",
        "<r>&e;</r>",
        external,
        "nothing outside the document",
    );
    assert_eq!(read("<!ENTITY e SYSTEM 'file:///etc/hostname'>", "<r>x</r>")[0], "x");
    ill_formed("<!NOTATION n SYSTEM 'n'><!ENTITY e SYSTEM 'x' NDATA n>", "<r>&e;</r>", "an unparsed entity");
    // Behind what is not read, declarations do not count: one of those unread could have come first.
    let unread = "<!ENTITY e '1'><!ENTITY % p SYSTEM 'x'>%p;<!ENTITY f '2'><!ATTLIST r a CDATA 'd'>";
    assert_eq!(read(unread, "<r>&e;</r>"), ["1", "-", "-"]);
    refuses(unread, "<r>&f;</r>", external, "in the part of the document type definition that is read");
    let document = format!("<?xml version='1.0' standalone='yes'?><!DOCTYPE r [{unread}]><r>&f;</r>");
    assert_eq!(job().decode(&document).reading.values[..2], [text("2"), text("d")]);
    // The external subset could have declared it.
    let (code, _) = job().refusal("<!DOCTYPE r SYSTEM 'http://127.0.0.1/r.dtd'><r>&e;</r>");
    assert_eq!(code, external);
    let alone = "<?xml version='1.0' standalone='yes'?><!DOCTYPE r SYSTEM 'r.dtd'><r>&e;</r>";
    assert_eq!(job().refusal(alone).0, ReasonCode::NotWellFormed);
    job().decode("<!DOCTYPE r PUBLIC '-//X//Y' \"r.dtd\" ><r/>");
}

#[test]
fn attributes_by_default_and_by_type() {
    let declared = "<!ENTITY e 'x'><!ATTLIST r a CDATA ' &e; '><!ATTLIST r a CDATA 'later' c ID #IMPLIED>";
    assert_eq!(read(declared, "<r/>")[1], " x ");
    assert_eq!(read(declared, "<r a='w'/>")[1], "w");
    let tokens = "<!ATTLIST r a NMTOKENS #FIXED ' x  y '>";
    assert_eq!(read(tokens, "<r/>")[1], "x y");
    assert_eq!(read(tokens, "<r a='  1\n 2&#32; '/>")[1], "1 2");
    assert_eq!(read("<!ATTLIST r a (x|y) 'x' b NOTATION (n) #REQUIRED>", "<r/>")[1], "x");
    let namespaces = "<!ATTLIST p:r xmlns:p CDATA 'urn:p'>";
    let job = Job::new().prefix("p", "urn:p").root("p:r").field("@p:a", FieldType::Text);
    let document = format!("<!DOCTYPE p:r [{namespaces}]><p:r p:a='1'/>");
    assert_eq!(job.decode(&document).reading.values, [text("1")]);
    ill_formed("<!ATTLIST r a CDATA '&e;'><!ENTITY e 'x'>", "<r/>", "an entity that is not declared");
    ill_formed("<!ATTLIST r a CDATA '<'>", "<r/>", "`<` in an attribute's value");
    ill_formed("<!ATTLIST r p:a CDATA 'x'>", "<r/>", "line 1, column 42: a prefix that is not declared");
    ill_formed("<!ATTLIST r a cdata 'x'>", "<r/>", "of a type that XML does not have");
}

#[test]
fn the_grammar_of_declarations() {
    for good in [
        "",
        " \r\n<!-- c --><?p x?>",
        "<!ELEMENT r ANY >",
        "<!ATTLIST r>",
        "<!NOTATION n PUBLIC 'p'><!NOTATION m PUBLIC 'p' 's' >",
        "<!ENTITY e PUBLIC 'p' 's' NDATA n >",
        "<!ENTITY e '<'>",
        "<!ENTITY e '&undeclared;'>",
    ] {
        read(good, "<r/>");
    }
    for bad in [
        "x",
        "<!ELEMENT r>",
        "<!ELEMENT r ANY",
        "<!ENTITY e>",
        "<!ENTITY e 'x' y>",
        "<!ENTITY 'x'>",
        "<!ENTITY %p 'x'>",
        "<!ENTITY e '&'>",
        "<!ENTITY e '&#0;'>",
        "<!ENTITY e '& x;'>",
        "<!ENTITY e '%'>",
        "<!ENTITY a:b 'x'>",
        "<!ENTITY e SYSTEM>",
        "<!ENTITY e PUBLIC 'p'>",
        "<!ENTITY e PUBLIC 'p{' 's'>",
        "<!ENTITY % p SYSTEM 's' NDATA n>",
        "<!ENTITY e SYSTEM 's'NDATA n>",
        "<!NOTATION n>",
        "<!NOTATION n 'x'>",
        "<!ATTLIST r a>",
        "<!ATTLIST r a CDATA>",
        "<!ATTLIST r a CDATA #FIXED>",
        "<!ATTLIST r a CDATA #IMPLIED 'x'>",
        "<!ATTLIST r a (x,y) 'x'>",
        "<!ATTLIST r a ID#IMPLIED>",
        "<!-- -- -->",
        "<?xml version='1.0'?>",
        "<![IGNORE[ ]]>",
        "<!element r ANY>",
        "&e;",
    ] {
        ill_formed(bad, "<r/>", "line 1, column ");
    }
    for bad in [
        "<!DOCTYPE>",
        "<!DOCTYPE r",
        "<!DOCTYPEr>",
        "<!DOCTYPE r []",
        "<!DOCTYPE r [",
        "<!DOCTYPE r [<!ENTITY x '",
        "<!DOCTYPE r SYSTEM>",
        "<!DOCTYPE r PUBLIC 'p'>",
        "<!DOCTYPE r SYSTEM 'a'><!DOCTYPE r>",
        "<!DOCTYPE r> x",
        "<!doctype r>",
    ] {
        let (code, detail) = job().refusal(format!("{bad}<r/>"));
        assert_eq!(code, ReasonCode::NotWellFormed, "{bad}: {detail}");
    }
    let (code, detail) = job().refusal("<r><!DOCTYPE r></r>");
    assert_eq!(code, ReasonCode::NotWellFormed);
    assert!(detail.starts_with("line 1, column 4: a DOCTYPE that is not in front"), "{detail}");
}

#[test]
fn a_job_may_refuse_every_doctype() {
    let mut job = job();
    job.event.doctype = Doctype::Refuse;
    for doctype in ["<!DOCTYPE r>", "<!DOCTYPE r [", "<!DOCTYPE"] {
        let (code, detail) = job.refusal(format!("<!-- c -->\n{doctype}<r/>"));
        assert_eq!(code, ReasonCode::Doctype);
        assert_eq!(detail, "line 2, column 1: a DOCTYPE: the job refuses them (event.doctype)");
    }
}

/// A chain of entities, each ten times the one in front of it.
fn chain(percent: &str, levels: usize, first: &str) -> String {
    let mut subset = format!("<!ENTITY {percent} e0 '{first}'>");
    let sign = if percent.is_empty() { "&" } else { "&#37;" };
    for level in 1..levels {
        let ten = format!("{sign}e{};", level - 1).repeat(10);
        subset.push_str(&format!("<!ENTITY {percent} e{level} '{ten}'>"));
    }
    subset
}

#[test]
fn bombs_are_refused_by_what_they_would_stand_for() {
    let started = Instant::now();
    for (subset, root) in [
        (chain("", 10, "lol"), "<r>&e9;</r>".to_owned()),
        (chain("", 10, "<b/>"), "<r>&e9;</r>".to_owned()),
        (chain("", 10, "lol"), "<r a='&e9;'/>".to_owned()),
        (chain("", 10, ""), "<r>&e9;</r>".to_owned()),
        (chain("", 10, "lol") + "<!ATTLIST r a CDATA '&e9;'>", "<r/>".to_owned()),
        (chain("%", 10, "<!-- -->") + "%e9;", "<r/>".to_owned()),
        (chain("", 30, "x"), "<r>&e29;</r>".to_owned()),
        // Long and often, without any depth.
        (format!("<!ENTITY e '{}'>", "x".repeat(100_000)), format!("<r>{}</r>", "&e;".repeat(10_000))),
        ("<!ENTITY e ''>".to_owned(), format!("<r>{}</r>", "&e;".repeat(100_001))),
    ] {
        refuses(&subset, &root, ReasonCode::Limit, "a fixed limit");
    }
    // A debug build on a busy machine; what is unbounded would take days.
    assert!(started.elapsed() < Duration::from_secs(60));
    let nested: String = (1..20).map(|n| format!("<!ENTITY e{n} '&e{};'>", n - 1)).collect();
    assert_eq!(read(&format!("<!ENTITY e0 'x'>{nested}"), "<r>&e19;</r>")[0], "x");
}

#[test]
fn defaults_are_counted_each_time() {
    let attributes: String = (0..2_000).map(|n| format!(" a{n} CDATA ''")).collect();
    let elements = "<b/>".repeat(2_000);
    refuses(
        &format!("<!ATTLIST b{attributes}>"),
        &format!("<r>{elements}</r>"),
        ReasonCode::Limit,
        "too many defaults of attributes",
    );
    // One that is long, read by the job each time.
    let long = "x".repeat(100_000);
    let (code, _) = Job::new()
        .optional("b/@a", FieldType::Text)
        .refusal(format!("<!DOCTYPE r [<!ATTLIST b a CDATA '{long}'>]><r>{}</r>", "<b/>".repeat(1_000)));
    assert_eq!(code, ReasonCode::Limit);
    read(&format!("<!ATTLIST r{attributes}>"), &format!("<r>{elements}</r>").replace("<b/>", ""));
}

#[test]
fn a_document_with_a_definition_is_refused_at_every_byte_where_it_is_cut() {
    let document = "<?xml version='1.0'?><!-- c --><!DOCTYPE r SYSTEM 's' [<!ENTITY % p '<!ENTITY e \"<b>1</b>\">'>%p;\
                    <!ELEMENT r (b|c)*><!ATTLIST r a (x|y) 'x' z CDATA #IMPLIED><!NOTATION n PUBLIC 'p'><?q?>]><r>&e;</r>";
    let mut decoder = job().decoder();
    decode_one(&mut decoder, document).unwrap();
    for end in 0..document.len() {
        let reason = decode_one(&mut decoder, document.get(..end).unwrap()).unwrap_err();
        assert_eq!(reason.code, ReasonCode::NotWellFormed, "{end}: {reason}");
        assert!(reason.detail.starts_with("line 1, column "), "{reason}");
    }
}
