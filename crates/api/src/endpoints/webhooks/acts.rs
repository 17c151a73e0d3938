//! The acts on webhooks, such as deleting or testing one. Each act has its own path, and `POST /v1/webhooks` performs the
//! same acts, selected by the member `action`.

use std::{borrow::Cow, convert::Infallible};

use actix_web::{HttpRequest, HttpResponse, Responder as _, web};
use futures_util::future::LocalBoxFuture;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use sealpost_domain::{Refusal, TokenScope};
use sealpost_service::{Access, Actor, Caller, Credentials, Limited, Purpose, Sealpost};
use serde::Serialize;

use super::{
    changes::{
        DeleteWebhook, EnableWebhook, ListWebhooks, RotateWebhookSecret, TestWebhook, UpdateWebhook,
    },
    deliveries::{ListDeliveries, RecoverDeliveries, RedeliverEvent},
};
use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    request::{Fields, KeyRequest, RequestBody, invalid, request_source},
    response::{LimitedResponse, Problem, ask_as_key},
    state::ApiState,
};

/// An act on the webhooks of an API key. The type that implements it has the members of the request body as fields.
pub(in crate::endpoints) trait Act: RequestBody {
    /// The value of `action` in the body of `POST /v1/webhooks`.
    const NAME: &'static str;
    /// The API tokens that may perform the act.
    const ACCESS: Access;
    /// The response to the act.
    type Done: JsonSchema + Serialize;

    /// Returns the OpenAPI description of the endpoint that performs only this act.
    fn operation() -> Operation;

    /// Counts the act against a limit of its own, before the request is admitted.
    async fn throttle(_app: &ApiState, _credentials: &Credentials) -> Result<(), Problem> {
        Ok(())
    }

    async fn perform(self, sealpost: &Sealpost, actor: &Actor) -> Limited<Self::Done>;
}

/// Returns the endpoint that performs only this act.
pub(in crate::endpoints) fn endpoint<A: Act>() -> Endpoint {
    let handler = async |app: web::Data<ApiState>, http: HttpRequest, request: KeyRequest<A>| {
        respond(&app, &http, request).await
    };
    Endpoint { operation: A::operation(), route: web::route().to(handler) }
}

async fn respond<A: Act>(
    app: &ApiState,
    http: &HttpRequest,
    request: KeyRequest<A>,
) -> LimitedResponse<A::Done> {
    if request.body.is_ok() {
        A::throttle(app, &request.credentials).await?;
    }
    ask_as_key(app, request, A::ACCESS, Purpose::Manage, async |sealpost, caller, act| {
        act.perform(sealpost, &caller.acting(request_source(app, http))).await
    })
    .await
}

/// Returns the endpoint `POST /v1/webhooks`.
pub(in crate::endpoints) fn any_endpoint() -> Endpoint {
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
    match body {
        Ok(AnyAct(act)) => {
            act.respond(&app, &http, KeyRequest { credentials, body: Ok(()), memory }).await
        }
        Err(refusal) => {
            // If the body has an error, the act is unknown. Any API token that may read webhooks then suffices, because
            // the response is an error that reveals nothing.
            let faulty = KeyRequest { credentials, body: Err::<Infallible, _>(refusal), memory };
            let respond = async |_: &Sealpost, _: &Caller, none| -> Limited<()> { match none {} };
            let response = ask_as_key(&app, faulty, READ, Purpose::Manage, respond);
            Ok(response.await?.respond_to(&http).map_into_boxed_body())
        }
    }
}

/// The act that the member `action` of a body names.
struct AnyAct(Box<dyn ReadAct>);

/// An act that was read from a body.
trait ReadAct {
    fn check(&self, app: &ApiState) -> Result<(), Refusal>;

    fn respond<'a>(
        self: Box<Self>,
        app: &'a ApiState,
        http: &'a HttpRequest,
        request: KeyRequest<()>,
    ) -> LocalBoxFuture<'a, Result<HttpResponse, Problem>>;
}

impl<A: Act> ReadAct for A {
    fn check(&self, app: &ApiState) -> Result<(), Refusal> {
        RequestBody::check(self, app)
    }

    fn respond<'a>(
        self: Box<Self>,
        app: &'a ApiState,
        http: &'a HttpRequest,
        request: KeyRequest<()>,
    ) -> LocalBoxFuture<'a, Result<HttpResponse, Problem>> {
        let request = request.and_then(|()| Ok(*self));
        Box::pin(async move {
            Ok(respond(app, http, request).await?.respond_to(http).map_into_boxed_body())
        })
    }
}

impl RequestBody for AnyAct {
    fn read(fields: &mut Fields) -> Result<Self, Refusal> {
        fields.require(&["action"])?;
        let name = fields.text("action")?;
        let act = ACTS.iter().find(|act| act.name == name);
        let act = act.ok_or_else(|| invalid("action", format!("must be {}", names())))?;
        Ok(Self((act.read)(fields)?))
    }

    fn check(&self, app: &ApiState) -> Result<(), Refusal> {
        self.0.check(app)
    }
}

/// A row in the table of acts.
struct ActRow {
    name: &'static str,
    operation: fn() -> Operation,
    result: fn(&mut SchemaGenerator) -> Schema,
    /// Reads the act from the members of the request body.
    read: fn(&mut Fields) -> Result<Box<dyn ReadAct>, Refusal>,
}

impl ActRow {
    const fn of<A: Act>() -> Self {
        Self {
            name: A::NAME,
            operation: A::operation,
            result: SchemaGenerator::subschema_for::<A::Done>,
            read: |fields| Ok(Box::new(A::read(fields)?)),
        }
    }
}

/// Returns the names of all acts as text, such as `a, b or c`.
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

const ACTS: [ActRow; 9] = [
    ActRow::of::<ListWebhooks>(),
    ActRow::of::<DeleteWebhook>(),
    ActRow::of::<EnableWebhook>(),
    ActRow::of::<RotateWebhookSecret>(),
    ActRow::of::<ListDeliveries>(),
    ActRow::of::<RedeliverEvent>(),
    ActRow::of::<RecoverDeliveries>(),
    ActRow::of::<TestWebhook>(),
    ActRow::of::<UpdateWebhook>(),
];
/// API tokens that may read webhooks and deliveries.
pub(super) const READ: Access = Access::Scopes(&[TokenScope::Webhooks, TokenScope::Read]);
/// API tokens that may change webhooks and deliveries.
pub(super) const CHANGE: Access = Access::Scopes(&[TokenScope::Webhooks]);

const DESCRIPTION: &str = "\
Performs the action that `action` names. Each action also has a path of its own, which takes the same fields without \
`action` and has the same effect and response: `rotate_secret` is `POST /v1/webhooks/rotate-secret`. New programs \
should use these paths.";
