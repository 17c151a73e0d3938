//! `POST /v1/badges/issue`: a badge on the key's newest assessment.

use actix_web::web;
use sealpost_domain::Refusal;
use sealpost_service::{Issue, Issued, Purpose};

use super::{LimitedAnswer, ask_as_key};
use crate::http::{ApiState, caller::Caller, fields::Fields};

pub(crate) async fn issue_badge(app: web::Data<ApiState>, caller: Caller) -> LimitedAnswer<Issued> {
    let body = caller.body.and_then(read);
    let credentials = &caller.credentials;
    ask_as_key(&app, credentials, Purpose::Execute, body, async |who, badge| {
        app.sealpost.issue_badge(who, badge).await
    })
    .await
}

fn read(mut fields: Fields) -> Result<Issue, Refusal> {
    Ok(Issue {
        jurisdiction: fields.optional_text("jurisdiction")?,
        disclose_did: fields.flag("disclose_did")?,
        dry_run: fields.flag("dry_run")?,
    })
}
