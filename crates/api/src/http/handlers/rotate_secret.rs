//! `POST /v1/auth/rotate-secret`: a new login secret for the session's account.

use actix_web::web;
use sealpost_service::SecretRotated;

use super::Answer;
use crate::http::{ApiState, caller::Visitor, throttle};

pub(crate) async fn rotate_secret(
    app: web::Data<ApiState>,
    visitor: Visitor,
) -> Answer<SecretRotated> {
    let body = visitor.body.map(drop);
    throttle::admit_account(&app, visitor.token.as_deref(), &body).await?;
    let session = app.sealpost.authenticate_session(visitor.token.as_deref()).await?;
    body?;
    Ok(web::Json(app.sealpost.rotate_login_secret(&session).await?))
}
