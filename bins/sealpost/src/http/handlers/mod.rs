//! One file per endpoint: read the body, ask the service, answer. What blocks runs where it may.

mod activate;
mod login;
mod logout;
mod manage_webhooks;
mod open;
mod ping;
mod register_webhook;
mod send;
mod status;

pub(crate) use activate::activate;
pub(crate) use login::login;
pub(crate) use logout::logout;
pub(crate) use manage_webhooks::manage_webhooks;
pub(crate) use open::open;
pub(crate) use ping::ping;
pub(crate) use register_webhook::register_webhook;
pub(crate) use send::send;
pub(crate) use status::status;

use actix_web::web::{self, Json};
use sealpost_service::{Error, Sealpost};

use super::{App, Problem};

/// The answer of a handler.
type Answer<T> = Result<Json<T>, Problem>;

/// Runs a use case that blocks on a thread that may.
async fn ask<T: Send + 'static>(
    app: &App,
    use_case: impl FnOnce(&Sealpost) -> Result<T, Error> + Send + 'static,
) -> Answer<T> {
    let sealpost = std::sync::Arc::clone(&app.sealpost);
    let done = web::block(move || use_case(&sealpost)).await.map_err(Problem::lost)?;
    Ok(Json(done?))
}
