//! The keys with which a receiver verifies requests, and functions that parse them. Secrets are never printed.

use sealpost_domain::Timestamp;
use sealpost_wallet::WebhookSecret;
use sealpost_webhooks::{
    SignedHeaders, VerifyError, VerifyingKey, verify, verify_asymmetric, verifying_keys,
};

use crate::error::ReceiverError;

/// A key that verifies the signatures of received requests.
pub enum ReceiverKey {
    /// A public key of the service, which verifies `v1a` signatures.
    Public(VerifyingKey),
    /// A secret of the webhook, which verifies `v1` signatures.
    Secret {
        /// The secret that the webhook shares with the service.
        secret: WebhookSecret,
        /// The name of the secret in reports, such as `secret 1 of FILE`.
        name: String,
    },
}

impl ReceiverKey {
    pub(crate) fn verify(
        &self,
        headers: &SignedHeaders<'_>,
        body: &[u8],
        now: Timestamp,
    ) -> Result<(), VerifyError> {
        match self {
            Self::Public(key) => verify_asymmetric(key, headers, body, now),
            Self::Secret { secret, .. } => verify(secret, headers, body, now),
        }
    }

    /// Whether at least one signature of the request was made with this key. Accepts a timestamp of any age.
    pub(crate) fn matches(&self, headers: &SignedHeaders<'_>, body: &[u8]) -> bool {
        let signed_at = headers.timestamp.parse::<i64>().unwrap_or_default().saturating_mul(1000);
        self.verify(headers, body, Timestamp::from_millis(signed_at)).is_ok()
    }

    /// Returns the name of the key in reports.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Public(key) => format!("public key {key}"),
            Self::Secret { name, .. } => name.clone(),
        }
    }

    /// Returns the version of the signatures that the key verifies: `v1` or `v1a`.
    pub(crate) fn version(&self) -> &'static str {
        match self {
            Self::Public(_) => "v1a",
            Self::Secret { .. } => "v1",
        }
    }
}

/// Returns the Ed25519 public keys of a DID document, such as `/.well-known/did.json` of a service. Ignores other keys.
/// Fails if there is no such key. The error names the document as `source`.
pub fn public_keys(document: &[u8], source: &str) -> Result<Vec<ReceiverKey>, ReceiverError> {
    let found = verifying_keys(document)
        .map_err(|fault| ReceiverError::PublicKeys { name: source.to_owned(), fault })?;
    Ok(found.into_iter().map(ReceiverKey::Public).collect())
}

/// Parses `whsec_` secrets, separated by white space or commas. Fails if one of them is invalid. In reports and errors,
/// a secret has a name from its number and `source`, such as `secret 1 of FILE`.
pub fn secrets(text: &str, source: &str) -> Result<Vec<ReceiverKey>, ReceiverError> {
    let texts = text.split([',', '\n', '\r', ' ', '\t']).filter(|text| !text.is_empty());
    let key = |(index, text): (usize, &str)| {
        let name = format!("secret {} of {source}", index.saturating_add(1));
        match WebhookSecret::parse(text) {
            Ok(secret) => Ok(ReceiverKey::Secret { secret, name }),
            Err(_invalid) => Err(ReceiverError::Secret { name }),
        }
    };
    texts.enumerate().map(key).collect()
}
