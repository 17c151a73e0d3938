//! The page that activates a further identity in the account.

use actix_web::HttpRequest;
use askama::Template;
use sealpost_api::admit_activation;

use super::activation_of;
use crate::{
    dashboard::{forms::SingleUse, session::SignedInUser},
    html::{
        Flash, PageResponse, PageResult, Rejection,
        forms::{Draft, Form, respond},
    },
};

#[derive(Template)]
#[template(path = "dashboard/new_identity.html")]
struct NewIdentityPage<'a> {
    user: &'a SignedInUser,
    draft: Draft<'a>,
}

pub(crate) async fn show(user: SignedInUser) -> PageResponse {
    page(&user, Draft::default())
}

pub(crate) async fn submit(user: SignedInUser, request: HttpRequest, form: Form) -> PageResult {
    let result = async {
        user.check(&form)?;
        let input = activation_of(&form)?;
        admit_activation(&user.app.api, &request).map_err(|problem| Rejection::from(&problem))?;
        let single_use = SingleUse::begin(&user.app, user.frame(), &form).await?;
        let (owner, accounts) = (user.owner().await?, &user.app.api.sealpost.accounts);
        let activated = accounts.activate(Some(owner.session()), input, owner.source()).await;
        let key = single_use.unless_refused(&user, activated).await?;
        let page = format!("/dashboard/keys/{}", key.api_key_id);
        Ok(single_use.done(Flash::notice(&page, "The identity is created.")).await)
    };
    respond(&form, result.await, async |draft| Ok(page(&user, draft))).await
}

fn page(user: &SignedInUser, draft: Draft<'_>) -> PageResponse {
    let main = NewIdentityPage { user, draft };
    PageResponse::for_form(user.frame(), TITLE, draft, &main)
}

const TITLE: &str = "New identity";
