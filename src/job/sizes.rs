//! Sizes in bytes: `"64MiB"`, `"512KiB"`, or a plain integer.

/// Reads a size; else what is wrong.
pub(super) fn parse(text: &str) -> Result<u64, &'static str> {
    let text = text.trim();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == ' ');
    let unit = text.strip_prefix(digits).unwrap_or("").trim();
    let factor: u64 = match unit {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return Err("the unit must be B, KiB, MiB or GiB"),
    };
    let number: u64 = digits.parse().map_err(|_| "must be a whole number and a unit")?;
    number.checked_mul(factor).ok_or("is more bytes than a number can hold")
}

/// A size as a person writes it.
pub(super) fn render(bytes: u64) -> String {
    for (shift, unit) in [(30, "GiB"), (20, "MiB"), (10, "KiB")] {
        let factor = 1_u64 << shift;
        if bytes >= factor && bytes.is_multiple_of(factor) {
            return format!("\"{}{unit}\"", bytes / factor);
        }
    }
    bytes.to_string()
}
