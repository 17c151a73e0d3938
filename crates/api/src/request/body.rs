//! Reads the body of a request. Checks content type, size, time and memory before the content is parsed.

use actix_web::{
    HttpMessage as _, HttpRequest,
    dev::Payload,
    http::header::{self, HeaderMap},
    web::{Bytes, BytesMut},
};
use futures_util::StreamExt as _;
use sealpost_domain::Refusal;

use super::{
    body_memory::{FREE_LENGTH_MAX, MemoryShare},
    headers::single_header,
};
use crate::{connection_record::ConnectionRecord, response::Problem, state::ApiState};

/// The token of a request, and whether the endpoint requires a token. A request without the header `Authorization` has
/// the token `None`. A repeated header is an error.
#[derive(Clone, Copy)]
pub(super) struct GivenToken<'a> {
    pub(super) token: Result<Option<&'a str>, &'a Refusal>,
    pub(super) is_required: bool,
}

/// Reads the whole body. If the request has no body, returns an empty body and does not check the content type.
///
/// A body over 16 KiB is large. It is accepted only with the token of an account, which is looked up before more than
/// 16 KiB are kept in memory. For a large body, also returns its share of the memory budget, which is released on drop.
pub(super) async fn read(
    app: &ApiState,
    request: &HttpRequest,
    payload: &mut Payload,
    given: GivenToken<'_>,
) -> Result<(Bytes, Option<MemoryShare>), Problem> {
    if !has_body(request.headers()) {
        return Ok((Bytes::new(), None));
    }
    if let Err(problem) = check_content(request) {
        let is_empty = is_chunked(request.headers()) && is_empty(app, payload).await;
        return if is_empty { Ok((Bytes::new(), None)) } else { Err(problem) };
    }
    let limit = app.settings.max_body_bytes;
    if declared_length(request.headers()).is_some_and(|length| length > limit) {
        return Err(Problem::BodyTooLarge { limit });
    }
    let collected = collect(app, request, payload, given);
    let collected = tokio::time::timeout(app.settings.body_timeout, collected).await;
    collected.unwrap_or(Err(Problem::BodyTimeout))
}

/// Reads the body of a request that needs no session. Refuses bodies over 16 KiB.
pub(crate) async fn read_small(
    app: &ApiState,
    request: &HttpRequest,
    payload: &mut Payload,
) -> Result<Bytes, Problem> {
    let given = GivenToken { token: Ok(None), is_required: false };
    let (body, _no_memory) = read(app, request, payload, given).await?;
    Ok(body)
}

async fn collect(
    app: &ApiState,
    request: &HttpRequest,
    payload: &mut Payload,
    given: GivenToken<'_>,
) -> Result<(Bytes, Option<MemoryShare>), Problem> {
    let limit = app.settings.max_body_bytes;
    let (mut body, mut share) = (BytesMut::new(), None);
    let connection = request.conn_data::<ConnectionRecord>();
    if declared_length(request.headers()).is_some_and(is_large) {
        share = Some(open_share(app, given).await?);
    }
    while let Some(chunk) = payload.next().await {
        let chunk = chunk.map_err(|_broken| Problem::BodyUnreadable)?;
        let length = body.len().saturating_add(chunk.len());
        if length > limit {
            return Err(Problem::BodyTooLarge { limit });
        }
        if is_large(length) {
            let share = match &mut share {
                Some(share) => share,
                None => share.insert(open_share(app, given).await?),
            };
            // The share covers the received bytes, not `Content-Length`. A client that announces a large body and sends
            // nothing therefore takes no memory from other clients.
            if !share.grow(length) {
                return Err(Refusal::Unavailable.into());
            }
        }
        body.extend_from_slice(&chunk);
        connection.into_iter().for_each(ConnectionRecord::consume_body);
    }
    Ok((body.freeze(), share))
}

/// Looks up the account of a request with a large body, and creates the memory share of the body. Refuses the body as
/// too large if the request has no token and its endpoint does not require one.
async fn open_share(
    app: &ApiState,
    GivenToken { token, is_required }: GivenToken<'_>,
) -> Result<MemoryShare, Problem> {
    let token = token.map_err(Clone::clone)?;
    if token.is_none() && !is_required {
        return Err(Problem::BodyTooLarge { limit: FREE_LENGTH_MAX });
    }
    let account = app.sealpost.account_of(token).await?;
    Ok(MemoryShare::new(&app.body_memory, account))
}

/// Refuses a body that is not JSON, or that is compressed.
fn check_content(request: &HttpRequest) -> Result<(), Problem> {
    let headers = request.headers();
    single_header(headers, header::CONTENT_TYPE, "Content-Type")?;
    if !is_json(request.content_type()) {
        return Err(Problem::UnsupportedMediaType);
    }
    let codings = headers.get_all(header::CONTENT_ENCODING);
    let codings = codings.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    let mut codings = codings.map(<[u8]>::trim_ascii);
    let is_plain = |coding: &[u8]| coding.is_empty() || coding.eq_ignore_ascii_case(b"identity");
    match codings.find(|coding| !is_plain(coding)) {
        Some(coding) => {
            let name = String::from_utf8_lossy(coding).chars().take(CODING_LENGTH_MAX).collect();
            Err(Problem::UnsupportedCoding { name })
        }
        None => Ok(()),
    }
}

fn is_large(length: usize) -> bool {
    length > FREE_LENGTH_MAX
}

/// Returns true if the request has a body. A chunked body counts, although it may turn out to be empty.
fn has_body(headers: &HeaderMap) -> bool {
    is_chunked(headers) || declared_length(headers).is_some_and(|length| length > 0)
}

fn is_chunked(headers: &HeaderMap) -> bool {
    headers.contains_key(header::TRANSFER_ENCODING)
}

/// Waits for the first bytes of a chunked body. Returns true if the body ends without a byte.
async fn is_empty(app: &ApiState, payload: &mut Payload) -> bool {
    let first = tokio::time::timeout(app.settings.body_timeout, payload.next()).await;
    matches!(first, Ok(None))
}

fn declared_length(headers: &HeaderMap) -> Option<usize> {
    headers.get(header::CONTENT_LENGTH)?.to_str().ok()?.trim().parse().ok()
}

/// Returns true if a content type is `application/json` or has the suffix `+json` (RFC 6839).
fn is_json(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    essence == "application/json"
        || (essence.starts_with("application/") && essence.ends_with("+json"))
}

/// Maximum length in characters of the name of a content coding in an error. A longer name is truncated.
const CODING_LENGTH_MAX: usize = 32;

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
