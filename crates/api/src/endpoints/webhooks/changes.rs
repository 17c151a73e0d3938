//! `POST /v1/webhooks/list`, `update`, `delete`, `enable`, `rotate-secret` and `test`: lists, changes and tests
//! webhooks.

use schemars::JsonSchema;
use sealpost_domain::{Code, Description, EventKind, Refusal};
use sealpost_service::{
    Access, Actor, Deleted, Enabled, Limited, Tested, Update, Updated, WebhookList,
    WebhookSecretRotated,
};
use serde_json::json;

use super::{
    act::{Act, CHANGE, READ},
    examples,
};
use crate::{
    admission,
    openapi::{Operation, Tag, with_members},
    request::{Fields, Member, RequestBody, request_body},
    state::ApiState,
};

request_body! {
    /// The webhook to delete.
    pub(in crate::endpoints) struct DeleteWebhook {
        /// The id of the webhook.
        #[schemars(length(min = 1))]
        webhook_id: String,
    }
}
request_body! {
    /// The webhook to enable.
    pub(in crate::endpoints) struct EnableWebhook {
        /// The id of the webhook.
        #[schemars(length(min = 1))]
        webhook_id: String,
    }
}
request_body! {
    /// The webhook whose secret is replaced.
    pub(in crate::endpoints) struct RotateWebhookSecret {
        /// The id of the webhook.
        #[schemars(length(min = 1))]
        webhook_id: String,
    }
}
request_body! {
    /// The webhook to test.
    pub(in crate::endpoints) struct TestWebhook {
        /// The id of the webhook.
        #[schemars(length(min = 1))]
        webhook_id: String,
    }
}

request_body! {
    /// Lists all webhooks of the key.
    pub(in crate::endpoints) struct ListWebhooks {}
}

/// The changes of a webhook. At least one member besides `webhook_id` is required; the others stay as they are.
#[derive(JsonSchema)]
#[expect(clippy::option_option, reason = "null removes the description, absence keeps it")]
pub(in crate::endpoints) struct UpdateWebhook {
    /// The id of the webhook.
    #[schemars(length(min = 1))]
    webhook_id: String,
    /// The https URL that receives the events from now on. It must lead to a public address. Or `relay:`, for a
    /// receiver that connects to the service.
    #[schemars(with = "Option<String>", length(min = 1, max = 2048))]
    url: Option<String>,
    /// The kinds of events to send, instead of the present ones.
    #[schemars(with = "Option<Vec<EventKind>>", length(min = 1))]
    events: Option<Vec<String>>,
    /// A note of at most 200 characters. Null or an empty text removes the note.
    #[schemars(with = "Option<String>", length(max = 200), extend("pattern" = Description::pattern()))]
    description: Option<Option<Description>>,
    /// True to pause the webhook, false to resume it.
    paused: Option<bool>,
}

impl RequestBody for UpdateWebhook {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        fields.require(&["webhook_id"])?;
        fields.refuse_empty(&["url", "events"])?;
        let webhook_id = fields.text("webhook_id")?;
        let has_description = fields.contains("description");
        let url = fields.optional_text("url")?;
        let events = fields.optional_texts("events")?;
        let description = Member::read(fields, "description")?;
        let description = has_description.then_some(description);
        let paused = fields.optional_flag("paused")?;
        if url.is_none() && events.is_none() && description.is_none() && paused.is_none() {
            let mut misspelt =
                CHANGED.into_iter().map(|name| fields.missing(name, &["webhook_id"]));
            let misspelt = misspelt.find(|it| matches!(it, Refusal::MisspeltField { .. }));
            return Err(misspelt.unwrap_or(Refusal::NothingToChange));
        }
        Ok(Self { webhook_id, url, events, description, paused })
    }

    fn check(&self, app: &ApiState) -> Result<(), Refusal> {
        let webhooks = &app.sealpost.webhooks;
        self.url.as_ref().map_or(Ok(()), |url| webhooks.check_url(url))?;
        self.events.as_ref().map_or(Ok(()), |names| webhooks.find_events(names).map(drop))
    }
}

