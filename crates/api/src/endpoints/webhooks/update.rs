//! `POST /v1/webhooks/update`: changes the URL, the events or the description of a webhook, and pauses or resumes it.

use schemars::JsonSchema;
use sealpost_domain::{Code, Description, EventKind, Refusal};
use sealpost_service::{Access, Manage, Update, Updated};
use serde_json::{Value, json};

use super::{
    action::{Action, ActionInput, CHANGE, description, webhook_id},
    examples,
};
use crate::{
    openapi::{Operation, Tag},
    request::{Fields, RequestBody},
    state::ApiState,
};

/// The changes of a webhook. At least one member besides `webhook_id` is required; the others stay as they are.
#[derive(JsonSchema)]
#[expect(clippy::option_option, reason = "null removes the description, absence keeps it")]
pub(in crate::endpoints) struct UpdateWebhook {
    /// The id of the webhook.
    #[schemars(length(min = 1))]
    webhook_id: String,
    /// The https URL that receives the events from now on. It must lead to a public address.
    #[schemars(with = "Option<String>", length(min = 1))]
    url: Option<String>,
    /// The kinds of events to send, instead of the present ones.
    #[schemars(with = "Option<Vec<EventKind>>", length(min = 1))]
    events: Option<Vec<String>>,
    /// A note of at most 200 characters. Null removes the note.
    #[schemars(with = "Option<String>", length(max = 200))]
    description: Option<Option<Description>>,
    /// True to pause the webhook, false to resume it.
    paused: Option<bool>,
}

impl RequestBody for UpdateWebhook {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        let webhook_id = webhook_id(fields)?;
        fields.refuse_empty(&["url", "events"])?;
        let has_description = fields.contains("description");
        let url = fields.optional_text("url")?;
        let events = fields.optional_texts("events")?;
        let description = description(fields)?;
        let description = has_description.then_some(description);
        let paused = fields.optional_flag("paused")?;
        if url.is_none() && events.is_none() && description.is_none() && paused.is_none() {
            let mut misspelt =
                CHANGED.into_iter().map(|name| fields.missing(name, &["webhook_id"]));
            let misspelt = misspelt.find(|it| matches!(it, Refusal::MisspeltField { .. }));
            return Err(misspelt.unwrap_or(Refusal::MissingField { field: "url" }));
        }
        Ok(Self { webhook_id, url, events, description, paused })
    }

    fn check(&self, app: &ApiState) -> Result<(), Refusal> {
        self.url.as_ref().map_or(Ok(()), |url| app.sealpost.check_url(url))
    }
}

impl Action for UpdateWebhook {
    const NAME: &'static str = "update";
    const ACCESS: Access = CHANGE;

    fn into_input(self) -> ActionInput {
        let Self { webhook_id, url, events, description, paused } = self;
        let update = Update { webhook_id, url, events, description, paused };
        ActionInput::Manage(Manage::Update(update))
    }

    fn operation() -> Operation {
        let mut updated = examples::webhook();
        if let Some(members) = updated.as_object_mut() {
            members.insert("warning".to_owned(), Value::Null);
        }
        let example = json!({
            "webhook_id": examples::WEBHOOK,
            "url": "https://bob.example.com/sealpost",
            "description": "orders of the shop",
        });
        Operation::new::<Updated>("updateWebhook", updated)
            .describe(Tag::Webhooks, "Change a webhook", DESCRIPTION)
            .session_and_key(Self::ACCESS)
            .body::<Self>(vec![("", example)])
            .refuses(&[Code::MissingField, Code::WebhookNotFound])
    }
}

/// The members that an update can change. One of them is required.
const CHANGED: [&str; 4] = ["url", "events", "description", "paused"];

const DESCRIPTION: &str = "\
Changes a webhook. Its id, its secret, its log and its health stay. The change holds on every node within two seconds. An \
attempt under way ends at the old URL; all later attempts, also of pending deliveries, go to the new one. `url` follows \
the rules of `register`.\n\nA paused webhook gets nothing. Its deliveries are kept without attempts until it is resumed or \
retention ends. Pausing does not depend on `status`: a disabled webhook can be paused too, and then needs both \
`\"paused\": false` and `enable`.";
