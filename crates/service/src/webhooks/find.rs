//! Finds one webhook of a key.

use sealpost_domain::{
    ApiKeyId, Refusal, Webhook, WebhookId,
    ports::{StoreError, WebhookLookup},
};

/// Returns the webhook with this id. Refuses an id that is malformed, unknown, or that of another key's webhook.
pub(super) fn find(
    lookup: &mut (impl WebhookLookup + ?Sized),
    key: &ApiKeyId,
    webhook_id: &str,
) -> Result<Result<Webhook, Refusal>, StoreError> {
    let id = match parse_id(webhook_id) {
        Ok(id) => id,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let mut all = lookup.list_webhooks(key)?.into_iter();
    let found = all.find(|webhook| webhook.id == id);
    Ok(found.ok_or(Refusal::WebhookNotFound))
}

/// Parses the id of a webhook. Refuses a malformed id like an unknown one.
pub(super) fn parse_id(webhook_id: &str) -> Result<WebhookId, Refusal> {
    webhook_id.parse().map_err(|_malformed| Refusal::of_id(webhook_id, Refusal::WebhookNotFound))
}
