//! The forms that change the state of an API key.

use actix_web::web;
use sealpost_domain::ApiKeyId;

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
    let result = change(&act, id).await;
    finish(&act, id, KeyTab::State, result).await
}

async fn change(act: &ActForm, id: ApiKeyId) -> Result<&'static str, ActFault> {
    Ok(match act.form.text("do") {
        "deactivate" => {
            act.perform(move |operator| operator.deactivate_key(&id)).await.map(drop)?;
            "The key is deactivated."
        }
        "reactivate" => {
            act.perform(move |operator| operator.reactivate_key(&id)).await.map(drop)?;
            "The key is active again."
        }
        "rotate" => {
            act.perform(move |operator| operator.rotate_key(&id)).await.map(drop)?;
            "The sealing key is replaced."
        }
        "revoke" => {
            if act.form.text("typed") != id.to_string() {
                let text = "The typed key does not match. Nothing was revoked.";
                return Err(ActFault::field("typed", text));
            }
            act.perform(move |operator| operator.revoke_key(&id)).await.map(drop)?;
            "The key is permanently revoked."
        }
        _ => return Err(ActFault::field("reason-state", "Choose an act.")),
    })
}
