//! The page that activates a further identity (an API key with its DID) in the account.

use actix_web::HttpRequest;
use askama::Template;
use sealpost_api::admit_activation;
use sealpost_service::Owner;

use super::activation_of;
use crate::dashboard::{
    forms::{Form, Rejection},
    response::PageResponse,
    session::SignedInUser,
};

#[derive(Template)]
#[template(path = "dashboard/new_identity.html")]
struct NewIdentityPage<'a> {
    base: &'a str,
    form_token: &'a str,
    label: &'a str,
    handle: &'a str,
    problem: Option<&'a str>,
}

pub(crate) async fn show(user: SignedInUser) -> PageResponse {
    let (base, form_token) = (user.base(), &*user.form_token);
    let main = NewIdentityPage { base, form_token, label: "", handle: "", problem: None };
    PageResponse::ok(user.frame(), TITLE, &main)
}

pub(crate) async fn submit(
    user: SignedInUser,
    request: HttpRequest,
    form: Form,
) -> Result<PageResponse, PageResponse> {
    user.check(&form)?;
    let reject = |rejection: Rejection| {
        let main = NewIdentityPage {
            base: user.base(),
            form_token: &user.form_token,
            label: form.text("label"),
            handle: form.text("handle"),
            problem: Some(&rejection.text),
        };
        Ok(PageResponse::rejected(user.frame(), TITLE, &rejection, &main))
    };
    let input = match activation_of(&form) {
        Ok(input) => input,
        Err(rejection) => return reject(rejection),
    };
    if let Err(problem) = admit_activation(&user.app.api, &request) {
        return reject(Rejection::from(&problem));
    }
    let sealpost = &user.app.api.sealpost;
    let activate = async move |owner: &Owner<'_>| {
        Ok(sealpost.activate(Some(owner.session()), input, owner.source()).await)
    };
    let made = user.ask(activate).await?;
    match made {
        Ok(key) => {
            Ok(PageResponse::redirect(user.site(), &format!("/dashboard/keys/{}", key.api_key_id)))
        }
        Err(error) => match error.refusal() {
            Some(refusal) => reject(Rejection::from(refusal)),
            None => Err(PageResponse::service_error(user.site(), &error)),
        },
    }
}

const TITLE: &str = "New identity";
