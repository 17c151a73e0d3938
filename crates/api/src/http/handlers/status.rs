//! `POST /v1/did/status`: where the caller's key stands.

use actix_web::web;
use sealpost_service::KeyStanding;

use super::{LimitedAnswer, ask_as_key};
use crate::http::{ApiState, caller::Caller};

pub(crate) async fn status(app: web::Data<ApiState>, caller: Caller) -> LimitedAnswer<KeyStanding> {
    let body = caller.body.map(|_ignored| ());
    ask_as_key(&app, move |sealpost| sealpost.status(&caller.credentials, &body)).await
}
