//! Actions on webhooks, such as deleting or testing one. Each action has its own path, and `POST /v1/webhooks` performs
//! the same actions, selected by the member `action`.

use actix_web::{HttpRequest, web};
use schemars::JsonSchema;
use sealpost_domain::{Description, Refusal, TokenScope};
use sealpost_service::{Access, Manage, Managed, Purpose, Tested, Update};
use serde::Serialize;

use crate::{
    endpoint::Endpoint,
    openapi::Operation,
    request::{Fields, KeyRequest, RequestBody, invalid, request_source},
    response::{LimitedResponse, ask_as_key},
    state::ApiState,
    throttle,
};

/// An action on the webhooks of an API key. The type that implements it has the members of the request body as fields.
pub(in crate::endpoints) trait Action: RequestBody {
    /// The value of `action` in the body of `POST /v1/webhooks`.
    const NAME: &'static str;
    /// The API tokens that may perform the action.
    const ACCESS: Access;

    /// Converts the request body into the input for the service.
    fn into_input(self) -> ActionInput;

    /// Returns the OpenAPI description of the endpoint that performs only this action.
    fn operation() -> Operation;
}

/// The input that the service needs for an action.
pub(in crate::endpoints) enum ActionInput {
    /// Lists or changes webhooks or their deliveries.
    Manage(Manage),
    /// Sends a test event.
    Test { webhook_id: String },
}

impl ActionInput {
    /// Checks the URL of an update.
    pub(super) fn check(&self, app: &ApiState) -> Result<(), Refusal> {
        match self {
            Self::Manage(Manage::Update(Update { url: Some(url), .. })) => {
                app.sealpost.check_url(url)
            }
            Self::Manage(_) | Self::Test { .. } => Ok(()),
        }
    }
}

/// The response to an action.
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
pub(super) enum ActionResult {
    Managed(Managed),
    Tested(Tested),
}

/// An action with its name. `POST /v1/webhooks` finds the action in a table of these entries.
pub(super) struct ActionEntry {
    pub(super) name: &'static str,
    pub(super) access: Access,
    pub(super) operation: fn() -> Operation,
    /// Reads the input of the action from the members of the request body.
    pub(super) read: fn(&mut Fields) -> Result<ActionInput, Refusal>,
}

impl ActionEntry {
    pub(super) const fn of<A: Action>() -> Self {
        Self {
            name: A::NAME,
            access: A::ACCESS,
            operation: A::operation,
            read: |fields| A::read(fields).map(A::into_input),
        }
    }
}

/// Returns the endpoint that performs only this action.
pub(in crate::endpoints) fn endpoint<A: Action>() -> Endpoint {
    Endpoint { operation: A::operation(), route: web::route().to(perform::<A>) }
}

async fn perform<A: Action>(
    app: web::Data<ApiState>,
    http: HttpRequest,
    request: KeyRequest<A>,
) -> LimitedResponse<ActionResult> {
    respond(&app, &http, request.and_then(|action| Ok(action.into_input())), A::ACCESS).await
}

/// Performs an action and returns its result. Test events also count against a limit of the account.
pub(super) async fn respond(
    app: &ApiState,
    http: &HttpRequest,
    request: KeyRequest<ActionInput>,
    access: Access,
) -> LimitedResponse<ActionResult> {
    if let Ok(ActionInput::Test { .. }) = &request.body {
        throttle::admit_test(app, &request.credentials, access).await?;
    }
    ask_as_key(app, request, access, Purpose::Manage, async |sealpost, caller, input| match input {
        ActionInput::Manage(input) => {
            let source = request_source(app, http);
            sealpost.manage(caller, input, source).await.map(ActionResult::Managed)
        }
        ActionInput::Test { webhook_id } => {
            sealpost.test_webhook(caller, webhook_id).await.map(ActionResult::Tested)
        }
    })
    .await
}

/// Reads the member `webhook_id`, the only member of most actions.
pub(super) fn webhook_id(fields: &mut Fields) -> Result<String, Refusal> {
    fields.require(&["webhook_id"])?;
    fields.text("webhook_id")
}

/// Reads the optional member `description`.
pub(super) fn description(fields: &mut Fields) -> Result<Option<Description>, Refusal> {
    let text = fields.optional_text("description")?.unwrap_or_default();
    Description::parse(&text).map_err(|fault| invalid("description", fault.to_string()))
}

/// API tokens that may read webhooks and deliveries.
pub(super) const READ: Access = Access::Scopes(&[TokenScope::Webhooks, TokenScope::Read]);
/// API tokens that may change webhooks and deliveries.
pub(super) const CHANGE: Access = Access::Scopes(&[TokenScope::Webhooks]);
