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
    let Ok(id) = webhook_id.parse::<WebhookId>() else { return Ok(Err(Refusal::WebhookNotFound)) };
    let mut all = lookup.list_webhooks(key)?.into_iter();
    let found = all.find(|webhook| webhook.id == id);
    Ok(found.ok_or(Refusal::WebhookNotFound))
}
