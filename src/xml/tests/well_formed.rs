//! What is a document and what is none.

use super::*;

fn accepts(document: &str) {
    Job::new().decode(document);
}

/// Refused as not well-formed, with this in the detail.
fn refuses(document: &str, detail: &str) {
    let (code, found) = Job::new().refusal(document);
    assert_eq!(code, ReasonCode::NotWellFormed, "{document}: {found}");
    assert!(found.contains(detail), "{document}: {found}");
}

#[test]
fn one_root_and_nothing_but_blanks_comments_and_instructions_around_it() {
    accepts("<a/>");
    accepts("<?xml version='1.0'?>\n<!-- c --><?p x?>\r\n<a></a >\n<!-- d --><?q?>\t");
    refuses("", "line 1, column 1: no root element");
    refuses(" <!-- c -->\n", "line 2, column 1: no root element");
    refuses("{\"a\":}", "line 1, column 1: text outside the root");
    refuses("<a/>\n x", "line 2, column 2: text outside the root");
    refuses("x<a/>", "text outside the root");
    refuses("<a/>&#32;", "line 1, column 5: text outside the root");
    refuses("&#32;<a/>", "text outside the root");
    refuses("<a/><![CDATA[]]>", "text outside the root");
    refuses("<a/><b/>", "line 1, column 5: a second root");
    refuses("<a></a><a></a>", "a second root");
}

#[test]
fn every_element_is_closed_by_its_own_name() {
    refuses(
        "<a>\n<b>",
        "line 2, column 4: the document ends with 2 elements open, the innermost from line 2, column 1",
    );
    refuses(
        "<a>\n <b></a>",
        "line 2, column 5: an end tag of another name than the open element, the one from line 2, column 2",
    );
    refuses("<a></a></a>", "an end tag and no open element");
    refuses("</a>", "an end tag and no open element");
    refuses("<a></a b='1'>", "an end tag of another name");
    refuses("<a></ a>", "an end tag of another name");
    refuses("<p:a xmlns:p='u' xmlns:q='u'></q:a>", "an end tag of another name");
    refuses("<a", "tag not closed");
    refuses("<a b='", "not closed");
    refuses("<", "");
    refuses("<a></", "");
    refuses("<a><!", "");
}

#[test]
fn tags_and_attributes() {
    accepts("<a b = '1'\n c=\"2>'\"/>");
    refuses("<1r/>", "line 1, column 2: a tag's name");
    refuses("<a b='1' b='2'/>", "line 1, column 10: an attribute that the tag has already");
    refuses("<a b='<'/>", "line 1, column 7: `<` in an attribute's value");
    refuses("<a b='&'/>", "`&` that begins no reference");
    refuses("<a b='&x;'/>", "a reference to an entity");
    refuses("<a b='&#0;'/>", "XML cannot hold");
    refuses("<a b/>", "without `=`");
    refuses("<a b=1/>", "without quotes");
    refuses("<a b='1'c='2'/>", "no blank in front of an attribute");
    refuses("<a / >", "an attribute's name");
}

#[test]
fn many_attributes_are_checked_like_few() {
    let mut tag: String = (0..60).map(|n| format!(" a{n}='{n}'")).collect();
    accepts(&format!("<a{tag}/>"));
    tag.push_str(" a31=''");
    refuses(&format!("<a{tag}/>"), "an attribute that the tag has already");
}

#[test]
fn namespaces() {
    accepts("<p:a xmlns:p='u' p:b='1' b='2' xml:lang='de'/>");
    accepts("<a xmlns='u' xmlns:p='u' b='1' p:b='2'/>");
    accepts("<a xmlns='u'><b xmlns=''/></a>");
    accepts("<a xmlns:xml='http://www.w3.org/XML/1998/namespace'/>");
    refuses("<p:a/>", "line 1, column 2: a prefix that is not declared");
    refuses("<a p:b='1'/>", "line 1, column 4: a prefix that is not declared");
    refuses("<a><b xmlns:p='u'/><p:c/></a>", "a prefix that is not declared");
    refuses("<xmlns:a/>", "a prefix that is not declared");
    refuses("<a xmlns:p='u' xmlns:q='u' p:b='1' q:b='2'/>", "an attribute that the tag has already");
    refuses("<a xmlns:p='u' xmlns:p='v'/>", "an attribute that the tag has already");
    refuses("<a xmlns='u' xmlns='u'/>", "an attribute that the tag has already");
    refuses("<a xmlns:p=''/>", "a prefix is bound to no namespace");
    refuses("<a xmlns:xmlns='u'/>", "cannot be declared");
    refuses("<a xmlns:p='http://www.w3.org/2000/xmlns/'/>", "cannot be declared");
    refuses("<a xmlns:xml='u'/>", "belong together");
}

