//! Actions on webhooks, such as deleting or testing a webhook. Each action has its own path. The path `/v1/webhooks`
//! accepts all actions, by name.

use actix_web::{HttpRequest, web};
use schemars::JsonSchema;
use sealpost_domain::TokenScope;
use sealpost_service::{Access, Actor, Limited, Purpose};
use serde::Serialize;

use crate::{
    endpoint::Endpoint,
    openapi::Operation,
    request::{KeyRequest, RequestBody, request_source},
    response::{LimitedResponse, ask_as_key},
    state::ApiState,
};

/// An action on the webhooks of an API key. The fields of the implementing type are the members of the request body.
pub(in crate::endpoints) trait Act: RequestBody {
    /// The value of `action` in the body of `POST /v1/webhooks`.
    const NAME: &'static str;
    /// The bearer tokens that may perform the action. A session always may.
    const ACCESS: Access;
    /// The response to the action.
    type Done: JsonSchema + Serialize;

    /// Returns the OpenAPI description of the endpoint that performs only this action.
    fn operation() -> Operation;

    /// Performs the action on the webhooks of the API key of `actor`. Returns the result with the rate limits of this
    /// key.
    async fn perform(self, app: &ApiState, actor: &Actor) -> Limited<Self::Done>;
}

/// Returns the endpoint that performs only this action.
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
    ask_as_key(app, request, A::ACCESS, Purpose::Manage, async |_, caller, act| {
        act.perform(app, &caller.acting(&request_source(app, http))).await
    })
    .await
}

/// The bearer tokens that may read webhooks and deliveries: sessions, and API tokens with one of these scopes.
pub(super) const READ: Access = Access::Scopes(&[TokenScope::Webhooks, TokenScope::Read]);
/// The bearer tokens that may change webhooks and deliveries: sessions, and API tokens with this scope.
pub(super) const CHANGE: Access = Access::Scopes(&[TokenScope::Webhooks]);
