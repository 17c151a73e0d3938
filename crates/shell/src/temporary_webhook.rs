//! The client of `sealpost listen`, and a webhook that exists while this command runs.

use std::ffi::OsString;

use sealpost_client::{Client, EventKind, WebhookId};
use zeroize::Zeroizing;

use crate::{
    cli::ProfileArgs,
    error::ShellError,
    profile::{ProfileFile, config_folder},
};

/// Returns the client of a profile. `variable` reads a variable of the environment.
pub fn profile_client(
    profile: &ProfileArgs,
    variable: impl Fn(&'static str) -> Option<OsString>,
) -> Result<Client, ShellError> {
    let file = ProfileFile::named(&config_folder(variable)?, &profile.profile)?;
    Ok(file.load()?.client()?)
}

/// A registered webhook with its secret. Stays registered until [`remove`](Self::remove) is called, also if this value
/// is dropped.
pub struct TemporaryWebhook {
    client: Client,
    webhook_id: WebhookId,
    secret: Zeroizing<String>,
}

impl TemporaryWebhook {
    /// Registers `url` as a webhook for received envelopes of the client's API key.
    pub async fn register(client: Client, url: &str) -> Result<Self, ShellError> {
        let registered = client.webhooks().register(url, &[EventKind::EnvelopeReceived]).await?;
        let (webhook_id, secret) = (registered.webhook_id, Zeroizing::new(registered.secret));
        Ok(Self { client, webhook_id, secret })
    }

    /// Returns the id of the webhook.
    pub fn webhook_id(&self) -> WebhookId {
        self.webhook_id
    }

    /// Returns the secret that verifies the events of the webhook.
    pub fn secret(&self) -> Zeroizing<String> {
        self.secret.clone()
    }

    /// Deletes the webhook.
    pub async fn remove(self) -> Result<(), ShellError> {
        Ok(self.client.webhooks().delete(self.webhook_id).await?)
    }
}