impl Act for ListWebhooks {
    const NAME: &'static str = "list";
    const ACCESS: Access = READ;
    type Done = WebhookList;

    fn operation() -> Operation {
        let listed = json!({ "webhooks": [examples::webhook()] });
        Operation::new::<WebhookList>("listWebhooks", listed)
            .describe(Tag::Webhooks, "List webhooks", LIST)
            .repeatable()
            .session_and_key(Self::ACCESS)
            .optional_body::<Self>(vec![("", json!({}))])
    }

    async fn perform(self, app: &ApiState, actor: &Actor) -> Limited<WebhookList> {
        app.sealpost.webhooks.list(actor).await
    }
}

impl Act for UpdateWebhook {
    const NAME: &'static str = "update";
    const ACCESS: Access = CHANGE;
    type Done = Updated;

    fn operation() -> Operation {
        let updated = with_members(examples::webhook(), json!({ "warning": null }));
        let example = json!({
            "webhook_id": examples::WEBHOOK,
            "url": "https://bob.example.com/sealpost",
            "description": "orders of the shop",
        });
        Operation::new::<Updated>("updateWebhook", updated)
            .describe(Tag::Webhooks, "Change a webhook", UPDATE)
            .repeatable()
            .session_and_key(Self::ACCESS)
            .body::<Self>(vec![("", example)])
            .refuses(&[Code::MissingField, Code::WebhookNotFound])
    }

    async fn perform(self, app: &ApiState, actor: &Actor) -> Limited<Updated> {
        let Self { webhook_id, url, events, description, paused } = self;
        let update = Update { webhook_id, url, events, description, paused };
        app.sealpost.webhooks.update(actor, update).await
    }
}

impl Act for DeleteWebhook {
    const NAME: &'static str = "delete";
    const ACCESS: Access = CHANGE;
    type Done = Deleted;

    fn operation() -> Operation {
        let deleted = json!({ "webhook_id": examples::WEBHOOK, "deleted": true });
        Operation::new::<Deleted>("deleteWebhook", deleted)
            .describe(Tag::Webhooks, "Delete a webhook", DELETE)
            .session_and_key(Self::ACCESS)
            .body::<Self>(vec![("", examples::webhook_id())])
            .refuses(&[Code::MissingField, Code::WebhookNotFound])
    }

    async fn perform(self, app: &ApiState, actor: &Actor) -> Limited<Deleted> {
        app.sealpost.webhooks.delete(actor, self.webhook_id).await
    }
}

impl Act for EnableWebhook {
    const NAME: &'static str = "enable";
    const ACCESS: Access = CHANGE;
    type Done = Enabled;

    fn operation() -> Operation {
        let enabled = with_members(examples::webhook(), json!({ "due_now": 3 }));
        Operation::new::<Enabled>("enableWebhook", enabled)
            .describe(Tag::Webhooks, "Enable a webhook", ENABLE)
            .repeatable()
            .session_and_key(Self::ACCESS)
            .body::<Self>(vec![("", examples::webhook_id())])
            .refuses(&[Code::MissingField, Code::WebhookNotFound])
    }

    async fn perform(self, app: &ApiState, actor: &Actor) -> Limited<Enabled> {
        app.sealpost.webhooks.enable(actor, self.webhook_id).await
    }
}

impl Act for RotateWebhookSecret {
    const NAME: &'static str = "rotate_secret";
    const ACCESS: Access = CHANGE;
    type Done = WebhookSecretRotated;