#[test]
fn text_comments_and_instructions() {
    accepts("<a>]] > ]]&gt; <![CDATA[]] > <&]]><!-- - --><?p ?x??></a>");
    refuses("<a>\n]]></a>", "line 2, column 1: `]]>` in text");
    refuses("<a><!-- a -- b --></a>", "`--` inside a comment");
    refuses("<a><!-- a ---></a>", "`--` inside a comment");
    refuses("<a><!-- a </a>", "comment not closed");
    refuses("<a><!--></a>", "");
    refuses("<a><![CDATA[ </a>", "CDATA not closed");
    refuses("<a><![cdata[ ]]></a>", "");
    refuses("<a><?xml version='1.0'?></a>", "not at the document's start");
    refuses(" <?xml version='1.0'?><a/>", "not at the document's start");
    refuses("<!-- c --><?xml version='1.0'?><a/>", "not at the document's start");
    refuses("<a><?XML x?></a>", "target is reserved");
    refuses("<a><?1?></a>", "target is not a name");
    refuses("<a><? p?></a>", "target is not a name");
    refuses("<a><??></a>", "");
    refuses("<a><?p </a>", "not closed");
}

#[test]
fn references_and_characters() {
    accepts("<a>&amp;&lt;&gt;&quot;&apos;&#9;&#x10FFFF;\u{85}\u{2028}</a>");
    refuses("<a>&nbsp;</a>", "line 1, column 4: a reference to an entity");
    refuses("<a>a & b</a>", "`&` that begins no reference");
    refuses("<a>&</a>", "`&` that begins no reference");
    refuses("<a>&amp</a>", "`&` that begins no reference");
    refuses("<a>&#0;</a>", "XML cannot hold");
    refuses("<a>&#xD800;</a>", "XML cannot hold");
    refuses("<a>&#xFFFF;</a>", "XML cannot hold");
    refuses("<a>a\0b</a>", "line 1, column 5: the character U+0000");
    refuses("<a>\u{1b}</a>", "the character U+001B");
    refuses("<a b='\u{fffe}'/>", "the character U+FFFE");
    refuses("<a/>\0", "line 1, column 5: the character U+0000");
}

#[test]
fn versions_and_encodings() {
    refuses("<?xml version='1.1'?><a/>", "only XML 1.0 is read");
    refuses("<?xml?><a/>", "the XML declaration is not");
    for label in ["UTF-8", "utf-8", "UTF8", "US-ASCII"] {
        accepts(&format!("<?xml version='1.0' encoding='{label}'?><a/>"));
    }
    accepts("\u{feff}<?xml version='1.0'?><a/>");
}

#[test]
fn reasons_never_quote_the_document() {
    let secret = "S3cr3t";
    for document in [
        format!("<a>{secret}</b>"),
        format!("<a>{secret}</{secret}>"),
        format!("<{secret}><b>"),
        format!("<a {secret}/>"),
        format!("<a b='{secret}' b='{secret}'/>"),
        format!("<a>&{secret};</a>"),
        secret.to_owned(),
        format!("<{secret}:a/>"),
        format!("<a xmlns:{secret}=''/>"),
        format!("<?{secret} version='1.0'?><!DOCTYPE {secret}>"),
        format!("<?xml version='{secret}'?><a/>"),
        format!("<{secret}/>"),
        format!("<a><n>{secret}</n></a>"),
        format!("<a><n xmlns:i='http://www.w3.org/2001/XMLSchema-instance' i:nil='{secret}'/></a>"),
    ] {
        let job = Job::new().root("a").field("n", FieldType::Int64);
        let (_, detail) = job.refusal(&document);
        assert!(!detail.contains(secret), "{detail}");
    }
}
