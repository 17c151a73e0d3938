//! One identity: what it is, what it may, what it did, and where its notices go.

use actix_web::web;
use askama::Template;
use sealpost_domain::KeyStatus;
use sealpost_service::{KeyPage, KeyStanding, Manage, Managed, PendingCount, WebhookView};

use super::key_of;
use crate::dashboard::{
    chart::Chart,
    page::Page,
    refused::Refused,
    show::{Bar, bars, when, why_no_change},
    signed_in::SignedIn,
};

#[derive(Template)]
#[template(path = "dashboard/key.html")]
struct IdentityPage<'a> {
    base: &'a str,
    form_token: &'a str,
    key: &'a KeyStanding,
    bars: [Bar; 3],
    chart: Chart,
    waiting: PendingCount,
    webhooks: &'a [WebhookView],
    url: &'a str,
    problem: Option<&'a str>,
}

/// Everything that the page shows.
pub(super) struct Seen {
    pub(super) page: KeyPage,
    pub(super) webhooks: Vec<WebhookView>,
}

pub(crate) async fn show(who: SignedIn, key: web::Path<String>) -> Result<Page, Page> {
    let seen = look(&who, &key).await?;
    let title = &seen.page.standing.label;
    Ok(Page::show(who.frame(), title.as_str(), &page(&who, &seen, "", None)))
}

/// The page again, with what was wrong about the URL that was to be registered.
pub(super) async fn show_again(
    who: &SignedIn,
    key: &str,
    url: &str,
    refused: &Refused,
) -> Result<Page, Page> {
    let seen = look(who, key).await?;
    let main = page(who, &seen, url, Some(&refused.text));
    Ok(Page::again(who.frame(), seen.page.standing.label.as_str(), refused, &main))
}

pub(super) async fn look(who: &SignedIn, key: &str) -> Result<Seen, Page> {
    let key = key_of(who, key)?;
    who.ask(async move |owner| {
        let page = owner.key(&key).await?;
        let webhooks = match owner.manage(&key, Manage::List).await? {
            Managed::Listed { webhooks } => webhooks,
            _ => Vec::new(),
        };
        Ok(Seen { page, webhooks })
    })
    .await
}

fn page<'a>(
    who: &'a SignedIn,
    seen: &'a Seen,
    url: &'a str,
    problem: Option<&'a str>,
) -> IdentityPage<'a> {
    let key = &seen.page.standing;
    IdentityPage {
        base: who.base(),
        form_token: &who.form_token,
        bars: bars(key),
        chart: Chart::of(&seen.page.days),
        waiting: seen.page.waiting,
        webhooks: &seen.webhooks,
        key,
        url,
        problem,
    }
}
