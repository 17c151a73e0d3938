//! Registers and deletes the temporary webhook of `sealpost listen`. A signal ends the wait for the response of the
//! service.

use sealpost_domain::WebhookId;
use sealpost_shell::{Client, TemporaryWebhook};

use crate::{command_error::CommandError, serve::signals::StopSignals};

/// Registers the webhook. A signal ends the wait for the response.
pub(super) async fn register(
    client: &Client,
    url: &str,
    signals: &mut StopSignals,
) -> Result<TemporaryWebhook, CommandError> {
    tokio::select! {
        registered = TemporaryWebhook::register(client.clone(), url) => Ok(registered?),
        () = signals.next() => Err(CommandError::new(format!(
            "stopped before the service responded: if created_at in sealpost webhooks list --json shows that this command \
             created a webhook {url}, delete it"
        ))),
    }
}

/// Deletes the webhook. A further signal ends the wait for the response.
pub(super) async fn remove(webhook: TemporaryWebhook) -> Result<(), CommandError> {
    let (mut signals, webhook_id) = (StopSignals::listen()?, webhook.webhook_id);
    tokio::select! {
        removed = webhook.remove() => Ok(removed?),
        () = signals.next() => Err(left(webhook_id)),
    }
}

/// Returns the error of a command that ended without deleting its webhook.
pub(super) fn left(webhook_id: WebhookId) -> CommandError {
    CommandError::new(format!(
        "stopped at once, and its webhook stays: run sealpost webhooks delete {webhook_id}"
    ))
}
