//! `POST /v1/channel/open`: the recipient reads an envelope.

use actix_web::web;
use sealpost_domain::Refusal;
use sealpost_service::{Opened, Purpose};

use super::{LimitedAnswer, ask_as_key};
use crate::http::{ApiState, caller::Caller, fields::Fields};

pub(crate) async fn open(app: web::Data<ApiState>, caller: Caller) -> LimitedAnswer<Opened> {
    let body = caller.body.and_then(read);
    let credentials = &caller.credentials;
    ask_as_key(&app, credentials, Purpose::Execute, body, async |who, id| {
        app.sealpost.open(who, id).await
    })
    .await
}

fn read(mut fields: Fields) -> Result<String, Refusal> {
    fields.require(&["envelope_id"])?;
    fields.text("envelope_id")
}
