//! The form that records a council action (a governance decision) on an API key or on its account.

use actix_web::web;
use sealpost_domain::{ApiKeyId, GovernanceSubject};

use super::{KeyTab, finish, key_of};
use crate::{
    console::form::{ActFault, ActForm},
    dashboard::response::PageResponse,
};

pub(crate) async fn submit(
    act: ActForm,
    key: web::Path<String>,
) -> Result<PageResponse, PageResponse> {
    let id = key_of(&act.user, &key)?;
    let result = decide(&act, id).await;
    finish(&act, id, KeyTab::Governance, result).await
}

async fn decide(act: &ActForm, id: ApiKeyId) -> Result<&'static str, ActFault> {
    let subject = match act.form.text("subject") {
        "key" => GovernanceSubject::Key(id),
        "account" => {
            let shown = act.user.ask(move |operator| operator.show_key(&id)).await?;
            GovernanceSubject::Account(shown.account_id)
        }
        _ => return Err(ActFault::field("subject", "Choose the key or its account.")),
    };
    let reason = act.reason()?;
    match act.form.text("do") {
        "propose" => act.perform(move |operator| operator.propose(subject, &reason)).await?,
        "enforce" => act.perform(move |operator| operator.enforce(subject, &reason)).await?,
        "lift" => act.perform(move |operator| operator.lift(subject, &reason)).await?,
        _ => return Err(ActFault::field("subject", "Choose an act.")),
    };
    Ok(match act.form.text("do") {
        "propose" => "The council action is proposed.",
        "enforce" => "The council action is enforced.",
        _ => "The council action is lifted.",
    })
}
