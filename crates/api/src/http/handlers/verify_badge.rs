//! `POST /v1/badges/verify`: whether a credential is a badge of this service, and whether it holds.

use actix_web::web;
use sealpost_domain::Refusal;
use sealpost_service::{BadgeVerified, Purpose};

use super::{LimitedAnswer, ask_as_key};
use crate::http::{ApiState, caller::Caller, fields::Fields};

pub(crate) async fn verify_badge(
    app: web::Data<ApiState>,
    caller: Caller,
) -> LimitedAnswer<BadgeVerified> {
    let body = caller.body.and_then(read);
    let credentials = &caller.credentials;
    ask_as_key(&app, credentials, Purpose::Manage, body, async |who, badge| {
        app.sealpost.verify_badge(who, badge).await
    })
    .await
}

fn read(mut fields: Fields) -> Result<String, Refusal> {
    fields.require(&["credential"])?;
    fields.text("credential")
}
