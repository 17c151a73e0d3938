//! Reads a body: its type, its size, its time and what all bodies take together are bounded before its content counts.

use actix_web::{
    HttpMessage as _, HttpRequest,
    dev::Payload,
    http::header::{self, HeaderMap},
    web::{Bytes, BytesMut},
};
use futures_util::StreamExt as _;
use sealpost_domain::Refusal;

use super::{ApiState, Problem, body_memory::Share};

/// Reads the whole body, which has its share of the memory for bodies until that is dropped. No body at all is an empty
/// one, whatever its type.
pub(crate) async fn read(
    app: &ApiState,
    request: &HttpRequest,
    payload: &mut Payload,
) -> Result<(Bytes, Share), Problem> {
    if !has_body(request.headers()) {
        return Ok((Bytes::new(), Share::default()));
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

async fn collect(app: &ApiState, payload: &mut Payload) -> Result<(Bytes, Share), Problem> {
    let limit = app.max_body_bytes;
    let (mut body, mut share) = (BytesMut::new(), Share::default());
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|_broken| Problem::BodyUnreadable)?;
        let length = body.len().saturating_add(chunk.len());
        if length > limit {
            return Err(Problem::BodyTooLarge { limit });
        }
        // As it comes, not as it was announced: who sends nothing takes nothing from anybody.
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
