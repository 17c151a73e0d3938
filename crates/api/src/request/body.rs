//! Reads the body of a request. Checks type, size, time and memory before the content.

use actix_web::{
    HttpMessage as _, HttpRequest,
    dev::Payload,
    http::header::{self, HeaderMap},
    web::{Bytes, BytesMut},
};
use futures_util::StreamExt as _;
use sealpost_domain::Refusal;

use super::body_memory::MemoryShare;
use crate::{response::Problem, state::ApiState};

/// Reads the whole body. Returns the body and its share of the memory for bodies, which is released on drop. A request
/// without a body has an empty body, whatever its content type is.
pub(super) async fn read(
    app: &ApiState,
    request: &HttpRequest,
    payload: &mut Payload,
) -> Result<(Bytes, MemoryShare), Problem> {
    if !has_body(request.headers()) {
        return Ok((Bytes::new(), MemoryShare::default()));
    }
    if !is_json(request.content_type()) {
        return Err(Problem::UnsupportedMediaType);
    }
    let limit = app.max_body_bytes;
    if declared_length(request.headers()).is_some_and(|length| length > limit) {
        return Err(Problem::BodyTooLarge { limit });
    }
    let collected = tokio::time::timeout(app.body_timeout, collect(app, payload)).await;
    collected.unwrap_or(Err(Problem::BodyTimeout))
}

async fn collect(app: &ApiState, payload: &mut Payload) -> Result<(Bytes, MemoryShare), Problem> {
    let limit = app.max_body_bytes;
    let (mut body, mut share) = (BytesMut::new(), MemoryShare::default());
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|_broken| Problem::BodyUnreadable)?;
        let length = body.len().saturating_add(chunk.len());
        if length > limit {
            return Err(Problem::BodyTooLarge { limit });
        }
        // Counts received bytes, not `Content-Length`: a client that sends nothing takes no memory from other clients.
        if !share.grow(&app.body_memory, length) {
            return Err(Refusal::Unavailable.into());
        }
        body.extend_from_slice(&chunk);
    }
    Ok((body.freeze(), share))
}

fn has_body(headers: &HeaderMap) -> bool {
    headers.contains_key(header::TRANSFER_ENCODING)
        || declared_length(headers).is_some_and(|length| length > 0)
}

fn declared_length(headers: &HeaderMap) -> Option<usize> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.trim().parse().ok()
}

/// Whether a content type is `application/json` or has the suffix `+json` (RFC 6839).
fn is_json(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json"
        || (essence.starts_with("application/") && essence.ends_with("+json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_types_are_accepted_with_parameters_and_suffix() {
        for yes in ["application/json", "Application/JSON; charset=utf-8", "application/x+json"] {
            assert!(is_json(yes), "{yes}");
        }
        for no in ["", "text/json", "application/x-www-form-urlencoded", "application/jsonp"] {
            assert!(!is_json(no), "{no}");
        }
    }
}
