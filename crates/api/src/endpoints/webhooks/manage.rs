//! `POST /v1/webhooks`: performs the webhook action that the member `action` of the body names.

use actix_web::{HttpRequest, web};
use sealpost_domain::Refusal;
use sealpost_service::Access;

use super::{
    action::{self, ActionEntry, ActionInput, ActionResult, READ},
    delete::DeleteWebhook,
    deliveries::ListDeliveries,
    enable::EnableWebhook,
    list::ListWebhooks,
    recover::RecoverDeliveries,
    redeliver::RedeliverEvent,
    rotate_secret::RotateWebhookSecret,
    test::TestWebhook,
    update::UpdateWebhook,
};
use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{Fields, KeyRequest, RequestBody, invalid},
    response::LimitedResponse,
    state::ApiState,
};

/// The action that the body names.
struct AnyAction {
    access: Access,
    input: ActionInput,
}

impl RequestBody for AnyAction {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        fields.require(&["action"])?;
        let name = fields.text("action")?;
        let entry = ACTIONS.iter().find(|entry| entry.name == name);
        let entry = entry.ok_or_else(|| invalid("action", format!("must be {}", names())))?;
        Ok(Self { access: entry.access, input: (entry.read)(fields)? })
    }

    fn check(&self, app: &ApiState) -> Result<(), Refusal> {
        self.input.check(app)
    }
}

/// Returns the names of all actions as text, such as `a, b or c`.
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
    // If the body has an error, the action is unknown. Any API token that may read webhooks then suffices, because the
    // response is an error that reveals nothing.
    let access = request.body.as_ref().map_or(READ, |action| action.access);
    action::respond(&app, &http, request.and_then(|action| Ok(action.input)), access).await
}

pub(in crate::endpoints) fn endpoint() -> Endpoint {
    Endpoint { operation: operation(), route: web::route().to(manage) }
}

fn operation() -> Operation {
    let actions = ACTIONS.iter().map(|entry| (entry.name, (entry.operation)()));
    Operation::by_action::<ActionResult>("manageWebhooks", actions.collect())
        .describe(Tag::Webhooks, "Perform an action on webhooks", DESCRIPTION)
        .session_and_key(READ)
}

const DESCRIPTION: &str = "\
Performs the action that `action` names. Each action also has a path of its own, which takes the same fields without \
`action` and has the same effect and response: `rotate_secret` is `POST /v1/webhooks/rotate-secret`. New programs \
should use these paths.";

const ACTIONS: [ActionEntry; 9] = [
    ActionEntry::of::<ListWebhooks>(),
    ActionEntry::of::<DeleteWebhook>(),
    ActionEntry::of::<EnableWebhook>(),
    ActionEntry::of::<RotateWebhookSecret>(),
    ActionEntry::of::<ListDeliveries>(),
    ActionEntry::of::<RedeliverEvent>(),
    ActionEntry::of::<RecoverDeliveries>(),
    ActionEntry::of::<TestWebhook>(),
    ActionEntry::of::<UpdateWebhook>(),
];
