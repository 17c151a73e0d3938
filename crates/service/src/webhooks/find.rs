//! Finds one webhook of a key.

use sealpost_domain::{ApiKeyId, Refusal, Webhook, WebhookId};
use sealpost_storage::{Abort, Reader};

/// Returns the webhook with this id. Refuses an id that is malformed, unknown, or that of another key's webhook.
pub(crate) fn find(
    reader: &mut Reader,
    key: &ApiKeyId,
    webhook_id: &str,
) -> Result<Webhook, Abort> {
    let id = parse_id(webhook_id)?;
    let mut all = reader.list_webhooks(key)?.into_iter();
    let found = all.find(|webhook| webhook.id == id);
    Ok(found.ok_or(Refusal::WebhookNotFound)?)
}

/// Parses the id of a webhook. Refuses a malformed id like an unknown one.
pub(crate) fn parse_id(webhook_id: &str) -> Result<WebhookId, Refusal> {
    webhook_id.parse().map_err(|_malformed| Refusal::of_id(webhook_id, Refusal::WebhookNotFound))
}
