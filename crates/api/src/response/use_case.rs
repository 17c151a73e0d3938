//! Calls the service for a request, and converts the result into a response. Each kind of request has its own function.

use actix_web::{
    CustomizeResponder, Responder as _,
    http::header::{HeaderName, HeaderValue},
    web::Json,
};
use sealpost_service::{Access, AccountSession, Caller, Limited, Purpose, Sealpost};
use serde::Serialize;

use super::{
    problem::Problem,
    rate_limit::{Counted, RateLimit},
};
use crate::{
    request::{KeyRequest, SessionRequest},
    state::ApiState,
};

/// A JSON response, or an error response.
pub(crate) type JsonResponse<T> = Result<Json<T>, Problem>;

/// A JSON response with rate-limit headers, or an error response.
pub(crate) type LimitedResponse<T> = Result<CustomizeResponder<Json<T>>, Problem>;

/// Authenticates the session and calls `use_case` for its account. An invalid session is reported before an error in
/// the body.
pub(crate) async fn ask_in_session<B, T>(
    app: &ApiState,
    request: SessionRequest<B>,
    use_case: impl AsyncFnOnce(&Sealpost, &AccountSession, B) -> Result<T, Problem>,
) -> JsonResponse<T> {
    let SessionRequest { token, body, memory: _memory } = request;
    let session = app.sealpost.authenticate_session(token.as_deref()).await?;
    Ok(Json(use_case(&app.sealpost, &session, body?).await?))
}

/// Authenticates the API key and calls `use_case`. Adds the rate-limit headers to the response. Refuses API tokens that
/// `access` does not allow.
pub(crate) async fn ask_as_key<B, T: Serialize>(
    app: &ApiState,
    request: KeyRequest<B>,
    access: Access,
    purpose: Purpose,
    use_case: impl AsyncFnOnce(&Sealpost, &Caller, B) -> Limited<T>,
) -> LimitedResponse<T> {
    let limited = call_as_key(app, request, access, purpose, use_case).await?;
    with_rate_limit(limited, Counted::Requests)
}

/// Adds the rate-limit headers to the response of a send. If the request repeats an earlier send with the same
/// idempotency key, adds the header `Idempotency-Replayed` too.
pub(crate) fn with_replay<T: Serialize>(sent: Limited<T>, is_replayed: bool) -> LimitedResponse<T> {
    let response = with_rate_limit(sent, Counted::Messages)?;
    Ok(if is_replayed { response.insert_header(REPLAYED) } else { response })
}

/// Authenticates the API key and calls `use_case`. If the body has an error, calls
/// [`Sending::reject`](sealpost_service::Sending::reject) with `purpose` instead, so that the request still counts
/// against the rate limits.
pub(crate) async fn call_as_key<B, T>(
    app: &ApiState,
    request: KeyRequest<B>,
    access: Access,
    purpose: Purpose,
    use_case: impl AsyncFnOnce(&Sealpost, &Caller, B) -> Limited<T>,
) -> Result<Limited<T>, Problem> {
    let KeyRequest { credentials, body, memory: _memory } = request;
    let caller = app.sealpost.authenticate(&credentials, access).await?;
    Ok(match body {
        Ok(input) => use_case(&app.sealpost, &caller, input).await,
        Err(refusal) => app.sealpost.sending.reject(&caller, purpose, refusal).await,
    })
}

/// Returns the limits of the API key and their present usage, for the headers of the response. Returns `None` if the
/// request was refused before the rate check.
pub(crate) fn limits_of<T>(limited: &Limited<T>, counted: Counted) -> Option<Box<RateLimit>> {
    let limits = limited.limits.as_ref()?;
    RateLimit::new(&limits.report(), limits.now(), counted).map(Box::new)
}

/// Adds the rate-limit headers to the JSON response or the error response.
fn with_rate_limit<T: Serialize>(limited: Limited<T>, counted: Counted) -> LimitedResponse<T> {
    let limits = limits_of(&limited, counted);
    let value = match limited.result {
        Ok(value) => value,
        Err(error) => return Err(Problem::Service { error, limits }),
    };
    let headers = limits.iter().flat_map(|limits| limits.headers());
    Ok(headers.fold(Json(value).customize(), CustomizeResponder::insert_header))
}

/// Marks a response that repeats the response to an earlier send, because both requests have the same
/// `Idempotency-Key`.
const REPLAYED: (HeaderName, HeaderValue) =
    (HeaderName::from_static("idempotency-replayed"), HeaderValue::from_static("true"));
