//! Decrypts the signing keys of a webhook and signs requests with them.

use std::sync::Arc;

use ring::hmac;
use sealpost_domain::{Target, Timestamp, WebhookId, Wrapped, ports::EventSigner, with_causes};
use sealpost_wallet::{Keyring, WalletError, WebhookSecret};

use super::{
    asymmetric::sign_asymmetric,
    symmetric::{mac_key, sign_with_key},
};

/// The decrypted signing keys of a webhook, and the signer of the service.
pub(crate) struct SigningKeys {
    newest: hmac::Key,
    /// Replaced signing secrets, each with the time until which it still signs.
    retiring: Vec<(hmac::Key, Timestamp)>,
    service: Option<Arc<dyn EventSigner>>,
}

impl SigningKeys {
    /// Decrypts the signing secrets of a webhook. Fails if the newest secret cannot be decrypted. Logs and skips a
    /// replaced secret that cannot be decrypted, because receivers can verify with the newest secret.
    pub(crate) fn unwrap(
        target: &Target,
        keyring: &Keyring,
        service: Option<&Arc<dyn EventSigner>>,
    ) -> Result<Self, WalletError> {
        let newest = unwrap_key(keyring, &target.webhook_id, &target.secret)?;
        let retiring = target.retiring.iter().filter_map(|retiring| {
            let key = unwrap_key(keyring, &target.webhook_id, &retiring.secret);
            let key = key.inspect_err(|error| {
                tracing::error!(
                    error = with_causes(error),
                    webhook.id = %target.webhook_id,
                    "cannot decrypt a retiring signing secret; signing without it"
                );
            });
            Some((key.ok()?, retiring.until))
        });
        Ok(Self { newest, retiring: retiring.collect(), service: service.cloned() })
    }

    /// Returns the value of the header `webhook-signature`, a list of signatures in this order: by the newest secret of
    /// the webhook, by replaced secrets that are still valid, and by the key of the service.
    ///
    /// Receivers ignore signatures of unknown versions.
    pub(crate) fn sign(
        &self,
        event_id: &str,
        timestamp: &str,
        body: &[u8],
        now: Timestamp,
    ) -> String {
        let mut list = sign_with_key(&self.newest, event_id, timestamp, body);
        let mut append = |entry: &str| {
            list.push(' ');
            list.push_str(entry);
        };
        for (key, _) in self.retiring.iter().filter(|(_, until)| now < *until) {
            append(&sign_with_key(key, event_id, timestamp, body));
        }
        if let Some(service) = &self.service {
            append(&sign_asymmetric(&**service, event_id, timestamp, body));
        }
        list
    }
}

fn unwrap_key(
    keyring: &Keyring,
    id: &WebhookId,
    wrapped: &Wrapped,
) -> Result<hmac::Key, WalletError> {
    Ok(mac_key(&WebhookSecret::unwrap(keyring, id, wrapped)?))
}
