//! Every form of a path.

use super::*;

/// The values of text fields at these paths, all of them optional.
fn values(job: Job, document: &str, paths: &[&str]) -> Vec<String> {
    let job = paths.iter().fold(job, |job, path| job.optional(path, FieldType::Text));
    let shown = |value: Value| crate::xml::text_of(&value).unwrap_or_else(|| "NULL".to_owned());
    job.decode(document).reading.values.into_iter().map(shown).collect()
}

const STATEMENT: &str = "<s><b><t><c>OPBD</c></t><amt k='CHF'>1</amt></b><b k='x'><t><c>CLBD</c></t><amt k='EUR'>2</amt></b>\
                         <b k=''><t><c>PRCD</c><c>ITBD</c></t><amt>3</amt></b></s>";

#[test]
fn predicates() {
    let found = values(
        Job::new(),
        STATEMENT,
        &[
            "b[1]/amt",
            "b[last()]/amt",
            "b[4]/amt",
            "b[t/c='CLBD']/amt",
            "b[t/c='ITBD']/amt",
            "b[t/c='clbd']/amt",
            "b[amt/@k='CHF']/t/c",
            "b[@k='x']/amt/@k",
            "b[@k='']/amt",
            "b/t/c[.='PRCD']",
            "b[t/c='CLBD'][1]/amt",
            "b[t/c='CLBD'][2]/amt",
            "b[2][t/c='OPBD']/amt",
            "b[2][t/c='CLBD']/amt/@k",
            "b[3]/t/c[last()]",
        ],
    );
    let expected =
        ["1", "3", "NULL", "2", "3", "NULL", "OPBD", "EUR", "3", "PRCD", "2", "NULL", "NULL", "EUR", "ITBD"];
    assert_eq!(found, expected);
}

#[test]
fn positions_count_among_the_children_of_one_parent() {
    let document = "<r><p><x>1</x><x>2</x></p><p><x>3</x></p></r>";
    let job = Job::new().optional("p/x[2]", FieldType::Text);
    assert_eq!(job.decode(document).reading.values, [text("2")]);
    let (code, detail) = Job::new().optional("p/x[1]", FieldType::Text).refusal(document);
    assert_eq!(code, ReasonCode::Ambiguous);
    assert!(detail.starts_with("line 1, column 30: the field `f` (p/x[1])"), "{detail}");
}

#[test]
fn alternatives_counts_and_texts() {
    let found = values(
        Job::new(),
        STATEMENT,
        &[
            "nn | b[1]/amt | b[2]/amt",
            "nn|@n",
            "count(b)",
            "count(b/amt/@k)",
            "count(n)",
            "b[1]/amt/text()",
            "count(n) | count(b)",
        ],
    );
    assert_eq!(found, ["1", "NULL", "3", "2", "0", "1", "3"]);
    // Nil is there.
    let nil = "<r xmlns:i='http://www.w3.org/2001/XMLSchema-instance'><a i:nil='1'/><b>1</b></r>";
    assert_eq!(values(Job::new(), nil, &["a | b", "c | b"]), ["NULL", "1"]);
}

#[test]
fn absolute_paths_and_paths_that_go_up() {
    let document = "<o id='7'><h><d>1</d></h><l n='a'><q>5</q></l><x><l n='b'/></x></o>";
    let found = values(
        Job::new().root("o").each("/o/l"),
        document,
        &["@n", "../h/d", "/o/@id", "../@id", "../../o/x/l/@n", "/p/@id", "../x/l/@n", "count(../l)"],
    );
    assert_eq!(found, ["a", "1", "7", "7", "b", "NULL", "b", "1"]);
    // The root may have any name, and an absolute path asks for one.
    assert_eq!(values(Job::new(), document, &["/o/@id", "/p/@id", "/p/@id | /o/h/d"]), ["7", "NULL", "1"]);
    assert!(matches!(
        Job::new().field("../../a", FieldType::Text).try_decoder(),
        Err(XmlSetupError::AboveTheDocument { .. })
    ));
}

#[test]
fn attributes_of_xml_and_of_namespaces() {
    let document = "<r xmlns:p='urn:u' xml:lang='de' p:a='1' a='2'><p:x xmlns='urn:v'><y p:a='3'/></p:x></r>";
    let found = values(Job::new(), document, &["@xml:lang", "@u:a", "@a", "u:x/v:y/@u:a", "u:x/y/@u:a"]);
    assert_eq!(found, ["de", "1", "2", "3", "NULL"]);
}

#[test]
fn a_hundred_values_of_one_operand_are_told_apart() {
    let rows: String = (0..100).map(|n| format!("<e><k>{n}</k><v>{}</v></e>", n * 7)).collect();
    let paths: Vec<String> = (0..100).rev().map(|n| format!("e[k='{n}']/v")).collect();
    let found =
        values(Job::new(), &format!("<r>{rows}</r>"), &paths.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(found, (0..100).rev().map(|n| (n * 7).to_string()).collect::<Vec<_>>());
}

#[test]
fn texts_in_pieces_around_children_stay_apart() {
    let document = "<r>1<a>2<b>3&amp;</b>4<![CDATA[<5>]]></a>\r6<a/>&#55;<!-- x -->8</r>";
    let found = values(Job::new(), document, &[".", "a[1]", "a/b", "a[2]"]);
    assert_eq!(found, ["1\n678", "24<5>", "3&", ""]);
}
