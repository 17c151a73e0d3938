//! `POST /v1/channel/send`: a sealed message to a key or a handle.

use actix_web::web::{self, Json};
use sealpost_domain::Refusal;
use sealpost_service::{Send, Sent};

use super::Answer;
use crate::http::{App, caller::Caller, fields::Fields};

pub(crate) async fn send(app: web::Data<App>, caller: Caller) -> Answer<Sent> {
    let body = caller.body.and_then(read);
    Ok(Json(app.sealpost.send(&caller.credentials, body).await?))
}

fn read(mut fields: Fields) -> Result<Send, Refusal> {
    fields.require(&["to", "message"])?;
    Ok(Send { to: fields.text("to")?, message: fields.text("message")? })
}
