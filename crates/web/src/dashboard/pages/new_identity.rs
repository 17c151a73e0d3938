//! The page that activates a further identity in the account.

use actix_web::HttpRequest;
use askama::Template;
use sealpost_api::admit_activation;
use sealpost_service::Owner;

use super::activation_of;
use crate::dashboard::{
    forms::{Draft, Form, Rejection, SingleUse},
    response::{Flash, PageResponse},
    session::SignedInUser,
};

#[derive(Template)]
#[template(path = "dashboard/new_identity.html")]
struct NewIdentityPage<'a> {
    base: &'a str,
    form_token: &'a str,
    draft: Draft<'a>,
}

pub(crate) async fn show(user: SignedInUser) -> PageResponse {
    page(&user, Draft::default())
}

pub(crate) async fn submit(
    user: SignedInUser,
    request: HttpRequest,
    form: Form,
) -> Result<PageResponse, PageResponse> {
    user.check(&form)?;
    let reject = |rejection: Rejection| Ok(page(&user, Draft::rejected(&form, &rejection)));
    let input = match activation_of(&form) {
        Ok(input) => input,
        Err(rejection) => return reject(rejection),
    };
    if let Err(problem) = admit_activation(&user.app.api, &request) {
        return reject(Rejection::from(&problem));
    }
    let single_use = SingleUse::begin(&user.app, user.frame(), &form).await?;
    let sealpost = &user.app.api.sealpost;
    let activate = async move |owner: &Owner<'_>| {
        Ok(sealpost.accounts.activate(Some(owner.session()), input, owner.source()).await)
    };
    match user.ask(activate).await? {
        Ok(key) => {
            let page = format!("/dashboard/keys/{}", key.api_key_id);
            Ok(single_use.done(Flash::notice(&page, "The identity is created.")).await)
        }
        Err(error) => {
            let rejection = user.rejection(&error)?;
            single_use.release().await?;
            reject(rejection)
        }
    }
}

fn page(user: &SignedInUser, draft: Draft<'_>) -> PageResponse {
    let main = NewIdentityPage { base: user.base(), form_token: &user.form_token, draft };
    PageResponse::of_form(user.frame(), TITLE, draft, &main)
}

const TITLE: &str = "New identity";
