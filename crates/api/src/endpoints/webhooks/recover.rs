//! `POST /v1/webhooks/recover`: sends all events again that were not delivered to a webhook in a time range.

use schemars::JsonSchema;
use sealpost_domain::{Code, Refusal, TimeFault, Timestamp};
use sealpost_service::{Access, Manage, Recover, Recovered};
use serde_json::json;

use super::{
    action::{Action, ActionInput, CHANGE},
    examples,
};
use crate::{
    openapi::{Operation, Tag},
    request::{Fields, RequestBody, invalid},
};

/// The webhook and the time range of the failed events.
#[derive(JsonSchema)]
pub(in crate::endpoints) struct RecoverDeliveries {
    /// The id of the webhook.
    #[schemars(length(min = 1))]
    webhook_id: String,
    /// The start of the time range, inclusive. An event is in the range if its delivery failed in that time.
    since: Timestamp,
    /// The end of the time range, inclusive. If absent, the current time.
    until: Option<Timestamp>,
    /// If true, only counts the events and sends nothing.
    #[schemars(with = "Option<bool>")]
    dry_run: bool,
}

impl RequestBody for RecoverDeliveries {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        fields.require(&["webhook_id", "since"])?;
        let webhook_id = fields.text("webhook_id")?;
        let since = instant("since", &fields.text("since")?)?;
        let until = fields.optional_text("until")?;
        let until = until.map(|text| instant("until", &text)).transpose()?;
        if until.is_some_and(|until| until < since) {
            return Err(invalid("until", "must not be before since"));
        }
        Ok(Self { webhook_id, since, until, dry_run: fields.flag("dry_run")? })
    }
}

fn instant(field: &'static str, text: &str) -> Result<Timestamp, Refusal> {
    text.parse().map_err(|fault: TimeFault| invalid(field, fault.to_string()))
}

impl Action for RecoverDeliveries {
    const NAME: &'static str = "recover";
    const ACCESS: Access = CHANGE;

    fn into_input(self) -> ActionInput {
        let Self { webhook_id, since, until, dry_run } = self;
        ActionInput::Manage(Manage::Recover(Recover { webhook_id, since, until, dry_run }))
    }

    fn operation() -> Operation {
        let body = json!({
            "webhook_id": examples::WEBHOOK,
            "since": "2026-11-21T00:00:00Z",
            "dry_run": true,
        });
        let recovered = json!({
            "webhook_id": examples::WEBHOOK,
            "matched": 3,
            "recovered": 0,
            "more": false,
            "dry_run": true,
        });
        Operation::new::<Recovered>("recoverDeliveries", recovered)
            .describe(Tag::Webhooks, "Send failed events again", DESCRIPTION)
            .session_and_key(Self::ACCESS)
            .body::<Self>(vec![("", body)])
            .refuses(&[Code::MissingField, Code::WebhookNotFound])
    }
}

const DESCRIPTION: &str = "\
Sends all events again that failed since a time, at most 10,000 per request; with `dry_run` it only counts them. While \
`more` is true, repeat the request with the same `since` and an `until`. A disabled webhook must be enabled first.";
