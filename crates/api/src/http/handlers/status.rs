//! `POST /v1/did/status`: where the caller's key stands.

use actix_web::web;
use sealpost_service::{KeyStanding, Purpose};

use super::{LimitedAnswer, ask_as_key};
use crate::http::{ApiState, caller::Caller};

pub(crate) async fn status(app: web::Data<ApiState>, caller: Caller) -> LimitedAnswer<KeyStanding> {
    let body = caller.body.map(|_ignored| ());
    let credentials = &caller.credentials;
    ask_as_key(&app, credentials, Purpose::Manage, body, async |who, ()| {
        app.sealpost.status(who).await
    })
    .await
}
