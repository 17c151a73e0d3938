//! The form that disables a webhook of an API key.

use actix_web::web;

use super::{key_of, path_of};
use crate::{console::form::ActForm, dashboard::response::PageResponse};

pub(crate) async fn disable(
    act: ActForm,
    key: web::Path<String>,
) -> Result<PageResponse, PageResponse> {
    let id = key_of(&act.user, &key)?;
    let webhook = act.form.text("webhook_id").parse();
    let webhook = webhook.map_err(|_malformed| act.invalid("This is not a webhook (wh_…)."))?;
    act.perform(move |operator| operator.disable_webhook(&webhook)).await?;
    Ok(act.done(&path_of(&id)))
}
