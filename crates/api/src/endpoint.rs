//! Combines the handler and the OpenAPI text of an endpoint. The table in `endpoints.rs` adds method and path.

use actix_web::{Route, http::Method};

use crate::openapi::Operation;

/// One endpoint of the API.
pub(crate) struct Endpoint {
    /// The OpenAPI text.
    pub(crate) operation: Operation,
    /// The handler. The table of endpoints restricts it to one method.
    pub(crate) route: Route,
}

/// One row of the table of endpoints.
pub(crate) struct Row {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(crate) endpoint: Endpoint,
}

impl Row {
    /// Serves `endpoint` with GET.
    pub(crate) fn get(path: &'static str, endpoint: Endpoint) -> Self {
        Self { method: Method::GET, path, endpoint }
    }

    /// Serves `endpoint` with POST.
    pub(crate) fn post(path: &'static str, endpoint: Endpoint) -> Self {
        Self { method: Method::POST, path, endpoint }
    }
}
