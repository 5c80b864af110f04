//! Documents that want to do harm: deep, wide, bombs, random bytes. None costs more than its bytes, none panics.

use super::*;
use proptest::prelude::*;

#[test]
fn depth_is_refused_by_its_limit_and_without_recursion() {
    let mut job = Job::new().root("d").field("d/d", FieldType::Text);
    for depth in [257, 20_000, 1_000_000] {
        job.limits.document_bytes = 1 << 24;
        let document = format!("{}{}", "<d>".repeat(depth), "</d>".repeat(depth));
        let (code, detail) = job.refusal(&document);
        assert_eq!(code, ReasonCode::Limit);
        assert_eq!(detail, "line 1, column 769: elements nested deeper than limits.document_depth, 256");
        assert_eq!(job.refusal("<d>".repeat(depth)).0, ReasonCode::Limit);
        assert_eq!(job.refusal("<d a='1'>".repeat(depth)).0, ReasonCode::Limit);
    }
    let document = format!("{}<d/>{}", "<d>".repeat(255), "</d>".repeat(255));
    assert_eq!(job.decode(&document).reading.values, [text("")]);
    job.limits.document_depth = 1_000_000;
    let document = format!("{}{}", "<d>".repeat(1_000_000), "</d>".repeat(1_000_000));
    assert_eq!(job.decode(&document).reading.values, [text("")]);
}

#[test]
fn size_is_refused_before_anything_else() {
    let mut job = Job::new();
    job.limits.document_bytes = 10;
    let (code, detail) = job.refusal("\0".repeat(11));
    assert_eq!(code, ReasonCode::Limit);
    assert_eq!(detail, "the document has 11 bytes; limits.document_bytes allows 10");
}

#[test]
fn namespace_declarations_in_scope_are_limited() {
    let many: String = (0..257).map(|n| format!(" xmlns:p{n}='u'")).collect();
    let (code, detail) = Job::new().refusal(format!("<r{many}/>"));
    assert_eq!(code, ReasonCode::Limit);
    assert!(detail.contains("more than 256 namespace declarations"), "{detail}");
    let nested = "<r xmlns='u' xmlns:p='v'>".repeat(128) + &"</r>".repeat(128);
    Job::new().decode(&nested);
    let one_after_the_other = format!("<r>{}</r>", "<a xmlns:p='u'/>".repeat(3000));
    Job::new().decode(&one_after_the_other);
}

#[test]
fn a_tag_of_a_hundred_thousand_attributes_is_no_quadratic_work() {
    let attributes: String = (0..100_000).map(|n| format!(" a{n}=''")).collect();
    let mut job = Job::new().field("@a99999", FieldType::Text);
    job.limits.document_bytes = 1 << 22;
    assert_eq!(job.decode(&format!("<r{attributes}/>")).reading.values, [text("")]);
}

#[test]
fn names_and_texts_of_many_megabytes() {
    const MIB: usize = 1 << 20;
    let mut job = Job::new().field("n", FieldType::Text);
    job.limits.document_bytes = 80 * MIB;
    let long = "n".repeat(8 * MIB);
    let (code, detail) = job.refusal(format!("<{long}:{long}/>"));
    assert_eq!(
        (code, &*detail),
        (ReasonCode::NotWellFormed, "line 1, column 2: a prefix that is not declared")
    );
    let (code, detail) = job.refusal(format!("<r><{long}></{long}x></r>"));
    assert_eq!(code, ReasonCode::NotWellFormed);
    assert!(detail.contains("an end tag of another name"), "{} bytes of detail", detail.len());
    let body = "x\r".repeat(32 * MIB);
    let decoded = job.decode(&format!("<r><n>{body}</n></r>"));
    let Value::Text(read) = &decoded.reading.values[0] else { panic!() };
    assert_eq!(read.len(), 64 * MIB);
    job.limits.document_bytes = 64 * MIB;
    assert_eq!(job.refusal(format!("<r><n>{body}</n></r>")).0, ReasonCode::Limit);
}

