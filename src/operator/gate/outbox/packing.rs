//! Packing: an outbox row's records in less room.
//!
//! In:        the bytes of a row's records     Out: their length and an LZ4 block of them, and back
//! Order:     a row is packed by itself: none needs another to be read
//! Fails:     what is packed and cannot be opened: bytes are missing, or were changed. Nothing is allocated that the packed
//!            bytes cannot fill
//! Not here:  which rows are packed, and what their records are (outbox)

/// Most bytes that are packed into one row, and that are unpacked of one. What is larger stays as it is.
pub(super) const UNPACKED_BYTES_MAX: usize = 64 << 20;

/// The length of what is packed, little-endian.
const LENGTH_BYTES: usize = 4;

/// What a byte of an LZ4 block stands for at most; a block has a few more at its ends.
const BYTES_PER_BYTE_MAX: usize = 255;
const BYTES_AT_ENDS: usize = 64;

/// Why packed bytes cannot be opened.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damaged {
    /// There is not even a length.
    #[error("it ends before its length does")]
    NoLength,
    /// No writer has written that.
    #[error(
        "it says that {unpacked} bytes are packed in {packed}, and there can be no more than {most} in them"
    )]
    Length {
        /// What it says.
        unpacked: usize,
        /// How many bytes there are.
        packed: usize,
        /// How many may be packed in them.
        most: usize,
    },
    /// They are no block of that length.
    #[error("its {packed} packed bytes do not give the {unpacked} that it says")]
    Block {
        /// How many bytes there are.
        packed: usize,
        /// What they should give.
        unpacked: usize,
    },
}

/// Adds `bytes` to `row`, packed, if that makes them fewer; else nothing.
pub(super) fn pack_into(row: &mut Vec<u8>, bytes: &[u8]) -> bool {
    let Ok(length) = u32::try_from(bytes.len()) else { return false };
    if bytes.len() > UNPACKED_BYTES_MAX {
        return false;
    }
    let block = lz4_flex::block::compress(bytes);
    if LENGTH_BYTES + block.len() >= bytes.len() {
        return false;
    }
    row.reserve_exact(LENGTH_BYTES + block.len());
    row.extend_from_slice(&length.to_le_bytes());
    row.extend_from_slice(&block);
    true
}

/// What was packed.
///
/// # Errors
/// See [`Damaged`].
pub(super) fn unpacked(packed: &[u8]) -> Result<Vec<u8>, Damaged> {
    let (length, block) = packed.split_first_chunk::<LENGTH_BYTES>().ok_or(Damaged::NoLength)?;
    let length = usize::try_from(u32::from_le_bytes(*length)).unwrap_or(usize::MAX);
    let most = block.len().saturating_mul(BYTES_PER_BYTE_MAX).saturating_add(BYTES_AT_ENDS);
    let most = most.min(UNPACKED_BYTES_MAX);
    if length > most {
        return Err(Damaged::Length { unpacked: length, packed: block.len(), most });
    }
    match lz4_flex::block::decompress(block, length) {
        Ok(bytes) if bytes.len() == length => Ok(bytes),
        _ => Err(Damaged::Block { packed: block.len(), unpacked: length }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::{any, prop_assert, prop_assert_eq, prop_oneof, proptest};
    use proptest::strategy::Strategy;

    fn packed(bytes: &[u8]) -> Option<Vec<u8>> {
        let mut row = Vec::new();
        pack_into(&mut row, bytes).then_some(row)
    }

    /// Bytes that repeat themselves, near and far, and bytes that do not.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            vec(any::<u8>(), 0..40),
            (any::<u8>(), 0_usize..600).prop_map(|(byte, times)| vec![byte; times]),
            proptest::sample::select(vec!["<s:line no=\"", "</s:order>", "tidegate-source"])
                .prop_map(|text| text.as_bytes().to_vec()),
        ];
        vec(piece, 0..60).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn what_is_packed_is_smaller_and_comes_back(bytes in bytes()) {
            if let Some(packed) = packed(&bytes) {
                prop_assert!(packed.len() < bytes.len());
                prop_assert_eq!(unpacked(&packed), Ok(bytes));
            }
        }

        /// Whatever the bytes are: an error or bytes of the length that was said, and neither a panic nor more.
        #[test]
        fn damage_is_an_error_or_as_long_as_it_says(
            bytes in bytes(),
            at in any::<proptest::sample::Index>(),
            to in any::<u8>(),
            cut in any::<proptest::sample::Index>(),
        ) {
            let mut packed = packed(&[bytes.as_slice(), &[b' '; 100]].concat()).expect("blanks are packed");
            let at = at.index(packed.len());
            packed[at] = to;
            packed.truncate(cut.index(packed.len() + 1));
            if let Ok(bytes) = unpacked(&packed) {
                let said = u32::from_le_bytes(packed[..4].try_into().expect("four bytes"));
                prop_assert_eq!(bytes.len(), usize::try_from(said).expect("it fits"));
            }
        }

        #[test]
        fn noise_is_an_error_or_as_long_as_it_says(length in 0_u32..4000, block in vec(any::<u8>(), 0..200)) {
            let noise = [&length.to_le_bytes(), block.as_slice()].concat();
            if let Ok(bytes) = unpacked(&noise) {
                prop_assert_eq!(bytes.len(), usize::try_from(length).expect("it fits"));
            }
        }
    }

    #[test]
    fn what_does_not_get_smaller_is_not_packed() {
        assert_eq!(packed(b""), None);
        assert_eq!(packed(b"abc"), None);
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(packed(&all), None);
    }

    #[test]
    fn the_most_that_can_be_packed_is_opened() {
        for bytes in [vec![b'x'; 1 << 20], vec![b'x'; 300]] {
            assert_eq!(unpacked(&packed(&bytes).unwrap()), Ok(bytes));
        }
        let most = vec![0; UNPACKED_BYTES_MAX];
        assert!(unpacked(&packed(&most).unwrap()).unwrap() == most);
        assert_eq!(packed(&vec![0; UNPACKED_BYTES_MAX + 1]), None);
    }

    #[test]
    fn a_length_that_cannot_be_is_refused_before_anything_is_made_of_that_length() {
        assert_eq!(unpacked(&[1, 2, 3]), Err(Damaged::NoLength));
        let huge = [&u32::MAX.to_le_bytes()[..], &[0x10, b'a']].concat();
        assert!(matches!(unpacked(&huge), Err(Damaged::Length { packed: 2, most: 574, .. })));
        let mut row = packed(&[b'x'; 100]).unwrap();
        row[0] = 101;
        assert!(matches!(unpacked(&row), Err(Damaged::Block { unpacked: 101, .. })));
        row[0] = 99;
        assert!(matches!(unpacked(&row), Err(Damaged::Block { unpacked: 99, .. })));
    }
}
