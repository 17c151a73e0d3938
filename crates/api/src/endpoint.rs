//! The types that define an endpoint: its handler, its OpenAPI text, and its method and path.

use actix_web::{Route, http::Method};

use crate::openapi::Operation;

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
