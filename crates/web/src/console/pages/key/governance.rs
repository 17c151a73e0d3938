//! The form that records a council action (a governance decision) on an API key or on its account.

use actix_web::web;
use sealpost_domain::GovernanceSubject;

use super::{key_of, path_of};
use crate::{console::form::ActForm, dashboard::response::PageResponse};

pub(crate) async fn submit(
    act: ActForm,
    key: web::Path<String>,
) -> Result<PageResponse, PageResponse> {
    let id = key_of(&act.user, &key)?;
    let subject = match act.form.text("subject") {
        "key" => GovernanceSubject::Key(id),
        "account" => {
            let shown = act.user.ask(move |operator| operator.show_key(&id)).await?;
            GovernanceSubject::Account(shown.account_id)
        }
        _ => return Err(act.invalid("Choose the key or its account.")),
    };
    let reason = act.reason().to_owned();
    match act.form.text("do") {
        "propose" => act.perform(move |operator| operator.propose(subject, &reason)).await?,
        "enforce" => act.perform(move |operator| operator.enforce(subject, &reason)).await?,
        "lift" => act.perform(move |operator| operator.lift(subject, &reason)).await?,
        _ => return Err(act.invalid("Choose an act.")),
    };
    Ok(act.done(&path_of(&id)))
}
