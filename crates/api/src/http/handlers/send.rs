//! `POST /v1/channel/send`: a sealed message to a key or a handle.

use actix_web::{HttpRequest, http::header::HeaderMap, web};
use sealpost_domain::Refusal;
use sealpost_service::{Purpose, Send, Sent};

use super::{Counted, LimitedAnswer, answer_as_key, limited};
use crate::http::{ApiState, caller::Caller, fields::Fields, idempotency};

pub(crate) async fn send(
    app: web::Data<ApiState>,
    request: HttpRequest,
    caller: Caller,
) -> LimitedAnswer<Sent> {
    let body = caller.body.and_then(|fields| read(fields, request.headers()));
    let credentials = &caller.credentials;
    let sent = answer_as_key(&app, credentials, Purpose::Send, body, async |who, send| {
        app.sealpost.send(who, send).await
    })
    .await?;
    let is_replayed = sent.result.as_ref().is_ok_and(|sent| sent.replayed);
    let answer = limited(sent, Counted::Messages)?;
    Ok(if is_replayed { answer.insert_header(idempotency::REPLAYED) } else { answer })
}

fn read(mut fields: Fields, headers: &HeaderMap) -> Result<Send, Refusal> {
    fields.require(&["to", "message"])?;
    Ok(Send {
        to: fields.text("to")?,
        message: fields.text("message")?,
        idempotency_key: idempotency::key_of(headers)?,
    })
}
