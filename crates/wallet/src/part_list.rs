//! Encodings and hashes of lists of byte strings (parts). Each part is preceded by its length, so different lists never
//! give the same bytes.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::{Digest as _, Sha256};

use crate::WalletError;

/// Returns the SHA-256 of a list of parts, for hash chains such as the audit trail (the log of operators' actions). The
/// length of each part (64 bits, big endian) is hashed before the part.
pub fn chain_hash(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}

/// Computes the HMAC-SHA256 of a list of parts, each preceded by its length (64 bits, big endian).
pub fn keyed_hash(key: &[u8; 32], parts: &[&[u8]]) -> Result<[u8; 32], WalletError> {
    let mac = Hmac::<Sha256>::new_from_slice(key);
    let mut mac = mac.ok().ok_or(WalletError::NotDerivable)?;
    for part in parts {
        mac.update(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        mac.update(part);
    }
    Ok(mac.finalize().into_bytes().into())
}

/// Concatenates a list of parts, each preceded by its length (32 bits, big endian), for associated data and signed
/// statements.
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
        assert_ne!(chain_hash(&[b"ab", b"c"]), chain_hash(&[b"a", b"bc"]));
        assert_ne!(chain_hash(&[b"ab"]), chain_hash(&[b"ab", b""]));
        assert_ne!(length_prefixed(&[b"ab", b"c"]), length_prefixed(&[b"a", b"bc"]));
        assert_ne!(length_prefixed(&[b"abc"]), length_prefixed(&[b"abc", b""]));
        assert_eq!(length_prefixed(&[b"ab", b""]), b"\0\0\0\x02ab\0\0\0\0");
    }
}
