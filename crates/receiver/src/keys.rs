//! What a receiver verifies with. Secrets are never shown.

use sealpost_domain::Timestamp;
use sealpost_wallet::WebhookSecret;
use sealpost_webhooks::{
    SignedHeaders, VerifyFault, VerifyingKey, verify, verify_asymmetric, verifying_keys,
};

use crate::error::ReceiverError;

/// One thing to verify with.
pub enum Key {
    /// A public key of the service, for `v1a` signatures.
    Public(VerifyingKey),
    /// A secret of the webhook, for `v1` signatures.
    Secret {
        /// The secret itself.
        secret: WebhookSecret,
        /// Where it is from, such as `secret 1 of FILE`.
        name: String,
    },
}

impl Key {
    pub(crate) fn verify(
        &self,
        headers: &SignedHeaders<'_>,
        body: &[u8],
        now: Timestamp,
    ) -> Result<(), VerifyFault> {
        match self {
            Self::Public(key) => verify_asymmetric(key, headers, body, now),
            Self::Secret { secret, .. } => verify(secret, headers, body, now),
        }
    }

    /// What it may be called in front of others.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Public(key) => format!("public key {key}"),
            Self::Secret { name, .. } => name.clone(),
        }
    }

    /// The version of the entries that it verifies.
    pub(crate) fn version(&self) -> &'static str {
        match self {
            Self::Public(_) => "v1a",
            Self::Secret { .. } => "v1",
        }
    }
}

/// Reads the public keys of a DID document, such as `/.well-known/did.json`. Errors name the document as `source`.
pub fn public_keys(document: &[u8], source: &str) -> Result<Vec<Key>, ReceiverError> {
    let found = verifying_keys(document)
        .map_err(|fault| ReceiverError::PublicKeys { name: source.to_owned(), fault })?;
    Ok(found.into_iter().map(Key::Public).collect())
}

/// Reads `whsec_` secrets that are separated by white space or commas. Each is named by its number and `source`.
pub fn secrets(text: &str, source: &str) -> Result<Vec<Key>, ReceiverError> {
    let texts = text.split([',', '\n', '\r', ' ', '\t']).filter(|text| !text.is_empty());
    let key = |(index, text): (usize, &str)| {
        let name = format!("secret {} of {source}", index.saturating_add(1));
        match WebhookSecret::parse(text) {
            Ok(secret) => Ok(Key::Secret { secret, name }),
            Err(_no_secret) => Err(ReceiverError::Secret { name }),
        }
    };
    texts.enumerate().map(key).collect()
}
