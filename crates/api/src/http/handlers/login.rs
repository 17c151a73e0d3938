//! `POST /v1/auth/login`: a session for an account.

use actix_web::web;
use sealpost_domain::Refusal;
use sealpost_service::{LoggedIn, Login};

use super::Answer;
use crate::http::{ApiState, caller::Visitor, fields::Fields};

pub(crate) async fn login(app: web::Data<ApiState>, visitor: Visitor) -> Answer<LoggedIn> {
    let login = visitor.body.and_then(read)?;
    Ok(web::Json(app.sealpost.login(login).await?))
}

fn read(mut fields: Fields) -> Result<Login, Refusal> {
    fields.require(&["account_id", "login_secret"])?;
    Ok(Login { account_id: fields.text("account_id")?, login_secret: fields.text("login_secret")? })
}
