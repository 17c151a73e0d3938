//! The page that revokes an identity. The user must type the API key, because a revocation is permanent.

use actix_web::{HttpRequest, web};
use askama::Template;
use sealpost_domain::{ApiKeyId, KeyStatus};
use sealpost_service::{KeyPage, KeyStanding, PendingCount};

use super::id_of;
use crate::{
    dashboard::{
        forms::SingleUse,
        session::{EndingUser, SignedInUser},
    },
    html::{
        Flash, PageResponse, PageResult,
        forms::{Draft, Form, FormRefusal, respond},
    },
};

#[derive(Template)]
#[template(path = "dashboard/revoke.html")]
struct RevokePage<'a> {
    user: &'a SignedInUser,
    key: &'a KeyStanding,
    pending: PendingCount,
    needs_secret: bool,
    draft: Draft<'a>,
}

pub(crate) async fn show(ending: EndingUser, key: web::Path<String>) -> PageResult {
    ending
        .run(|user| async move {
            let view = load(&user, &key).await?;
            if view.standing.status == KeyStatus::Revoked {
                let key = format!("/dashboard/keys/{}", view.standing.api_key_id);
                return Ok(PageResponse::redirect(user.site(), &key));
            }
            page(&user, &view, Draft::default()).await
        })
        .await
}

pub(crate) async fn submit(
    ending: EndingUser,
    key: web::Path<String>,
    request: HttpRequest,
    form: Form,
) -> PageResult {
    ending
        .run(|user| async move {
            let again =
                async |draft: Draft<'_>| page(&user, &load(&user, &key).await?, draft).await;
            let result = perform(&user, &key, &request, &form).await;
            respond(&form, result, again).await
        })
        .await
}

async fn perform(
    user: &SignedInUser,
    key: &str,
    request: &HttpRequest,
    form: &Form,
) -> Result<PageResponse, FormRefusal> {
    user.check(form)?;
    let id: ApiKeyId = id_of(user, key)?;
    if form.text("typed") != id.to_string() {
        let text = "The typed key does not match. Nothing was revoked.";
        return Err(FormRefusal::field("typed", text));
    }
    let owner = user.confirm(request, form).await?;
    match user.app.api.sealpost.accounts.revoke_key(owner, id).await {
        Ok(_) => {
            let page = format!("/dashboard/keys/{id}");
            let result = Flash::notice(&page, "The identity is revoked.");
            Ok(SingleUse::record(&user.app, form, result).await)
        }
        // The form may have been sent twice. A second revocation fails, and the browser then gets the response to the
        // first form.
        Err(error) => {
            let first = SingleUse::earlier(&user.app, form).await;
            let first = first.map(|first| first.redirect(&user.app));
            first.ok_or_else(|| user.error_response(&error).into())
        }
    }
}

async fn load(user: &SignedInUser, key: &str) -> Result<KeyPage, PageResponse> {
    let id = id_of(user, key)?;
    user.ask(async move |owner| owner.key(&id).await).await
}

async fn page(user: &SignedInUser, view: &KeyPage, draft: Draft<'_>) -> PageResult {
    let main = RevokePage {
        user,
        key: &view.standing,
        pending: view.pending,
        needs_secret: user.needs_secret().await?,
        draft,
    };
    let title = format!("Revoke {}", view.standing.label);
    Ok(PageResponse::for_form(user.frame(), &title, draft, &main))
}
