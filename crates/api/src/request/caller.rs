//! Extractors for POST requests. They read the credentials and the JSON body.

use actix_web::{
    FromRequest, HttpRequest,
    dev::Payload,
    http::header::{self, HeaderMap, HeaderName},
    web,
};
use futures_util::future::LocalBoxFuture;
use sealpost_domain::Refusal;
use sealpost_service::{Credentials, KeyNamed};

use super::{
    body::{self, GivenToken},
    body_memory::MemoryShare,
    fields::{Fields, RequestBody},
    headers::single_header,
};
use crate::{response::Problem, state::ApiState};

/// A request to an endpoint that needs no session, but may accept one.
pub(crate) type PublicRequest<B> = TokenRequest<B, false>;

/// A request in a session of an account, without an API key.
pub(crate) type SessionRequest<B> = TokenRequest<B, true>;

/// A request without an API key. `IS_REQUIRED` is true if the endpoint requires a token.
pub(crate) struct TokenRequest<B, const IS_REQUIRED: bool> {
    pub(crate) token: Option<String>,
    /// The typed body, or the error in the body. An error in the token takes precedence over an error in the body.
    pub(crate) body: Result<B, Refusal>,
    /// The memory share of a large body, held until the response is ready. `None` for a small body.
    pub(crate) memory: Option<MemoryShare>,
}

/// A request on behalf of an API key, with a session token of the same account or with an API token.
pub(crate) struct KeyRequest<B> {
    pub(crate) credentials: Credentials,
    /// The typed body, or the error in the body. An error in the credentials or a reached rate limit takes precedence
    /// over an error in the body.
    pub(crate) body: Result<B, Refusal>,
    /// The memory share of a large body, held until the response is ready. `None` for a small body.
    pub(crate) memory: Option<MemoryShare>,
}

/// A request whose body is parsed as JSON, but not yet converted to the type of the endpoint.
struct RawRequest<'a> {
    app: &'a ApiState,
    token: Option<String>,
    fields: Result<Fields, Refusal>,
    memory: Option<MemoryShare>,
}

impl<B> KeyRequest<B> {
    /// Converts the body with `next`, unless the body has an error.
    pub(crate) fn and_then<T>(self, next: impl FnOnce(B) -> Result<T, Refusal>) -> KeyRequest<T> {
        let Self { credentials, body, memory } = self;
        KeyRequest { credentials, body: body.and_then(next), memory }
    }
}

impl<B: RequestBody, const IS_REQUIRED: bool> FromRequest for TokenRequest<B, IS_REQUIRED> {
    type Error = Problem;
    type Future = LocalBoxFuture<'static, Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, payload) = (request.clone(), payload.take());
        Box::pin(async move {
            let RawRequest { app, token, fields, memory } =
                read(&request, payload, IS_REQUIRED).await?;
            Ok(Self { token, body: typed(app, fields), memory })
        })
    }
}

impl<B: RequestBody> FromRequest for KeyRequest<B> {
    type Error = Problem;
    type Future = LocalBoxFuture<'static, Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, payload) = (request.clone(), payload.take());
        Box::pin(async move {
            let RawRequest { app, token, fields, memory } = read(&request, payload, true).await?;
            let key = key_named(request.headers(), &fields);
            let fields = match &key {
                KeyNamed::InvalidBody(refusal) => Err(refusal.clone()),
                KeyNamed::InvalidHeader(_) | KeyNamed::Key(_) | KeyNamed::None => fields,
            };
            let credentials = Credentials { token, key };
            Ok(Self { credentials, body: typed(app, fields), memory })
        })
    }
}

async fn read(
    request: &HttpRequest,
    mut payload: Payload,
    is_required: bool,
) -> Result<RawRequest<'_>, Problem> {
    let app = request.app_data::<web::Data<ApiState>>().ok_or(Problem::Lost)?;
    let token = bearer_token(request.headers());
    let given = GivenToken { token: token.as_ref().map(Option::as_deref), is_required };
    let (body, memory) = body::read(app, request, &mut payload, given).await?;
    Ok(RawRequest { app, token: token?, fields: Fields::parse(&body), memory })
}

/// Converts the members of a body to the type of the endpoint.
fn typed<B: RequestBody>(app: &ApiState, fields: Result<Fields, Refusal>) -> Result<B, Refusal> {
    fields?.into_body(|body: &B| body.check(app))
}

/// Returns the bearer token, or `None` if the request has no `Authorization` header. For other schemes than `Bearer`,
/// returns an empty token, which is refused later. Refuses a repeated header.
pub(crate) fn bearer_token(headers: &HeaderMap) -> Result<Option<String>, Refusal> {
    let Some(value) = single_header(headers, header::AUTHORIZATION, "Authorization")? else {
        return Ok(None);
    };
    let text = String::from_utf8_lossy(value.as_bytes());
    let token = match text.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => token.trim(),
        _ => "",
    };
    Ok(Some(token.to_owned()))
}

/// Returns the credentials of a request without a body.
pub(crate) fn credentials_in_headers(headers: &HeaderMap) -> Result<Credentials, Refusal> {
    let token = bearer_token(headers)?;
    Ok(Credentials { token, key: key_named(headers, &Ok(Fields::default())) })
}

/// Returns the API key from the header `X-DID-API-Key`, or from the member `api_key_id` of the body if the header is
/// absent. An empty value counts as absent. A repeated header is invalid.
fn key_named(headers: &HeaderMap, fields: &Result<Fields, Refusal>) -> KeyNamed {
    let in_header = match single_header(headers, X_DID_API_KEY, "X-DID-API-Key") {
        Ok(value) => value.map(|value| String::from_utf8_lossy(value.as_bytes())),
        Err(refusal) => return KeyNamed::InvalidHeader(refusal),
    };
    if let Some(text) = in_header.filter(|text| !text.trim().is_empty()) {
        return KeyNamed::Key(text.trim().to_owned());
    }
    match fields.as_ref().map_err(Clone::clone).and_then(Fields::api_key_id) {
        Ok(Some(text)) => KeyNamed::Key(text.to_owned()),
        Ok(None) => KeyNamed::None,
        Err(refusal) => KeyNamed::InvalidBody(refusal),
    }
}

const X_DID_API_KEY: HeaderName = HeaderName::from_static("x-did-api-key");
