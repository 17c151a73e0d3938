//! The form that disables a webhook of an API key.

use actix_web::web;

use super::{KeyTab, finish, key_of};
use crate::{
    console::form::{ActFault, ActForm},
    dashboard::response::PageResponse,
};

pub(crate) async fn disable(
    act: ActForm,
    key: web::Path<String>,
) -> Result<PageResponse, PageResponse> {
    let id = key_of(&act.user, &key)?;
    let result = disable_webhook(&act).await;
    finish(&act, id, KeyTab::Webhooks, result).await
}

async fn disable_webhook(act: &ActForm) -> Result<&'static str, ActFault> {
    let reason = format!("reason-{}", act.form.text("form"));
    let webhook = act.form.text("webhook_id").parse();
    let webhook =
        webhook.map_err(|_malformed| ActFault::field(&reason, "This is not a webhook (wh_…)."))?;
    act.perform(move |operator| operator.disable_webhook(&webhook)).await?;
    Ok("The webhook is disabled.")
}
