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

use actix_web::{
    CustomizeResponder, Responder as _,
    web::{self, Json},
};
use sealpost_service::{Error, Limited, Sealpost};
use serde::Serialize;

use super::{
    ApiState, Problem,
    rate_limit::{Counted, RateLimit},
};

/// The answer of a handler.
type Answer<T> = Result<Json<T>, Problem>;

/// The answer to a request that acts as a key: it says where that key's limits stand.
type LimitedAnswer<T> = Result<CustomizeResponder<Json<T>>, Problem>;

/// Runs a use case that blocks on a thread that may.
pub async fn ask<T: Send + 'static>(
    app: &ApiState,
    use_case: impl FnOnce(&Sealpost) -> Result<T, Error> + Send + 'static,
) -> Answer<T> {
    let sealpost = std::sync::Arc::clone(&app.sealpost);
    let done = web::block(move || use_case(&sealpost)).await.map_err(Problem::lost)?;
    Ok(Json(done?))
}

/// The same for a use case that acts as a key.
async fn ask_as_key<T: Serialize + Send + 'static>(
    app: &ApiState,
    use_case: impl FnOnce(&Sealpost) -> Limited<T> + Send + 'static,
) -> LimitedAnswer<T> {
    let sealpost = std::sync::Arc::clone(&app.sealpost);
    let done = web::block(move || use_case(&sealpost)).await.map_err(Problem::lost)?;
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
