//! Disables webhooks on behalf of an operator.

use sealpost_domain::{WebhookId, WebhookStatus};
use serde_json::json;

use super::action::{ActionRecord, Concerned, Operator, OperatorError};
use crate::webhooks::view::WebhookView;

impl Operator {
    /// Disables a webhook. Its deliveries wait until the owner enables the webhook again. The entry in the audit trail
    /// does not contain the URL, because entries can never be deleted.
    pub fn disable_webhook(&self, id: &WebhookId) -> Result<WebhookView, OperatorError> {
        self.perform(|tx| {
            let Some(mut webhook) = tx.lock_webhook_of_any_key(id)? else {
                return Err(OperatorError::NotFound("such webhook").into());
            };
            if webhook.status == WebhookStatus::Disabled {
                return Err(OperatorError::Pointless("the webhook is already disabled").into());
            }
            tx.disable_webhook(id, self.clock.now())?;
            webhook.status = WebhookStatus::Disabled;
            let detail = json!({"api_key_id": webhook.api_key_id});
            let record = ActionRecord {
                action: "webhook.disable",
                subject: id.to_string(),
                concerned: Concerned::Key(webhook.api_key_id),
                detail,
            };
            Ok((webhook.into(), record))
        })
    }
}
