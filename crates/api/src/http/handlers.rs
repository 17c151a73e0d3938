//! One file per endpoint: read the body, ask the service, answer. What blocks runs where it may.

mod activate;
mod did_document;
mod document;
mod issue_badge;
mod login;
mod logout;
mod manage_webhooks;
mod open;
mod ping;
mod register_webhook;
mod rotate_secret;
mod send;
mod status;
mod status_list;
mod validate_compliance;
mod verify_badge;

pub(crate) use activate::activate;
pub(crate) use did_document::did_document;
pub(crate) use document::document;
pub(crate) use issue_badge::issue_badge;
pub(crate) use login::login;
pub(crate) use logout::{LoggedOut, logout};
pub(crate) use manage_webhooks::manage_webhooks;
pub(crate) use open::open;
pub(crate) use ping::{Pong, ping};
pub(crate) use register_webhook::register_webhook;
pub(crate) use rotate_secret::rotate_secret;
pub(crate) use send::send;
pub(crate) use status::status;
pub(crate) use status_list::status_list;
pub(crate) use validate_compliance::validate_compliance;
pub(crate) use verify_badge::verify_badge;

use actix_web::{CustomizeResponder, Responder as _, web::Json};
use sealpost_service::{Caller, Credentials, Limited, Purpose};
use serde::Serialize;

use super::{
    ApiState, Problem,
    caller::Body,
    rate_limit::{Counted, RateLimit},
};

/// The answer of a handler.
type Answer<T> = Result<Json<T>, Problem>;

/// The answer to a request that acts as a key: it says where that key's limits stand.
type LimitedAnswer<T> = Result<CustomizeResponder<Json<T>>, Problem>;

/// Authenticates a request that acts as a key, and runs its use case. A faulty body is rejected in its place.
async fn answer_as_key<I, T>(
    app: &ApiState,
    credentials: &Credentials,
    purpose: Purpose,
    body: Body<I>,
    use_case: impl AsyncFnOnce(&Caller, I) -> Limited<T>,
) -> Result<Limited<T>, Problem> {
    let caller = app.sealpost.authenticate(credentials).await?;
    Ok(match body {
        Ok(input) => use_case(&caller, input).await,
        Err(refusal) => app.sealpost.reject(&caller, purpose, refusal).await,
    })
}

/// The same, as a response.
async fn ask_as_key<I, T: Serialize>(
    app: &ApiState,
    credentials: &Credentials,
    purpose: Purpose,
    body: Body<I>,
    use_case: impl AsyncFnOnce(&Caller, I) -> Limited<T>,
) -> LimitedAnswer<T> {
    let done = answer_as_key(app, credentials, purpose, body, use_case).await?;
    limited(done, Counted::Requests)
}

/// Says where the limits stand, with the answer and with the refusal alike.
fn limited<T: Serialize>(done: Limited<T>, counted: Counted) -> LimitedAnswer<T> {
    let limits = done
        .limits
        .and_then(|limits| RateLimit::new(&limits.report(), limits.now(), counted))
        .map(Box::new);
    let value = match done.result {
        Ok(value) => value,
        Err(error) => return Err(Problem::Service { error, limits }),
    };
    let fields = limits.iter().flat_map(|limits| limits.headers());
    Ok(fields.fold(Json(value).customize(), CustomizeResponder::insert_header))
}
