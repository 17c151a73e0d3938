//! Sends requests to one target, with the decrypted signing keys and the HTTP client of the target.

use std::{sync::Arc, time::Instant};

use sealpost_domain::{AttemptFailure, Target, ports::EventSigner};
use sealpost_wallet::{Keyring, WalletError};

use super::client::{ClientFactory, TargetClient};
use crate::{
    local_error::Unsent,
    retry::attempt_report::AttemptReport,
    signing::{signed_request::SignedRequest, signing_keys::SigningKeys},
};

pub(crate) struct TargetSender {
    target: Arc<Target>,
    pub(crate) keys: SigningKeys,
    /// The client of the target. `None` if the address policy forbids the URL. This happens if the policy was changed
    /// after the webhook was registered.
    client: Option<TargetClient>,
}

impl TargetSender {
    pub(crate) fn open(
        target: &Arc<Target>,
        keyring: &Keyring,
        clients: &ClientFactory,
        service: Option<&Arc<dyn EventSigner>>,
    ) -> Result<Self, WalletError> {
        let keys = SigningKeys::unwrap(target, keyring, service)?;
        Ok(Self { target: Arc::clone(target), keys, client: clients.client_for(target) })
    }

    /// Returns true if this sender was opened for the current URL and secrets of the target. If not, the caller must
    /// open a new sender.
    pub(crate) fn matches(&self, target: &Arc<Target>) -> bool {
        Arc::ptr_eq(&self.target, target) || self.target == *target
    }

    /// Sends a request and returns the report of the attempt. If the address policy forbids the URL, the report is the
    /// failure `BlockedAddress`. Returns an [`Unsent`] error if no attempt could be made for a reason that the target
    /// did not cause. In both cases, the metrics get no duration.
    pub(crate) async fn send(&self, request: SignedRequest) -> Result<AttemptReport, Unsent> {
        let Some(client) = &self.client else {
            return Ok(AttemptReport::failed(AttemptFailure::BlockedAddress));
        };
        let start = Instant::now();
        let report = client.post(request).await?;
        metrics::histogram!("sealpost_delivery_duration_seconds").record(start.elapsed());
        Ok(report)
    }
}
