//! What a target's notices are sent with: its keys, unwrapped once, and its connections.

use std::{error::Error, sync::Arc, time::Instant};

use ring::hmac;
use sealpost_domain::{AttemptFailure, Target, WebhookId, Wrapped, ports::EventSigner};
use sealpost_wallet::{Keyring, WalletError, WebhookSecret};

use crate::{
    answer::Attempted,
    client::{Egress, Line},
    figures,
    notice::{Notice, Signers},
    signature,
};

pub(crate) struct Channel {
    target: Arc<Target>,
    pub(crate) signers: Signers,
    /// None where the policy forbids the URL, which it may have allowed when the target was registered.
    line: Option<Line>,
}

impl Channel {
    pub(crate) fn open(
        target: &Arc<Target>,
        keyring: &Keyring,
        egress: &Egress,
        service: Option<&Arc<dyn EventSigner>>,
    ) -> Result<Self, WalletError> {
        let key = unwrap(keyring, &target.webhook_id, &target.secret)?;
        let retiring = target.retiring.iter().filter_map(|retiring| {
            // The newest secret is enough for a receiver that has taken it over, so the notice is sent without.
            let key = unwrap(keyring, &target.webhook_id, &retiring.secret).inspect_err(|fault| {
                let error: &(dyn Error + 'static) = fault;
                tracing::error!(error, webhook.id = %target.webhook_id, "a retiring secret cannot be read");
            });
            Some((key.ok()?, retiring.until))
        });
        let signers = Signers { key, retiring: retiring.collect(), service: service.cloned() };
        Ok(Self { target: Arc::clone(target), signers, line: egress.line(&target.url) })
    }

    /// Whether this is the channel of `target` as it is now: a changed secret or URL needs a new one.
    pub(crate) fn serves(&self, target: &Arc<Target>) -> bool {
        Arc::ptr_eq(&self.target, target) || self.target == *target
    }

    pub(crate) async fn send(&self, notice: Notice) -> Attempted {
        let Some(line) = &self.line else {
            return Attempted::failed(AttemptFailure::BlockedAddress);
        };
        let began = Instant::now();
        let attempted = line.post(notice.headers, notice.body).await;
        figures::attempted(began.elapsed());
        attempted
    }
}

fn unwrap(keyring: &Keyring, id: &WebhookId, wrapped: &Wrapped) -> Result<hmac::Key, WalletError> {
    Ok(signature::mac_key(&WebhookSecret::unwrap(keyring, id, wrapped)?))
}
