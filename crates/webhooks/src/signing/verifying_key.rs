//! The public key for the verification of `v1a` signatures.

use std::{fmt, str::FromStr};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sealpost_domain::Did;
use sealpost_wallet::public_key_of;

/// An Ed25519 public key for the verification of `v1a` signatures. Text form: `whpk_` and the padded standard base64 of
/// 32 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VerifyingKey([u8; LEN]);

/// The error for a text or bytes that are not an Ed25519 public key. Non-canonical keys and keys of small order give
/// this error too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a verifying key is whpk_ and the base64 of an Ed25519 public key of 32 bytes")]
pub struct VerifyingKeyError;

impl VerifyingKey {
    /// Prefix of the text form.
    pub const PREFIX: &'static str = "whpk_";

    /// Decodes a public key of 32 bytes (RFC 8032) under the rules of `did:key`.
    ///
    /// Rejects non-canonical encodings and keys of small order. One signature of a small-order key matches many
    /// messages.
    pub fn from_bytes(bytes: [u8; LEN]) -> Result<Self, VerifyingKeyError> {
        let mut multicodec = MULTICODEC.to_vec();
        multicodec.extend_from_slice(&bytes);
        Self::from_multibase(&format!("z{}", bs58::encode(multicodec).into_string()))
    }

    /// Parses a public key in multibase form, such as `z6Mk…`. A Multikey in a DID document contains this form.
    pub fn from_multibase(text: &str) -> Result<Self, VerifyingKeyError> {
        let key = public_key_of(&Did::new(format!("did:key:{text}")));
        key.map(Self).map_err(|_no_key| VerifyingKeyError)
    }

    pub(super) fn as_bytes(&self) -> &[u8; LEN] {
        &self.0
    }
}

impl FromStr for VerifyingKey {
    type Err = VerifyingKeyError;

    fn from_str(text: &str) -> Result<Self, VerifyingKeyError> {
        let decoded = text.strip_prefix(Self::PREFIX).and_then(|body| STANDARD.decode(body).ok());
        let bytes = decoded.and_then(|bytes| bytes.try_into().ok());
        bytes.ok_or(VerifyingKeyError).and_then(Self::from_bytes)
    }
}

impl fmt::Display for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", Self::PREFIX, STANDARD.encode(self.0))
    }
}

const LEN: usize = 32;
/// The multicodec prefix of Ed25519 public keys.
const MULTICODEC: [u8; 2] = [0xed, 0x01];

#[cfg(test)]
mod tests {
    use super::*;

    /// The public key of RFC 8032, section 7.1, test 1, in its three encodings.
    #[test]
    fn a_key_has_one_text_form_that_round_trips() {
        let bytes = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
        let bytes: [u8; 32] = hex::decode(bytes).unwrap().try_into().unwrap();
        let text = "whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";
        let key: VerifyingKey = text.parse().unwrap();
        assert_eq!(key.to_string(), text);
        assert_eq!(VerifyingKey::from_bytes(bytes), Ok(key));
        let multibase = "z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw";
        assert_eq!(VerifyingKey::from_multibase(multibase), Ok(key));
    }

    #[test]
    fn texts_without_a_safe_key_are_refused() {
        let neutral = [[1].as_slice(), &[0; 31]].concat();
        let of = |bytes: &[u8]| format!("whpk_{}", STANDARD.encode(bytes));
        let unpadded = of(&[7; 32]).trim_end_matches('=').to_owned();
        for text in ["", "whpk_", "whpk_%", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"] {
            assert_eq!(text.parse::<VerifyingKey>(), Err(VerifyingKeyError), "{text}");
        }
        for text in [of(&[1; 31]), of(&[1; 33]), of(&neutral), unpadded] {
            assert_eq!(text.parse::<VerifyingKey>(), Err(VerifyingKeyError), "{text}");
        }
    }
}
