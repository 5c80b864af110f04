//! How a document begins, in every encoding, and where it is told to be wrong.

use super::*;

fn refusal(document: &[u8]) -> (ReasonCode, String) {
    let reason = open(document, 1000).unwrap_err();
    (reason.code, reason.detail)
}

fn utf16(text: &str, order: Order) -> Vec<u8> {
    let mut bytes = Vec::new();
    Encoding::Utf16(order).encode(text, &mut bytes);
    bytes
}

fn read(document: &[u8]) -> String {
    open(document, 1000).unwrap().text().text.to_owned()
}

#[test]
fn size_comes_first() {
    let (code, detail) = refusal(&[0; 1001]);
    assert_eq!(code, ReasonCode::Limit);
    assert_eq!(detail, "the document has 1001 bytes; limits.document_bytes allows 1000");
    assert!(open(&[b' '; 1000], 1000).is_ok());
}

#[test]
fn encodings_that_are_not_read_are_named() {
    for (bytes, name) in [
        (&b"\xff\xfe\0\0<\0\0\0"[..], "UTF-32 (little endian, by"),
        (b"\0\0\xfe\xff\0\0\0<", "UTF-32 (big endian, by"),
        (b"<\0\0\0", "UTF-32"),
        (b"\0\0\0<", "UTF-32"),
        (b"\x4c\x6f\xa7\x94\x93", "EBCDIC"),
        (b"<\0a\0", "UTF-16 (little endian) without"),
        (b"\0<\0a", "UTF-16 (big endian) without"),
        (
            b"<?xml version='1.0' encoding='UTF-7'?><a/>",
            "column 31: the document declares the encoding UTF-7, which",
        ),
    ] {
        let (code, detail) = refusal(bytes);
        assert_eq!(code, ReasonCode::Encoding);
        assert!(detail.contains(name), "{detail}");
    }
}

#[test]
fn the_declaration_names_the_encoding() {
    assert_eq!(read(b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xe4</a>").split_at(43).1, "<a>ä</a>");
    assert_eq!(read(b"<?xml version='1.0' encoding='windows-1252'?><a>\x80</a>").split_at(45).1, "<a>€</a>");
    assert_eq!(
        read(b"<?xml version='1.0' encoding='Shift_JIS'?><a>\x93\xfa</a>").split_at(42).1,
        "<a>日</a>"
    );
}

#[test]
fn utf_16_by_its_mark_or_its_declaration() {
    for order in [Order::LittleEndian, Order::BigEndian] {
        let declared = "<?xml version='1.0' encoding='UTF-16'?><a>ä😀</a>";
        for text in ["<a>ä😀</a>", "<?xml version='1.0'?><a>ä</a>", declared] {
            let marked = utf16(&format!("\u{feff}{text}"), order);
            assert_eq!(read(&marked), text);
        }
        assert_eq!(read(&utf16(declared, order)), declared);
        let (code, detail) = refusal(&utf16("<?xml version='1.0'?><a/>", order));
        assert_eq!(code, ReasonCode::Encoding);
        assert!(detail.contains("neither a byte-order mark nor"), "{detail}");
    }
}

#[test]
fn contradictions() {
    let declaring = |name: &str| format!("<?xml version='1.0' encoding='{name}'?><a/>");
    let marked = |name: &str| format!("\u{feff}{}", declaring(name));
    for (bytes, found) in [
        (marked("ISO-8859-1").into_bytes(), "ISO-8859-1, and its byte-order mark says UTF-8"),
        (marked("UTF-16").into_bytes(), "UTF-16, and its byte-order mark says UTF-8"),
        (marked("US-ASCII").into_bytes(), "US-ASCII, and its byte-order mark says UTF-8"),
        (declaring("UTF-16").into_bytes(), "UTF-16, and its bytes are not"),
        (declaring("UTF-16LE").into_bytes(), "UTF-16LE, and its bytes are not"),
        (utf16(&marked("UTF-8"), Order::BigEndian), "and its byte-order mark says UTF-16 (big endian)"),
        (utf16(&marked("UTF-16BE"), Order::LittleEndian), "its byte-order mark says UTF-16 (little endian)"),
        (utf16(&declaring("utf-8"), Order::LittleEndian), "utf-8, and it is in UTF-16 (little endian)"),
    ] {
        let (code, detail) = refusal(&bytes);
        assert_eq!(code, ReasonCode::Encoding, "{detail}");
        assert!(detail.starts_with("line 1, column 31: ") && detail.contains(found), "{detail}");
    }
    for agreed in ["UTF-16", "utf-16le"] {
        assert_eq!(read(&utf16(&marked(agreed), Order::LittleEndian)), declaring(agreed));
    }
    assert_eq!(read(marked("utf-8").as_bytes()), declaring("utf-8"));
}

#[test]
fn bytes_and_characters() {
    let (code, detail) = refusal(b"<a>\n\xe4</a>");
    assert_eq!((code, detail.as_str()), (ReasonCode::Encoding, "line 2, column 1: a byte that is not UTF-8"));
    let (code, detail) = refusal(b"<?xml version='1.0' encoding='EUC-JP'?>\n<a>\xff</a>");
    assert_eq!(
        (code, detail.as_str()),
        (ReasonCode::Encoding, "line 2, column 4: a byte that is not EUC-JP")
    );
    let (code, detail) = refusal(b"<a/>\n\0");
    assert_eq!(code, ReasonCode::NotWellFormed);
    assert_eq!(detail, "line 2, column 1: the character U+0000, which XML cannot hold");
    let (code, detail) = refusal("<?xml version='1.0' encoding='ascii'?><a>ä</a>".as_bytes());
    assert_eq!(code, ReasonCode::Encoding);
    assert_eq!(detail, "line 1, column 42: the document declares US-ASCII and holds a byte above 127");
    let (code, _) = refusal("\u{feff}\u{feff}<a/>".as_bytes());
    assert_eq!(code, ReasonCode::NotWellFormed);
    let mut half = utf16("\u{feff}<a/>", Order::LittleEndian);
    half.push(0);
    assert_eq!(refusal(&half).0, ReasonCode::Encoding);
}

#[test]
fn a_byte_order_mark_is_no_text() {
    let opened = open("\u{feff}<a/>".as_bytes(), 1000).unwrap();
    assert_eq!(opened.text().text, "<a/>");
    assert!(matches!(opened.text, Cow::Borrowed(_)));
}
