//! The acts on webhooks, such as deleting or testing one. Each act has its own path.

use actix_web::{HttpRequest, web};
use schemars::JsonSchema;
use sealpost_domain::TokenScope;
use sealpost_service::{Access, Actor, Credentials, Limited, Purpose, Sealpost};
use serde::Serialize;

use crate::{
    endpoint::Endpoint,
    openapi::Operation,
    request::{KeyRequest, RequestBody, request_source},
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

    /// Counts the act against an additional limit, before the request is admitted. Fails if the limit is reached. By
    /// default, an act has no additional limit.
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

pub(super) async fn respond<A: Act>(
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

/// API tokens that may read webhooks and deliveries.
pub(super) const READ: Access = Access::Scopes(&[TokenScope::Webhooks, TokenScope::Read]);
/// API tokens that may change webhooks and deliveries.
pub(super) const CHANGE: Access = Access::Scopes(&[TokenScope::Webhooks]);
