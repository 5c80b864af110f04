//! Records that no job can read: their bytes, and the reasons by which they must be set aside.

use super::plan::Unreadable;

/// One unreadable record's content.
pub struct Content {
    /// `None`: a tombstone.
    pub value: Option<Vec<u8>>,
    /// What may stand in `tidegate-reason`.
    pub reason: &'static str,
}

/// What the unreadable record of this number holds: the kinds take turns.
pub fn content(unreadable: Unreadable) -> Content {
    let number = unreadable.number;
    let order = |id: &str, total: &str| {
        format!(
            "<s:order xmlns:s=\"urn:shop:1\" {id} number=\"1\" sequence=\"1\"><s:customer ref=\"1\"/>\
             <s:placedAt>2026-01-05T00:00:00Z</s:placedAt>{total}</s:order>"
        )
        .into_bytes()
    };
    let (value, reason) = match number % 8 {
        0 => (None, "no_value"),
        1 => (Some(Vec::new()), "not_well_formed"),
        2 => (
            Some(format!("<s:order xmlns:s=\"urn:shop:1\" id=\"{number}\"><s:total>").into_bytes()),
            "not_well_formed",
        ),
        3 => (Some(b"no XML at all".to_vec()), "not_well_formed"),
        4 => (
            Some([&order("id=\"K1\"", "<s:total>1.00</s:total>")[..], b"<!-- \xFF -->"].concat()),
            "encoding",
        ),
        5 => (Some(order("", "<s:total>1.00</s:total>")), "key_missing"),
        6 => (Some(order("id=\"K1\"", "")), "field_missing"),
        _ => (Some(order("id=\"K1\"", "<s:total>1,00</s:total>")), "field_type"),
    };
    Content { value, reason }
}
