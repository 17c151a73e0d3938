//! The form that changes the state of an API key.

use actix_web::web;

use super::{key_of, path_of};
use crate::{console::form::ActForm, dashboard::response::PageResponse};

pub(crate) async fn submit(
    act: ActForm,
    key: web::Path<String>,
) -> Result<PageResponse, PageResponse> {
    let id = key_of(&act.user, &key)?;
    match act.form.text("do") {
        "deactivate" => {
            act.perform(move |operator| operator.deactivate_key(&id)).await.map(drop)?;
        }
        "reactivate" => {
            act.perform(move |operator| operator.reactivate_key(&id)).await.map(drop)?;
        }
        "rotate" => act.perform(move |operator| operator.rotate_key(&id)).await.map(drop)?,
        "revoke" => {
            if act.form.text("typed") != id.to_string() {
                return Err(act.invalid("The typed key does not match. Nothing was revoked."));
            }
            act.perform(move |operator| operator.revoke_key(&id)).await.map(drop)?;
        }
        _ => return Err(act.invalid("Choose an act.")),
    }
    Ok(act.done(&path_of(&id)))
}
