//! The page that revokes an identity. The user must type the API key, because a revocation is permanent.

use actix_web::{HttpRequest, web};
use askama::Template;
use sealpost_domain::KeyStatus;
use sealpost_service::{KeyPage, KeyStanding, PendingCount};

use super::key_of;
use crate::dashboard::{
    forms::{Draft, Form, Rejection, SingleUse},
    response::{Flash, PageResponse},
    session::{EndingUser, SignedInUser},
};

#[derive(Template)]
#[template(path = "dashboard/revoke.html")]
struct RevokePage<'a> {
    base: &'a str,
    form_token: &'a str,
    key: &'a KeyStanding,
    pending: PendingCount,
    needs_secret: bool,
    draft: Draft<'a>,
}

pub(crate) async fn show(
    ending: EndingUser,
    key: web::Path<String>,
) -> Result<PageResponse, PageResponse> {
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
) -> Result<PageResponse, PageResponse> {
    ending
        .run(|user| async move {
            user.check(&form)?;
            let id = key_of(&user, &key)?;
            if form.text("typed") != id.to_string() {
                let rejection =
                    Rejection::field("typed", "The typed key does not match. Nothing was revoked.");
                return reject(&user, &key, Draft::rejected(&form, &rejection)).await;
            }
            let owner = match user.confirm(&request, &form).await? {
                Ok(owner) => owner,
                Err(rejection) => {
                    return reject(&user, &key, Draft::rejected(&form, &rejection)).await;
                }
            };
            match user.app.api.sealpost.accounts.revoke_key(owner, id).await {
                Ok(_) => {
                    let page = format!("/dashboard/keys/{id}");
                    let result = Flash::notice(&page, "The identity is revoked.");
                    Ok(SingleUse::record(&user.app, &form, result).await)
                }
                // The form may have been sent twice. A second revocation fails, and the browser then gets the response
                // to the first form.
                Err(error) => {
                    let first = SingleUse::earlier(&user.app, &form).await;
                    let first = first.map(|first| first.redirect(&user.app));
                    first.ok_or_else(|| user.error_response(&error))
                }
            }
        })
        .await
}

async fn load(user: &SignedInUser, key: &str) -> Result<KeyPage, PageResponse> {
    let id = key_of(user, key)?;
    user.ask(async move |owner| owner.key(&id).await).await
}

async fn reject(
    user: &SignedInUser,
    key: &str,
    draft: Draft<'_>,
) -> Result<PageResponse, PageResponse> {
    page(user, &load(user, key).await?, draft).await
}

async fn page(
    user: &SignedInUser,
    view: &KeyPage,
    draft: Draft<'_>,
) -> Result<PageResponse, PageResponse> {
    let main = RevokePage {
        base: user.base(),
        form_token: &user.form_token,
        key: &view.standing,
        pending: view.pending,
        needs_secret: user.needs_secret().await?,
        draft,
    };
    let title = format!("Revoke {}", view.standing.label);
    Ok(PageResponse::of_form(user.frame(), &title, draft, &main))
}
