//! Receives events in an axum application.

use axum::{
    body::Bytes,
    extract::DefaultBodyLimit,
    http::{HeaderMap, StatusCode},
    routing::{MethodRouter, post},
};

use super::{BODY_BYTES_MAX, receiver::Receiver, status_of};

/// Returns a handler for `POST`: `Router::new().route("/hook", handler(receiver))`.
pub fn handler<S: Clone + Send + Sync + 'static>(receiver: Receiver) -> MethodRouter<S> {
    let receive = async move |headers: HeaderMap, body: Bytes| {
        let pairs = headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
        let status = status_of(&receiver, pairs, &body).await;
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    };
    post(receive).layer(DefaultBodyLimit::max(BODY_BYTES_MAX))
}
