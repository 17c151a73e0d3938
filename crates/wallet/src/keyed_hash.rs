//! Keyed hashes of several parts.

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use crate::WalletError;

/// Computes the HMAC-SHA256 of a list of parts, each preceded by its length. Therefore different lists never give the
/// same input to the HMAC.
pub fn keyed_hash(key: &[u8; 32], parts: &[&[u8]]) -> Result<[u8; 32], WalletError> {
    let mac = Hmac::<Sha256>::new_from_slice(key);
    let mut mac = mac.ok().ok_or(WalletError::NotDerivable)?;
    for part in parts {
        let length = u64::try_from(part.len()).unwrap_or(u64::MAX);
        mac.update(&length.to_be_bytes());
        mac.update(part);
    }
    Ok(mac.finalize().into_bytes().into())
}
