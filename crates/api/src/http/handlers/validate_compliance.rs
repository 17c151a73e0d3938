//! `POST /v1/compliance/validate`: how the key stands to a jurisdiction's compliance circuit.

use actix_web::web;
use sealpost_domain::Refusal;
use sealpost_service::{Purpose, Validate, Validated};

use super::{LimitedAnswer, ask_as_key};
use crate::http::{ApiState, caller::Caller, fields::Fields};

pub(crate) async fn validate_compliance(
    app: web::Data<ApiState>,
    caller: Caller,
) -> LimitedAnswer<Validated> {
    let body = caller.body.and_then(read);
    let credentials = &caller.credentials;
    ask_as_key(&app, credentials, Purpose::Manage, body, async |who, asked| {
        app.sealpost.validate(who, asked).await
    })
    .await
}

fn read(mut fields: Fields) -> Result<Validate, Refusal> {
    fields.require(&["jurisdiction"])?;
    let jurisdiction = fields.text("jurisdiction")?;
    Ok(Validate { jurisdiction, dry_run: fields.flag("dry_run")? })
}
