//! The page that exports the account: a form for the login secret, and the file with the data.

use actix_web::{HttpRequest, HttpResponse, Responder as _};
use askama::Template;
use sealpost_api::exported_account;

use crate::{
    dashboard::session::SignedInUser,
    html::{
        PageResponse, PageResult,
        forms::{Draft, Form, respond},
    },
};

#[derive(Template)]
#[template(path = "dashboard/export.html")]
struct ExportPage<'a> {
    user: &'a SignedInUser,
    needs_secret: bool,
    draft: Draft<'a>,
}

pub(crate) async fn show(user: SignedInUser) -> PageResult {
    page(&user, Draft::default()).await
}

/// Responds with the file.
pub(crate) async fn submit(
    user: SignedInUser,
    request: HttpRequest,
    form: Form,
) -> Result<HttpResponse, PageResponse> {
    user.check(&form)?;
    let owner = match user.confirm(&request, &form).await {
        Ok(owner) => owner,
        Err(fault) => {
            let page = respond(&form, Err(fault), async |draft| page(&user, draft).await).await?;
            return Ok(page.respond_to(&request));
        }
    };
    let begun = user.app.api.sealpost.accounts.begin_export(owner).await;
    Ok(exported_account(&user.app.api, begun.map_err(|error| user.error_response(&error))?))
}

async fn page(user: &SignedInUser, draft: Draft<'_>) -> PageResult {
    let main = ExportPage { user, needs_secret: user.needs_secret().await?, draft };
    Ok(PageResponse::for_form(user.frame(), "Export your data", draft, &main))
}
