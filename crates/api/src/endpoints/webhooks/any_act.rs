//! `POST /v1/webhooks`: performs the action that the member `action` of the body names.

use std::{borrow::Cow, convert::Infallible, mem};

use actix_web::{HttpRequest, HttpResponse, Responder as _, web};
use futures_util::future::LocalBoxFuture;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use sealpost_domain::Refusal;
use sealpost_service::{Caller, Limited, Purpose, Sealpost};

use super::{
    act::{Act, READ, respond},
    changes::{
        DeleteWebhook, EnableWebhook, ListWebhooks, RotateWebhookSecret, TestWebhook, UpdateWebhook,
    },
    deliveries::{ListDeliveries, RecoverDeliveries, RedeliverEvent},
};
use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{Fields, KeyRequest, RequestBody, invalid},
    response::{Problem, ask_as_key},
    state::ApiState,
};

/// Returns the endpoint `POST /v1/webhooks`.
pub(in crate::endpoints) fn endpoint() -> Endpoint {
    let acts = ACTS.iter().map(|act| (act.name, (act.operation)()));
    let operation = Operation::by_action::<ActionResult>("manageWebhooks", acts.collect())
        .describe(Tag::Webhooks, "Perform an action on webhooks", DESCRIPTION)
        .session_and_key(READ);
    Endpoint { operation, route: web::route().to(perform_any) }
}

async fn perform_any(
    app: web::Data<ApiState>,
    http: HttpRequest,
    request: KeyRequest<AnyAct>,
) -> Result<HttpResponse, Problem> {
    let KeyRequest { credentials, body, memory } = request;
    match body.and_then(|AnyAct(fields)| find_act(fields)) {
        Ok((act, fields)) => {
            (act.respond)(&app, &http, KeyRequest { credentials, body: Ok(fields), memory }).await
        }
        Err(refusal) => {
            // The action is unknown, so its scope is unknown too. Accepts any API token that may read webhooks, because
            // the response is an error that reveals nothing.
            let faulty = KeyRequest { credentials, body: Err::<Infallible, _>(refusal), memory };
            let never = async |_: &Sealpost, _: &Caller, none| -> Limited<()> { match none {} };
            let response = ask_as_key(&app, faulty, READ, Purpose::Manage, never);
            Ok(response.await?.respond_to(&http).map_into_boxed_body())
        }
    }
}

/// The members of a request body, not yet read. The handler first finds the action, because each action has its own
/// members and scopes. It checks the scopes before the members, so a token without the scope gets no error about a
/// member.
struct AnyAct(Fields);

impl RequestBody for AnyAct {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        Ok(Self(mem::take(fields)))
    }
}

/// Finds the action that the member `action` names. Returns the action and the other members. Fails if the member is
/// absent or names no action.
fn find_act(mut fields: Fields) -> Result<(&'static ActRow, Fields), Refusal> {
    fields.require(&["action"])?;
    let name = fields.text("action")?;
    let act = ACTS.iter().find(|act| act.name == name);
    let act = act.ok_or_else(|| invalid("action", format!("must be {}", names())))?;
    Ok((act, fields))
}

/// Reads an action of the type `A` from the members of a request body, performs the action, and returns the response.
fn respond_boxed<'a, A: Act>(
    app: &'a ApiState,
    http: &'a HttpRequest,
    request: KeyRequest<Fields>,
) -> LocalBoxFuture<'a, Result<HttpResponse, Problem>> {
    let request = request.and_then(|fields| fields.into_body(|act: &A| act.check(app)));
    Box::pin(async move {
        Ok(respond(app, http, request).await?.respond_to(http).map_into_boxed_body())
    })
}

/// A row in the table of actions.
struct ActRow {
    name: &'static str,
    operation: fn() -> Operation,
    result: fn(&mut SchemaGenerator) -> Schema,
    respond: Respond,
}

/// Reads an action from the members of a request body, and performs it.
type Respond = for<'a> fn(
    &'a ApiState,
    &'a HttpRequest,
    KeyRequest<Fields>,
) -> LocalBoxFuture<'a, Result<HttpResponse, Problem>>;

impl ActRow {
    const fn new<A: Act>() -> Self {
        Self {
            name: A::NAME,
            operation: A::operation,
            result: SchemaGenerator::subschema_for::<A::Done>,
            respond: respond_boxed::<A>,
        }
    }
}

/// Returns the names of all actions as text, such as `a, b or c`.
fn names() -> String {
    let names: Vec<_> = ACTS.iter().map(|act| act.name).collect();
    match names.split_last() {
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// The response to `POST /v1/webhooks`, for the OpenAPI document.
struct ActionResult;

impl JsonSchema for ActionResult {
    fn schema_name() -> Cow<'static, str> {
        "ActionResult".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let results: Vec<_> = ACTS.iter().map(|act| (act.result)(generator)).collect();
        json_schema!({ "description": "The response to an action.", "anyOf": results })
    }
}

static ACTS: [ActRow; 9] = [
    ActRow::new::<ListWebhooks>(),
    ActRow::new::<DeleteWebhook>(),
    ActRow::new::<EnableWebhook>(),
    ActRow::new::<RotateWebhookSecret>(),
    ActRow::new::<ListDeliveries>(),
    ActRow::new::<RedeliverEvent>(),
    ActRow::new::<RecoverDeliveries>(),
    ActRow::new::<TestWebhook>(),
    ActRow::new::<UpdateWebhook>(),
];

const DESCRIPTION: &str = "\
Performs the action that `action` names. Each action also has a path of its own, which takes the same fields without \
`action` and has the same effect and response: `rotate_secret` is `POST /v1/webhooks/rotate-secret`. New programs \
should use these paths.";
