//! Collects the keys that verify events, from flags, files and the environment.

use std::sync::Arc;

use sealpost_node::secret_file;
use sealpost_receiver::{KeySource, ReceiverError, ReceiverKey, public_keys, secrets};
use sealpost_shell::TemporaryWebhook;

use super::bounded;
use crate::{cli::KeyArgs, command_error::CommandError, environment};

/// Reads all keys. Fails with the exit status of wrong usage if a key is unreadable or invalid, or if no key is given.
/// A secret file may be empty, because the secret can be added to the file later.
pub(super) fn read(args: &KeyArgs) -> Result<Vec<ReceiverKey>, CommandError> {
    let usage = |error: ReceiverError| CommandError::usage(error);
    let mut keys: Vec<ReceiverKey> =
        args.public_keys.iter().copied().map(ReceiverKey::Public).collect();
    for file in &args.did_documents {
        let document = bounded::read_text("the DID document", file, KEY_FILE_BYTES_MAX)?;
        keys.extend(public_keys(&document, &file.display().to_string()).map_err(usage)?);
    }
    for file in &args.secret_files {
        let text = secret_file::read("the secret file", file)
            .map_err(|error| CommandError::usage(error.with_causes()))?;
        keys.extend(secrets(&text, &file.display().to_string()).map_err(usage)?);
    }
    if let Some(value) = environment::bytes(VARIABLE).filter(|value| !value.is_empty()) {
        let text = environment::text(VARIABLE, &value)?;
        keys.extend(secrets(&text, VARIABLE).map_err(usage)?);
    }
    if keys.is_empty() && args.secret_files.is_empty() {
        return Err(CommandError::usage(format!(
            "no key is given: give --secret-file, {VARIABLE}, --public-key or --did-json"
        )));
    }
    Ok(keys)
}

/// Returns the key source of a receiver. If `webhook` is given, the source returns the secret of this webhook.
/// Otherwise the source reads `keys` again for each request, so that a secret can be added or rotated while the command
/// runs.
pub(super) fn source(webhook: Option<&TemporaryWebhook>, keys: KeyArgs) -> KeySource {
    let secret = webhook.map(|webhook| webhook.secret.clone());
    Arc::new(move || match &secret {
        Some(secret) => Ok(secrets(secret, "the registered webhook")?),
        None => read(&keys).map_err(|fault| fault.to_string().into()),
    })
}

const VARIABLE: &str = "SEALPOST_WEBHOOK_SECRET";
const KEY_FILE_BYTES_MAX: u64 = 65_536;
