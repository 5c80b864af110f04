//! Bytes written as base64 or hexadecimal text.
//!
//! In:        trimmed text     Out: bytes
//! Fails:     other characters, half a byte, missing padding, bits that no byte holds
//!
//! White space inside base64 is allowed, as xs:base64Binary has it; inside hexadecimal text it is not.

use super::Refusal;
use super::white_space::WHITE_SPACE;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

pub(super) fn base64(text: &str) -> Result<Bytes, Refusal> {
    let decoded = if text.contains(WHITE_SPACE) {
        STANDARD.decode(text.replace(WHITE_SPACE, ""))
    } else {
        STANDARD.decode(text)
    };
    decoded
        .map(Bytes::from)
        .map_err(|_| "is not base64 (A to Z, a to z, 0 to 9, `+`, `/`, padded with `=`)".into())
}

pub(super) fn hex(text: &str) -> Result<Bytes, Refusal> {
    let decoded = hex::decode(text);
    decoded.map(Bytes::from).map_err(|_| "is not hexadecimal text (two digits per byte)".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_with_and_without_blanks() {
        assert_eq!(base64("aGVsbG8=").unwrap(), "hello");
        assert_eq!(base64("aGVs\n  bG8 =").unwrap(), "hello");
        assert_eq!(base64("//79").unwrap(), Bytes::from_static(b"\xff\xfe\xfd"));
        for bad in ["aGVsbG8", "aGVsbG9=", "aGVs*G8=", "__79", "aGVsbG8==", "=", "a"] {
            assert!(base64(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn hexadecimal() {
        assert_eq!(hex("00fFA1").unwrap(), Bytes::from_static(b"\x00\xff\xa1"));
        for bad in ["0", "0g", "00 ff", "0x00"] {
            assert!(hex(bad).is_err(), "{bad}");
        }
    }
}
