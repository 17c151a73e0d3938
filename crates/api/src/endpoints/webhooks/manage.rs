//! `POST /v1/webhooks`: performs the webhook action that the member `action` of the body names.

use actix_web::{HttpRequest, web};
use sealpost_domain::Refusal;

use super::{
    action::{self, ActionEntry, ActionInput, ActionResult},
    delete::DeleteWebhook,
    deliveries::ListDeliveries,
    enable::EnableWebhook,
    list::ListWebhooks,
    recover::RecoverDeliveries,
    redeliver::RedeliverEvent,
    rotate_secret::RotateWebhookSecret,
    test::TestWebhook,
};
use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{Fields, KeyRequest, RequestBody, invalid},
    response::LimitedResponse,
    state::ApiState,
};

/// The input of the action that the body names.
struct AnyAction(ActionInput);

impl RequestBody for AnyAction {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        fields.require(&["action"])?;
        let name = fields.text("action")?;
        let entry = ACTIONS.iter().find(|entry| entry.name == name);
        let entry = entry.ok_or_else(|| invalid("action", format!("must be {}", names())))?;
        (entry.read)(fields).map(Self)
    }
}

/// Returns the names of all actions as a list in words, such as `a, b or c`.
fn names() -> String {
    let names: Vec<_> = ACTIONS.iter().map(|entry| entry.name).collect();
    match names.split_last() {
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

async fn manage(
    app: web::Data<ApiState>,
    http: HttpRequest,
    request: KeyRequest<AnyAction>,
) -> LimitedResponse<ActionResult> {
    action::respond(&app, &http, request.and_then(|AnyAction(input)| Ok(input))).await
}

pub(in crate::endpoints) fn endpoint() -> Endpoint {
    Endpoint { operation: operation(), route: web::route().to(manage) }
}

fn operation() -> Operation {
    let actions = ACTIONS.iter().map(|entry| (entry.name, (entry.operation)()));
    Operation::by_action::<ActionResult>("manageWebhooks", actions.collect())
        .describe(Tag::Webhooks, "Perform an action on webhooks", DESCRIPTION)
        .session_and_key()
}

const DESCRIPTION: &str = "\
Performs the action that `action` names. Each action also has a path of its own, which takes the same fields without \
`action` and has the same effect and response: `rotate_secret` is `POST /v1/webhooks/rotate-secret`. New programs \
should use these paths.";

const ACTIONS: [ActionEntry; 8] = [
    ActionEntry::of::<ListWebhooks>(),
    ActionEntry::of::<DeleteWebhook>(),
    ActionEntry::of::<EnableWebhook>(),
    ActionEntry::of::<RotateWebhookSecret>(),
    ActionEntry::of::<ListDeliveries>(),
    ActionEntry::of::<RedeliverEvent>(),
    ActionEntry::of::<RecoverDeliveries>(),
    ActionEntry::of::<TestWebhook>(),
];
