//! `POST /v1/webhooks`: a key's webhooks, and what became of their deliveries.

use std::ops::RangeInclusive;

use actix_web::web;
use sealpost_domain::{Refusal, TimeFault, Timestamp};
use sealpost_service::{Cursor, Deliveries, DeliveryState, Manage, Managed, Purpose, Recover};

use super::{LimitedAnswer, ask_as_key};
use crate::http::{
    ApiState,
    caller::Caller,
    fields::{Fields, invalid},
};

pub(crate) async fn manage_webhooks(
    app: web::Data<ApiState>,
    caller: Caller,
) -> LimitedAnswer<Managed> {
    let body = caller.body.and_then(read);
    let credentials = &caller.credentials;
    ask_as_key(&app, credentials, Purpose::Manage, body, async |who, action| {
        app.sealpost.manage(who, action).await
    })
    .await
}

fn read(mut fields: Fields) -> Result<Manage, Refusal> {
    fields.require(&["action"])?;
    match fields.text("action")?.as_str() {
        "delete" => Ok(Manage::Delete { webhook_id: webhook_id(&mut fields)? }),
        "deliveries" => deliveries(fields),
        "enable" => Ok(Manage::Enable { webhook_id: webhook_id(&mut fields)? }),
        "list" => Ok(Manage::List),
        "recover" => recover(fields),
        "redeliver" => {
            fields.require(&["webhook_id", "envelope_id"])?;
            let webhook_id = fields.text("webhook_id")?;
            Ok(Manage::Redeliver { webhook_id, envelope_id: fields.text("envelope_id")? })
        }
        "rotate_secret" => Ok(Manage::RotateSecret { webhook_id: webhook_id(&mut fields)? }),
        _ => Err(invalid("action", ACTIONS)),
    }
}

fn webhook_id(fields: &mut Fields) -> Result<String, Refusal> {
    fields.require(&["webhook_id"])?;
    fields.text("webhook_id")
}

fn deliveries(mut fields: Fields) -> Result<Manage, Refusal> {
    let webhook_id = webhook_id(&mut fields)?;
    let limit = fields.optional_number("limit", LIMITS)?.unwrap_or(LIMIT_DEFAULT);
    let cursor = fields.optional_text("cursor")?;
    let cursor = cursor.map(|text| text.parse::<Cursor>()).transpose();
    let cursor = cursor.map_err(|fault| invalid("cursor", fault.to_string()))?;
    let state = match fields.optional_text("state")? {
        None => None,
        Some(name) => {
            Some(DeliveryState::from_name(&name).ok_or_else(|| invalid("state", STATES))?)
        }
    };
    Ok(Manage::Deliveries(Deliveries { webhook_id, state, limit, cursor }))
}

fn recover(mut fields: Fields) -> Result<Manage, Refusal> {
    fields.require(&["webhook_id", "since"])?;
    let webhook_id = fields.text("webhook_id")?;
    let since = instant("since", &fields.text("since")?)?;
    let until = fields.optional_text("until")?;
    let until = until.map(|text| instant("until", &text)).transpose()?;
    if until.is_some_and(|until| until < since) {
        return Err(invalid("until", "must not be before since"));
    }
    let dry_run = fields.flag("dry_run")?;
    Ok(Manage::Recover(Recover { webhook_id, since, until, dry_run }))
}

fn instant(field: &'static str, text: &str) -> Result<Timestamp, Refusal> {
    text.parse().map_err(|fault: TimeFault| invalid(field, fault.to_string()))
}

const ACTIONS: &str =
    "must be list, delete, deliveries, enable, recover, redeliver or rotate_secret";
const STATES: &str = "must be pending, succeeded, failed or exhausted";
const LIMITS: RangeInclusive<u32> = 1..=100;
const LIMIT_DEFAULT: u32 = 20;
