//! Documents in other encodings than UTF-8: what is read of them.

use super::*;
use encoding_rs::Encoding;

#[test]
fn the_same_values_in_every_encoding() {
    let job = Job::new().key("k").field("v", FieldType::Text).field("v/@ä", FieldType::Text);
    for (name, value) in
        [("UTF-8", "ä€日😀"), ("windows-1252", "ä€"), ("ISO-8859-15", "ä€"), ("gb18030", "ä€日😀")]
    {
        let document = format!(
            "<?xml version='1.0' encoding='{name}'?>\r\n<r><k>ä</k><v ä='{value}\t&#8364;'>{value}\r\n&#x20ac;</v></r>"
        );
        let bytes = Encoding::for_label(name.as_bytes()).unwrap().encode(&document).0;
        let decoded =
            decode_one(&mut job.decoder(), &bytes).unwrap_or_else(|reason| panic!("{name}: {reason}"));
        assert_eq!(decoded.key, "ä");
        let expected = [text(&format!("{value}\n€")), text(&format!("{value} €"))];
        assert_eq!(decoded.reading.values, expected, "{name}");
    }
}

#[test]
fn places_count_characters_of_the_text() {
    let (code, detail) = Job::new().refusal(b"<?xml version='1.0' encoding='ISO-8859-1'?>\n<a>\xe4\xe4&</a>");
    assert_eq!(code, ReasonCode::NotWellFormed);
    assert!(detail.starts_with("line 2, column 6: "), "{detail}");
    let utf16: Vec<u8> = "\u{feff}<a>\n😀\u{0}</a>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let (code, detail) = Job::new().refusal(&utf16);
    assert_eq!(code, ReasonCode::NotWellFormed);
    assert!(detail.starts_with("line 2, column 2: the character U+0000"), "{detail}");
}

#[test]
fn a_document_cut_in_half_is_refused_at_every_byte_in_every_encoding() {
    let text = "<?xml version='1.0' encoding='NAME'?><r a='ä'>日<b/>ä</r>";
    for name in ["UTF-8", "UTF-16", "Shift_JIS", "gb18030"] {
        let text = text.replace("NAME", name).replace('ä', if name == "Shift_JIS" { "本" } else { "ä" });
        let bytes: Vec<u8> = match name {
            "UTF-16" => {
                "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_be_bytes).collect()
            }
            _ => Encoding::for_label(name.as_bytes()).unwrap().encode(&text).0.into_owned(),
        };
        let mut decoder = Job::new().decoder();
        decode_one(&mut decoder, &bytes).unwrap_or_else(|reason| panic!("{name}: {reason}"));
        for end in 0..bytes.len() {
            let reason = decode_one(&mut decoder, &bytes[..end]).unwrap_err();
            assert!(
                matches!(reason.code, ReasonCode::NotWellFormed | ReasonCode::Encoding),
                "{name} {end}: {reason}"
            );
            assert!(reason.detail.starts_with("line "), "{reason}");
        }
    }
}
