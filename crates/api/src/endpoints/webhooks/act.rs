//! The acts on webhooks, such as deleting or testing one. Each act has its own path.

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

/// An act on the webhooks of an API key. A type that implements this trait has the members of the request body as
/// fields.
pub(in crate::endpoints) trait Act: RequestBody {
    /// The value of `action` in the body of `POST /v1/webhooks`.
    const NAME: &'static str;
    /// The bearer tokens that may perform the act. A session always may.
    const ACCESS: Access;
    /// The response to the act.
    type Done: JsonSchema + Serialize;

    /// Returns the OpenAPI description of the endpoint that performs only this act.
    fn operation() -> Operation;

    /// Performs the act on the webhooks of the key that `actor` acts on. Returns the result with the rate limits of the
    /// key.
    async fn perform(self, app: &ApiState, actor: &Actor) -> Limited<Self::Done>;
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
    ask_as_key(app, request, A::ACCESS, Purpose::Manage, async |_, caller, act| {
        act.perform(app, &caller.acting(request_source(app, http))).await
    })
    .await
}

/// The bearer tokens that may read webhooks and deliveries: sessions, and API tokens with one of these scopes.
pub(super) const READ: Access = Access::Scopes(&[TokenScope::Webhooks, TokenScope::Read]);
/// The bearer tokens that may change webhooks and deliveries: sessions, and API tokens with this scope.
pub(super) const CHANGE: Access = Access::Scopes(&[TokenScope::Webhooks]);
