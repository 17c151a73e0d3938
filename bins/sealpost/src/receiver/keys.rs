//! What a receiver verifies with. Secrets come from files or the environment and are never shown.

use sealpost_domain::Timestamp;
use sealpost_wallet::WebhookSecret;
use sealpost_webhooks::{
    SignedHeaders, VerifyFault, VerifyingKey, verify, verify_asymmetric, verifying_keys,
};
use zeroize::Zeroizing;

use super::bounded;
use crate::{cli::KeyArgs, fault::Fault, secret_file};

/// One thing to verify with.
pub(super) enum Key {
    Public(VerifyingKey),
    Secret {
        secret: WebhookSecret,
        /// Where it is from, such as `secret 1 of FILE`.
        name: String,
    },
}

impl Key {
    pub(super) fn verify(
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
    pub(super) fn name(&self) -> String {
        match self {
            Self::Public(key) => format!("public key {key}"),
            Self::Secret { name, .. } => name.clone(),
        }
    }

    /// The version of the entries that it verifies.
    pub(super) fn version(&self) -> &'static str {
        match self {
            Self::Public(_) => "v1a",
            Self::Secret { .. } => "v1",
        }
    }
}

/// Everything that was given. Wrong usage where something cannot be read or is no key, or where there is none; an
/// empty secret file is a place for one.
pub(super) fn read(args: &KeyArgs) -> Result<Vec<Key>, Fault> {
    let mut keys: Vec<Key> = args.public_keys.iter().copied().map(Key::Public).collect();
    for file in &args.did_documents {
        let document = bounded::read("the DID document", file, KEY_FILE_BYTES_MAX)?;
        let found = verifying_keys(&document)
            .map_err(|fault| Fault::usage(format!("{} is {fault}", file.display())))?;
        keys.extend(found.into_iter().map(Key::Public));
    }
    for file in &args.secret_files {
        let text = secret_file::read("the secret file", file).map_err(|fault| fault.as_usage())?;
        keys.extend(secrets(&text, &file.display().to_string())?);
    }
    if let Some(text) = from_environment() {
        keys.extend(secrets(&text, VARIABLE)?);
    }
    if keys.is_empty() && args.secret_files.is_empty() {
        return Err(Fault::usage(format!(
            "there is nothing to verify with: give --secret-file, {VARIABLE}, --public-key or --did-json"
        )));
    }
    Ok(keys)
}

fn secrets(text: &str, source: &str) -> Result<Vec<Key>, Fault> {
    let texts = text.split([',', '\n', '\r', ' ', '\t']).filter(|text| !text.is_empty());
    let key = |(index, text): (usize, &str)| {
        let name = format!("secret {} of {source}", index.saturating_add(1));
        match WebhookSecret::parse(text) {
            Ok(secret) => Ok(Key::Secret { secret, name }),
            Err(_no_secret) => Err(Fault::usage(format!(
                "{name} is no webhook secret: one is whsec_ and the padded base64 of 24 to 64 bytes"
            ))),
        }
    };
    texts.enumerate().map(key).collect()
}

#[expect(clippy::disallowed_methods, reason = "a secret is no argument: those can be listed")]
fn from_environment() -> Option<Zeroizing<String>> {
    std::env::var(VARIABLE).ok().filter(|text| !text.is_empty()).map(Zeroizing::new)
}

const VARIABLE: &str = "SEALPOST_WEBHOOK_SECRET";
const KEY_FILE_BYTES_MAX: u64 = 65_536;
