//! The types that define an endpoint: its handler, its OpenAPI text, and its method and path.

use actix_web::{HttpRequest, Route, http::Method, web};
use sealpost_service::{Access, AccountSession, Caller, Limited, Purpose};
use serde::Serialize;

use crate::{
    openapi::Operation,
    request::{KeyRequest, RequestBody, SessionRequest},
    response::{Problem, ask_as_key, ask_in_session},
    state::ApiState,
};

/// The handler and the OpenAPI description of an endpoint. The method and the path are in its [`Row`].
pub(crate) struct Endpoint {
    /// The description of the endpoint in the OpenAPI document.
    pub(crate) operation: Operation,
    /// The actix-web route with the handler. The table of endpoints restricts it to one method.
    pub(crate) route: Route,
}

/// A row in the table of endpoints: an endpoint with its method and path.
pub(crate) struct Row {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) endpoint: Endpoint,
}

impl Operation {
    /// Returns the endpoint of this operation, which calls `use_case` for an API key. Refuses API tokens that `access`
    /// does not allow. A request with an error in its body is rejected, but still counts against the limits of the key,
    /// according to `purpose`.
    pub(crate) fn for_key<B: RequestBody, T: Serialize + 'static>(
        self,
        access: Access,
        purpose: Purpose,
        use_case: impl AsyncFnOnce(&ApiState, &HttpRequest, &Caller, B) -> Limited<T> + Copy + 'static,
    ) -> Endpoint {
        let handler = move |app: web::Data<ApiState>, http: HttpRequest, request: KeyRequest<B>| async move {
            ask_as_key(&app, request, access, purpose, async |_, caller, body| {
                use_case(&app, &http, caller, body).await
            })
            .await
        };
        Endpoint { operation: self, route: web::route().to(handler) }
    }

    /// Returns the endpoint of this operation, which calls `use_case` in a session of an account.
    pub(crate) fn in_session<B: RequestBody, T: Serialize + 'static>(
        self,
        use_case: impl AsyncFnOnce(&ApiState, &HttpRequest, &AccountSession, B) -> Result<T, Problem>
        + Copy
        + 'static,
    ) -> Endpoint {
        let handler = move |app: web::Data<ApiState>,
                            http: HttpRequest,
                            request: SessionRequest<B>| async move {
            ask_in_session(&app, request, async |_, session, body| {
                use_case(&app, &http, session, body).await
            })
            .await
        };
        Endpoint { operation: self, route: web::route().to(handler) }
    }
}

impl Row {
    /// Creates a row that serves `endpoint` with GET.
    pub(crate) fn get(path: &'static str, endpoint: Endpoint) -> Self {
        Self { method: Method::GET, path, endpoint }
    }

    /// Creates a row that serves `endpoint` with POST.
    pub(crate) fn post(path: &'static str, endpoint: Endpoint) -> Self {
        Self { method: Method::POST, path, endpoint }
    }
}
