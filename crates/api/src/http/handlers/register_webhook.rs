//! `POST /v1/webhooks/register`: where a key's notices shall go.

use actix_web::web;
use sealpost_domain::{EventKind, Refusal};
use sealpost_service::{Purpose, Register, Registered};

use super::{LimitedAnswer, ask_as_key};
use crate::http::{
    ApiState,
    caller::Caller,
    fields::{Fields, invalid},
};

pub(crate) async fn register_webhook(
    app: web::Data<ApiState>,
    caller: Caller,
) -> LimitedAnswer<Registered> {
    let body = caller.body.and_then(read);
    let credentials = &caller.credentials;
    ask_as_key(&app, credentials, Purpose::Execute, body, async |who, hook| {
        app.sealpost.register(who, hook).await
    })
    .await
}

fn read(mut fields: Fields) -> Result<Register, Refusal> {
    fields.require(&["url", "events"])?;
    let url = fields.text("url")?;
    let mut events = Vec::new();
    for name in fields.texts("events")? {
        let event = event(&name)?;
        if !events.contains(&event) {
            events.push(event);
        }
    }
    Ok(Register { url, events })
}

fn event(name: &str) -> Result<EventKind, Refusal> {
    EventKind::from_name(name).ok_or_else(|| {
        if EventKind::PLANNED.contains(&name) {
            return invalid("events", format!("must not name {name} yet: it is planned for v1.1"));
        }
        invalid("events", "must name envelope.received, the only event there is")
    })
}
