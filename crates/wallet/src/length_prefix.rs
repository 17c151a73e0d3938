//! Length-prefixed encoding of lists of parts, for associated data and signed statements.

/// Concatenates a list of parts, each preceded by its length (32 bits, big endian). Therefore different lists never
/// give the same bytes.
pub(crate) fn length_prefixed(parts: &[&[u8]]) -> Vec<u8> {
    let size = parts.iter().map(|part| part.len().saturating_add(PREFIX_LEN)).sum();
    let mut bytes = Vec::with_capacity(size);
    for part in parts {
        // The conversion never fails, because all parts are far shorter than 4 GiB.
        let length = u32::try_from(part.len()).unwrap_or(u32::MAX);
        bytes.extend_from_slice(&length.to_be_bytes());
        bytes.extend_from_slice(part);
    }
    bytes
}

const PREFIX_LEN: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_boundaries_of_parts_matter() {
        assert_ne!(length_prefixed(&[b"ab", b"c"]), length_prefixed(&[b"a", b"bc"]));
        assert_ne!(length_prefixed(&[b"abc"]), length_prefixed(&[b"abc", b""]));
        assert_eq!(length_prefixed(&[b"ab", b""]), b"\0\0\0\x02ab\0\0\0\0");
    }
}
