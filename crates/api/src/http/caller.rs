//! Extractors: who calls, and what with.

use actix_web::{
    FromRequest, HttpRequest,
    dev::Payload,
    http::header::{self, HeaderMap, HeaderName},
    web,
};
use futures_util::future::LocalBoxFuture;
use sealpost_domain::Refusal;
use sealpost_service::{Credentials, KeyNamed};

use super::{ApiState, Problem, body, body_memory::Share, fields::Fields};

/// A request's body, or its fault: the service judges the body after it has admitted the request.
pub(crate) type Body<T> = Result<T, Refusal>;

/// A request that may show a session token and names no key.
pub(crate) struct Visitor {
    pub(crate) token: Option<String>,
    pub(crate) body: Body<Fields>,
    /// Given back when the handler is done.
    _share: Share,
}

/// A request that acts as a key.
pub(crate) struct Caller {
    pub(crate) credentials: Credentials,
    pub(crate) body: Body<Fields>,
    /// Given back when the handler is done.
    _share: Share,
}

impl FromRequest for Visitor {
    type Error = Problem;
    type Future = LocalBoxFuture<'static, Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, mut payload) = (request.clone(), payload.take());
        Box::pin(async move {
            let app = request.app_data::<web::Data<ApiState>>().ok_or(Problem::Lost)?;
            let (body, share) = body::read(app, &request, &mut payload).await?;
            let token = bearer_token(request.headers());
            Ok(Self { token, body: Fields::parse(&body), _share: share })
        })
    }
}

impl FromRequest for Caller {
    type Error = Problem;
    type Future = LocalBoxFuture<'static, Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (visitor, request) = (Visitor::from_request(request, payload), request.clone());
        Box::pin(async move {
            let Visitor { token, mut body, _share: share } = visitor.await?;
            let key = key_named(request.headers(), &mut body);
            Ok(Self { credentials: Credentials { token, key }, body, _share: share })
        })
    }
}

/// The bearer token; an authorization of another kind is a token that nobody has.
fn bearer_token(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::AUTHORIZATION)?;
    let text = String::from_utf8_lossy(value.as_bytes());
    let token = match text.split_once(' ') {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") => token.trim(),
        _ => "",
    };
    Some(token.to_owned())
}

/// The key in the header, else in the body; an empty one names none.
fn key_named(headers: &HeaderMap, body: &mut Body<Fields>) -> KeyNamed {
    let in_header =
        headers.get(X_DID_API_KEY).map(|value| String::from_utf8_lossy(value.as_bytes()));
    match in_header.filter(|text| !text.trim().is_empty()) {
        Some(text) => Ok(Some(text.trim().to_owned())),
        None => match body {
            Ok(fields) => Ok(fields.optional_text("api_key_id")?.filter(|text| !text.is_empty())),
            Err(fault) => Err(fault.clone()),
        },
    }
}

const X_DID_API_KEY: HeaderName = HeaderName::from_static("x-did-api-key");
