//! `POST /v1/did/status`: where the caller's key stands.

use actix_web::web;
use sealpost_service::KeyStanding;

use super::{Answer, ask};
use crate::http::{App, caller::Caller};

pub(crate) async fn status(app: web::Data<App>, caller: Caller) -> Answer<KeyStanding> {
    let body = caller.body.map(|_ignored| ());
    ask(&app, move |sealpost| sealpost.status(&caller.credentials, &body)).await
}
