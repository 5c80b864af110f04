//! Several parts of a key as one text.
//!
//! In:        the parts     Out: one text, different for different parts
//! Fails:     never
//!
//! One part stays as it is. Several are joined by `|`; a `|` or `\` inside a part is written `\|` or `\\`, so that
//! `a|b` + `c` and `a` + `b|c` stay two keys. Keys of one job have one number of parts, always.

/// Joins the parts of a key.
pub fn join_key(parts: &[String]) -> String {
    let bytes = join(parts.iter().map(String::as_bytes));
    // Only ASCII was put between and in front of what was text before.
    String::from_utf8(bytes).unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned())
}

/// The same for parts that need not be text: record keys and headers.
pub(super) fn join<'a>(parts: impl ExactSizeIterator<Item = &'a [u8]>) -> Vec<u8> {
    let single = parts.len() == 1;
    let mut joined = Vec::new();
    for (index, part) in parts.enumerate() {
        if index > 0 {
            joined.push(b'|');
        }
        for byte in part {
            if !single && matches!(byte, b'|' | b'\\') {
                joined.push(b'\\');
            }
            joined.push(*byte);
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn join(parts: &[&str]) -> String {
        join_key(&parts.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn readable() {
        assert_eq!(join(&["a|b\\"]), "a|b\\");
        assert_eq!(join(&["CH29", "118"]), "CH29|118");
        assert_eq!(join(&["a|b", "c"]), "a\\|b|c");
        assert_eq!(join(&["a\\", "|c"]), "a\\\\|\\|c");
    }

    proptest! {
        #[test]
        fn different_keys_stay_different(
            (a, b) in (1..5_usize).prop_flat_map(|parts| {
                let key = || proptest::collection::vec("[ab|\\\\]{0,3}", parts);
                (key(), key())
            })
        ) {
            prop_assert_eq!(a == b, join_key(&a) == join_key(&b));
        }
    }
}
