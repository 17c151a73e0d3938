//! Webhook signing secrets (Standard Webhooks 1.0.0): `whsec_` and the padded base64 of 24 to 64 random bytes. The
//! database stores these secrets encrypted, not hashed, because the service signs with them.

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};
use sealpost_domain::{WebhookId, Wrapped};
use zeroize::Zeroizing;

use crate::{Keyring, WalletError, entropy, keys::StorageLocation};

/// The secret with which requests to one webhook are signed (HMAC-SHA256).
pub struct WebhookSecret(Zeroizing<Vec<u8>>);

impl WebhookSecret {
    /// Prefix of the text form.
    pub const PREFIX: &'static str = "whsec_";

    /// Generates a secret of 32 bytes.
    pub fn generate() -> Result<Self, WalletError> {
        let mut bytes = Zeroizing::new(vec![0; FRESH_LEN]);
        entropy::fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// Parses `whsec_` and the padded base64 of 24 to 64 bytes. Fails with [`WalletError::InvalidWebhookSecret`] for
    /// any other text.
    pub fn parse(text: &str) -> Result<Self, WalletError> {
        let decoded = text.strip_prefix(Self::PREFIX).and_then(|body| STANDARD.decode(body).ok());
        let bytes = Zeroizing::new(decoded.ok_or(WalletError::InvalidWebhookSecret)?);
        if (LEN_MIN..=LEN_MAX).contains(&bytes.len()) {
            Ok(Self(bytes))
        } else {
            Err(WalletError::InvalidWebhookSecret)
        }
    }

    /// Returns the secret as text, to be shown once to the owner of the webhook.
    pub fn expose(&self) -> Zeroizing<String> {
        // Allocates the final size at once. A string that grows is copied and leaves a part of the secret in freed
        // memory.
        let mut text = Zeroizing::new(String::with_capacity(TEXT_LEN_MAX));
        text.push_str(Self::PREFIX);
        STANDARD.encode_string(self.0.as_slice(), &mut text);
        text
    }

    /// Returns the bytes of the secret, which are the key for HMAC-SHA256.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Encrypts the secret under the newest key-encryption key. The result is bound to `id`: it can be decrypted only
    /// with the same id.
    pub fn wrap(&self, keyring: &Keyring, id: &WebhookId) -> Result<Wrapped, WalletError> {
        keyring.wrap(&location(id), &self.0)
    }

    /// Decrypts a secret. Fails with [`WalletError::NotDecryptable`] unless [`WebhookSecret::wrap`] encrypted the
    /// secret with the same `id`.
    pub fn unwrap(
        keyring: &Keyring,
        id: &WebhookId,
        wrapped: &Wrapped,
    ) -> Result<Self, WalletError> {
        keyring.unwrap(&location(id), wrapped).map(Self)
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret(..)")
    }
}

fn location(id: &WebhookId) -> StorageLocation<'_> {
    StorageLocation { table: "webhooks", row: id.as_bytes(), column: "secret" }
}

const FRESH_LEN: usize = 32;
const LEN_MIN: usize = 24;
const LEN_MAX: usize = 64;
/// Maximum length of the text form: the prefix and 88 characters of base64 for 64 bytes.
const TEXT_LEN_MAX: usize = 94;

#[cfg(test)]
mod tests {
    use super::*;

    /// Uses a secret from the tests of the Standard Webhooks reference libraries.
    #[test]
    fn the_reference_secret_survives_a_round_trip() {
        let text = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
        let secret = WebhookSecret::parse(text).unwrap();
        let bytes = "0b6155b0140886bb1c0a195020c57e6f9b1262ca686fba03";
        assert_eq!(hex::encode(secret.bytes()), bytes);
        assert_eq!(secret.expose().as_str(), text);
    }

    #[test]
    fn a_fresh_secret_has_256_bits() {
        let secret = WebhookSecret::generate().unwrap();
        assert_eq!(secret.bytes().len(), 32);
        assert_eq!(WebhookSecret::parse(&secret.expose()).unwrap().bytes(), secret.bytes());
        assert_ne!(secret.bytes(), WebhookSecret::generate().unwrap().bytes());
    }

    #[test]
    fn a_secret_has_24_to_64_bytes_after_the_prefix() {
        let of = |length| format!("whsec_{}", STANDARD.encode(vec![1; length]));
        for length in [24, 25, 32, 64] {
            let secret = WebhookSecret::parse(&of(length)).unwrap();
            assert_eq!(secret.expose().as_str(), of(length));
            assert_eq!(secret.expose().capacity(), TEXT_LEN_MAX);
        }
        let unpadded = of(32).trim_end_matches('=').to_owned();
        let unprefixed = of(32).replace("whsec_", "");
        for text in [of(0), of(23), of(65), unpadded, unprefixed, "whsec_%".to_owned()] {
            assert!(WebhookSecret::parse(&text).is_err(), "{text}");
        }
    }
}