#[test]
fn a_message_cut_off_at_any_byte_is_refused_with_its_place() {
    for sample in samples::all().into_iter().filter(|sample| sample.len() < 6_000) {
        let mut decoder = Job::new().decoder();
        // Behind the last `>` only white space follows.
        let last = sample.rfind('>').unwrap();
        for end in (0..=last).filter(|end| sample.is_char_boundary(*end)) {
            let reason = decode_one(&mut decoder, sample.get(..end).unwrap()).unwrap_err();
            assert_eq!(reason.code, ReasonCode::NotWellFormed, "{end}: {reason}");
            assert!(reason.detail.starts_with("line "), "{reason}");
        }
        decode_one(&mut decoder, sample.get(..=last).unwrap()).unwrap();
        for behind in ["\0", "<", "x", "&", "<r/>", "]]>", "\u{feff}"] {
            let reason = decode_one(&mut decoder, format!("{sample}{behind}")).unwrap_err();
            assert_eq!(reason.code, ReasonCode::NotWellFormed, "{behind}: {reason}");
        }
    }
}

/// A job that looks everywhere, so that every branch meets hostile bytes.
fn curious() -> Job {
    Job::new()
        .prefix("p", "urn:p")
        .key("a")
        .optional(".", FieldType::Text)
        .optional("@b", FieldType::Int64)
        .optional("a/@p:b", FieldType::Hex)
        .optional("p:a/a", FieldType::Date)
        .optional("c", FieldType::Timestamp { zone: Some("Europe/Zurich".into()) })
        .add("a", "p:n")
        .add(".", "n")
}

/// Whatever the bytes are: an answer, and if it is an event, one that can be written and read again.
fn survives(job: &Job, document: &[u8]) -> Result<(), TestCaseError> {
    let mut decoder = job.decoder();
    let Ok(decoded) = decode_one(&mut decoder, document) else { return Ok(()) };
    let added: Vec<Added> = decoded
        .reading
        .marks
        .iter()
        .map(|_| Added { text: Some("<&".into()), attributes: Vec::new() })
        .collect();
    let output =
        splice(document, &decoded.reading.marks, &added).map_err(|e| TestCaseError::fail(e.to_string()))?;
    let again =
        decode_one(&mut decoder, &output).map_err(|reason| TestCaseError::fail(reason.to_string()))?;
    prop_assert_eq!((again.key, again.reading.values), (decoded.key, decoded.reading.values));
    Ok(())
}

/// Pieces of markup in any order: nearly XML, seldom XML.
fn pieces() -> impl Strategy<Value = String> {
    let piece = proptest::sample::select(vec![
        "<a>",
        "</a>",
        "<a/>",
        "<p:a",
        "</p:a>",
        " xmlns:p='urn:p'",
        " xmlns='urn:u'",
        " p:b='1'",
        " b=\"2\"",
        ">",
        "/>",
        "<",
        "&",
        "&amp;",
        "&#10;",
        ";",
        "<![CDATA[",
        "]]>",
        "<!--",
        "-->",
        "<?p",
        "?>",
        "'",
        "\"",
        "\r\n",
        "\t",
        "ä",
        "\u{fffe}",
        "\0",
        "<!DOCTYPE a [",
        "<!ENTITY e '",
        "<!ENTITY % p \"",
        "<!ATTLIST a b NMTOKENS ' 1  2 '>",
        "<!ELEMENT a (b|c)*>",
        "]>",
        "&e;",
        "%p;",
        "<c>2021-02-28T02:30:00</c>",
        "<?xml version='1.0'?>",
        "text",
        "=",
        "xsi:nil='1'",
        "\u{feff}",
    ]);
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn random_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        survives(&curious(), &bytes)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn random_markup(inside in pieces(), wrapped in any::<bool>()) {
        let document = if wrapped { format!("<r xmlns:p='urn:p'><a>1</a>{inside}</r>") } else { inside };
        survives(&Job::new().prefix("p", "urn:p").optional(".", FieldType::Text).add(".", "p:n"), document.as_bytes())?;
    }

    #[test]
    fn mutated_samples(
        sample in proptest::sample::select(samples::all()),
        edits in proptest::collection::vec((any::<proptest::sample::Index>(), 0..4_u8, any::<u8>()), 1..4),
    ) {
        let mut bytes = sample.as_bytes().to_vec();
        for (index, edit, byte) in edits {
            let at = index.index(bytes.len().max(1));
            match edit {
                _ if at >= bytes.len() => {}
                0 => bytes[at] = byte,
                1 => _ = bytes.remove(at),
                2 => bytes.insert(at, b"<>&'\"/=;[]! \0\r\xc3"[usize::from(byte) % 15]),
                _ => bytes.truncate(at),
            }
        }
        survives(&Job::new().optional(".", FieldType::Text).add(".", "n"), &bytes)?;
    }
}
