//! What a target's notices are sent with: its key, unwrapped once, and its connections.

use std::{sync::Arc, time::Instant};

use ring::hmac;
use sealpost_domain::{AttemptFailure, Target};
use sealpost_wallet::{Keyring, WalletError, WebhookSecret};

use crate::{
    client::{Egress, Line},
    figures,
    notice::Notice,
    signature,
};

pub(crate) struct Channel {
    target: Arc<Target>,
    pub(crate) key: hmac::Key,
    /// None where the policy forbids the URL, which it may have allowed when the target was registered.
    line: Option<Line>,
}

impl Channel {
    pub(crate) fn open(
        target: &Arc<Target>,
        keyring: &Keyring,
        egress: &Egress,
    ) -> Result<Self, WalletError> {
        let secret = WebhookSecret::unwrap(keyring, &target.webhook_id, &target.secret)?;
        let key = signature::mac_key(&secret);
        Ok(Self { target: Arc::clone(target), key, line: egress.line(&target.url) })
    }

    /// Whether this is the channel of `target` as it is now: a changed secret or URL needs a new one.
    pub(crate) fn serves(&self, target: &Arc<Target>) -> bool {
        Arc::ptr_eq(&self.target, target) || self.target == *target
    }

    pub(crate) async fn send(&self, notice: Notice) -> Result<(), AttemptFailure> {
        let Some(line) = &self.line else { return Err(AttemptFailure::BlockedAddress) };
        let began = Instant::now();
        let sent = line.post(notice.headers, notice.body).await;
        figures::attempted(began.elapsed());
        sent
    }
}
