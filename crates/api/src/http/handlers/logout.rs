//! `POST /v1/auth/logout`: ends this session, or all of the account's.

use actix_web::web;
use schemars::JsonSchema;
use sealpost_domain::Refusal;
use sealpost_service::Scope;
use serde::Serialize;

use super::Answer;
use crate::http::{ApiState, caller::Visitor, fields::Fields, throttle};

/// A session that has ended.
#[derive(JsonSchema, Serialize)]
pub(crate) struct LoggedOut {
    /// Always `true`.
    #[schemars(extend("const" = true))]
    logged_out: bool,
}

pub(crate) async fn logout(app: web::Data<ApiState>, visitor: Visitor) -> Answer<LoggedOut> {
    let scope = visitor.body.and_then(read);
    throttle::admit_account(&app, visitor.token.as_deref(), &scope).await?;
    let session = app.sealpost.authenticate_session(visitor.token.as_deref()).await?;
    app.sealpost.logout(&session, scope?).await?;
    Ok(web::Json(LoggedOut { logged_out: true }))
}

fn read(mut fields: Fields) -> Result<Scope, Refusal> {
    Ok(if fields.flag("all")? { Scope::Account } else { Scope::Session })
}
