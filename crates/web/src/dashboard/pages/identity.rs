//! The page of an identity: its data, usage, daily counts, webhooks and governance.

use actix_web::web;
use askama::Template;
use sealpost_domain::KeyStatus;
use sealpost_service::{
    KeyPage, KeyStanding, Manage, Managed, PendingCount, WebhookList, WebhookView,
};

use super::key_of;
use crate::dashboard::{
    charts::{ActivityChart, UsageMeter, usage_meters},
    forms::Rejection,
    response::PageResponse,
    session::SignedInUser,
    text::{when, why_no_change},
};

#[derive(Template)]
#[template(path = "dashboard/identity.html")]
struct IdentityPage<'a> {
    base: &'a str,
    form_token: &'a str,
    key: &'a KeyStanding,
    meters: [UsageMeter; 3],
    chart: ActivityChart,
    pending: PendingCount,
    webhooks: &'a [WebhookView],
    url: &'a str,
    problem: Option<&'a str>,
}

/// The data of the page, as the service returned it.
pub(super) struct IdentityView {
    pub(super) key: KeyPage,
    pub(super) webhooks: Vec<WebhookView>,
}

pub(crate) async fn show(
    user: SignedInUser,
    key: web::Path<String>,
) -> Result<PageResponse, PageResponse> {
    let view = load(&user, &key).await?;
    let title = &view.key.standing.label;
    Ok(PageResponse::ok(user.frame(), title.as_str(), &page(&user, &view, "", None)))
}

/// Shows the page with the rejected URL of a new webhook and the reason.
pub(super) async fn reject_webhook(
    user: &SignedInUser,
    key: &str,
    url: &str,
    rejection: &Rejection,
) -> Result<PageResponse, PageResponse> {
    let view = load(user, key).await?;
    let main = page(user, &view, url, Some(&rejection.text));
    Ok(PageResponse::rejected(user.frame(), view.key.standing.label.as_str(), rejection, &main))
}

pub(super) async fn load(user: &SignedInUser, key: &str) -> Result<IdentityView, PageResponse> {
    let key = key_of(user, key)?;
    user.ask(async move |owner| {
        let page = owner.key(&key).await?;
        let webhooks = match owner.manage(&key, Manage::List).await? {
            Managed::Listed(WebhookList { webhooks }) => webhooks,
            _ => Vec::new(),
        };
        Ok(IdentityView { key: page, webhooks })
    })
    .await
}

fn page<'a>(
    user: &'a SignedInUser,
    view: &'a IdentityView,
    url: &'a str,
    problem: Option<&'a str>,
) -> IdentityPage<'a> {
    let key = &view.key.standing;
    IdentityPage {
        base: user.base(),
        form_token: &user.form_token,
        meters: usage_meters(key),
        chart: ActivityChart::new(&view.key.days),
        pending: view.key.pending,
        webhooks: &view.webhooks,
        key,
        url,
        problem,
    }
}
