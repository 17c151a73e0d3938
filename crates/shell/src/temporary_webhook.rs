//! The client of `sealpost listen`, and a webhook that exists while this command runs.

use std::ffi::OsString;

use sealpost_client::{Client, EventKind, WebhookId};
use zeroize::Zeroizing;

use crate::{cli::ProfileArgs, commands::ProfileClient, error::ShellError, profile::config_folder};

/// Opens a profile for a command that runs until a signal. `variable` reads a variable of the environment.
pub fn profile_client(
    profile: &ProfileArgs,
    variable: impl Fn(&'static str) -> Option<OsString>,
) -> Result<ProfileClient, ShellError> {
    ProfileClient::open(profile, &config_folder(variable)?)
}

/// A registered webhook with its secret. The webhook stays registered until [`remove`](Self::remove) is called, even if
/// this value is dropped.
pub struct TemporaryWebhook {
    client: Client,
    /// Id of the webhook.
    pub webhook_id: WebhookId,
    /// The secret that verifies the events of the webhook.
    pub secret: Zeroizing<String>,
}

impl TemporaryWebhook {
    /// Registers `url` as a webhook for received envelopes of the client's API key.
    pub async fn register(client: Client, url: &str) -> Result<Self, ShellError> {
        let registered = client.webhooks().register(url, &[EventKind::EnvelopeReceived]).await?;
        let (webhook_id, secret) = (registered.webhook_id, Zeroizing::new(registered.secret));
        Ok(Self { client, webhook_id, secret })
    }

    /// Deletes the webhook.
    pub async fn remove(self) -> Result<(), ShellError> {
        Ok(self.client.webhooks().delete(self.webhook_id).await?)
    }
}