    fn operation() -> Operation {
        let rotated = json!({
            "webhook_id": examples::WEBHOOK,
            "secret": "whsec_tyz4uy9luPVtr0QsFCb5J1YDaxnpdw63I5LuaTjY9Uc=",
            "retiring": [{ "expires_at": "2026-11-22T06:56:38.711Z" }],
        });
        Operation::new::<WebhookSecretRotated>("rotateWebhookSecret", rotated)
            .describe(Tag::Webhooks, "Replace the secret of a webhook", ROTATE)
            .session_and_key(Self::ACCESS)
            .body::<Self>(vec![("", examples::webhook_id())])
            .refuses(&[Code::MissingField, Code::QuotaExceeded, Code::WebhookNotFound])
    }

    async fn perform(self, app: &ApiState, actor: &Actor) -> Limited<WebhookSecretRotated> {
        app.sealpost.webhooks.rotate_secret(actor, self.webhook_id).await
    }
}

impl Act for TestWebhook {
    const NAME: &'static str = "test";
    const ACCESS: Access = CHANGE;
    type Done = Tested;

    fn operation() -> Operation {
        let tested = json!({
            "webhook_id": examples::WEBHOOK,
            "event_id": "evt_01m7ye92xk1c2d3e4f5g6h7j8k",
            "outcome": "failed",
            "status_code": 503,
            "error": "http_status",
            "error_detail": null,
            "duration_ms": 12,
            "response": "come back later",
        });
        Operation::new::<Tested>("testWebhook", tested)
            .describe(Tag::Webhooks, "Test a webhook", TEST)
            .session_and_key(Self::ACCESS)
            .body::<Self>(vec![("", examples::webhook_id())])
            .refuses(&[Code::MissingField, Code::WebhookNotFound])
    }

    async fn perform(self, app: &ApiState, actor: &Actor) -> Limited<Tested> {
        // A test that the limit of the account refuses must not count against the limits of the key.
        if let Err(refusal) = admission::check_test(app, actor.account_id()) {
            return Limited { result: Err(refusal.into()), limits: None };
        }
        let admit = |account| admission::admit_test(app, account);
        app.sealpost.webhooks.test(actor, self.webhook_id, admit).await
    }
}

/// The members that an update can change. At least one of them is required.
const CHANGED: [&str; 4] = ["url", "events", "description", "paused"];
const LIST: &str = "\
Lists the webhooks of the key, oldest first: state, reason if disabled, and health. Their secrets are not shown.";
const UPDATE: &str = "\
Changes a webhook. Its id, its secret, its log and its health stay.\n\n\
- The change holds on every node within two seconds. An attempt under way ends at the old URL; all later \
attempts, also of pending deliveries, go to the new one.\n\
- `url` follows the rules of `register`.\n\
- A paused webhook gets nothing. Its deliveries are kept without attempts until it is resumed or retention ends. \
`\"paused\": false` sends the pending deliveries now.\n\
- Pausing does not depend on `status`: a disabled webhook can be paused too, and then needs both `\"paused\": \
false` and `enable`.";
const DELETE: &str = "\
Deletes a webhook with its pending deliveries and its log of attempts.\n\n\
- Its undelivered envelopes wait for the next webhook of the key, except those that bounced.\n\
- A last event may arrive for about two seconds, or a little later if its request was already under way.";
const ENABLE: &str = "\
Enables a disabled webhook, and sends its pending deliveries now. `due_now` is their number. The health of a webhook \
that is enabled already stays.";
const ROTATE: &str = "\
Creates a new secret and shows it only once. For 24 hours by default events carry the signatures of both secrets, so \
receivers can change to the new one.\n\n\
- At most four replaced secrets sign at a time. The fifth replacement within this time is refused with \
`QUOTA_EXCEEDED`; `detail` names the time from which it is possible.";
const TEST: &str = "\
Sends one `webhook.test` event to the webhook now, whatever its `events` are, and returns the result of the \
attempt.\n\n\
- The event is signed like all events.\n\
- It is never retried, is not listed in `deliveries`, and never disables the webhook.\n\
- Limited per account.";
