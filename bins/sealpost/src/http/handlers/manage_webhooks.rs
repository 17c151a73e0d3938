//! `POST /v1/webhooks`: what became of a key's registrations.

use actix_web::web;
use sealpost_domain::Refusal;
use sealpost_service::{Manage, Managed};

use super::{LimitedAnswer, ask_as_key};
use crate::http::{
    App,
    caller::Caller,
    fields::{Fields, invalid},
};

pub(crate) async fn manage_webhooks(app: web::Data<App>, caller: Caller) -> LimitedAnswer<Managed> {
    let body = caller.body.and_then(read);
    ask_as_key(&app, move |sealpost| sealpost.manage(&caller.credentials, &body)).await
}

fn read(mut fields: Fields) -> Result<Manage, Refusal> {
    fields.require(&["action"])?;
    match fields.text("action")?.as_str() {
        "delete" => {
            fields.require(&["webhook_id"])?;
            Ok(Manage::Delete { webhook_id: fields.text("webhook_id")? })
        }
        "list" => Ok(Manage::List),
        _ => Err(invalid("action", "must be list or delete")),
    }
}
