//! Reads a body: its type, its size and its time are bounded before its content counts.

use actix_web::{
    HttpMessage as _, HttpRequest,
    dev::Payload,
    http::header::{self, HeaderMap},
    web::{Bytes, BytesMut},
};
use futures_util::StreamExt as _;

use super::{App, Problem};

/// Reads the whole body. No body at all is an empty one, whatever its type.
pub(crate) async fn read(
    app: &App,
    request: &HttpRequest,
    payload: &mut Payload,
) -> Result<Bytes, Problem> {
    if !has_body(request.headers()) {
        return Ok(Bytes::new());
    }
    if !is_json(request.content_type()) {
        return Err(Problem::UnsupportedMediaType);
    }
    let limit = app.max_body_bytes;
    if declared_length(request.headers()).is_some_and(|length| length > limit) {
        return Err(Problem::BodyTooLarge { limit });
    }
    let collected = tokio::time::timeout(app.body_timeout, collect(payload, limit)).await;
    collected.unwrap_or(Err(Problem::BodyTimeout))
}

async fn collect(payload: &mut Payload, limit: usize) -> Result<Bytes, Problem> {
    let mut body = BytesMut::new();
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|_broken| Problem::BodyUnreadable)?;
        if body.len().saturating_add(chunk.len()) > limit {
            return Err(Problem::BodyTooLarge { limit });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

fn has_body(headers: &HeaderMap) -> bool {
    headers.contains_key(header::TRANSFER_ENCODING)
        || declared_length(headers).is_some_and(|length| length > 0)
}

fn declared_length(headers: &HeaderMap) -> Option<usize> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.trim().parse().ok()
}

/// `application/json`, or a type built on it (RFC 6839).
fn is_json(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json"
        || (essence.starts_with("application/") && essence.ends_with("+json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_known_by_its_type() {
        for yes in ["application/json", "Application/JSON; charset=utf-8", "application/x+json"] {
            assert!(is_json(yes), "{yes}");
        }
        for no in ["", "text/json", "application/x-www-form-urlencoded", "application/jsonp"] {
            assert!(!is_json(no), "{no}");
        }
    }
}
