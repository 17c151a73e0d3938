//! One webhook: whether it takes what it is sent, what became of each attempt, and what can be done about it.

mod act;

use actix_web::web;
use askama::Template;
use sealpost_domain::{DisabledReason, KeyStatus, WebhookStatus};
use sealpost_service::{
    Cursor, Deliveries, DeliveriesPage, DeliveryState, Manage, Managed, WebhookView,
};
use serde::Deserialize;

pub(crate) use act::{act, register};

use super::key_of;
use crate::dashboard::{
    page::Page,
    show::{when, why_no_change},
    signed_in::SignedIn,
};

#[derive(Template)]
#[template(path = "dashboard/webhook.html")]
struct WebhookPage<'a> {
    base: &'a str,
    form_token: &'a str,
    key: &'a str,
    key_status: KeyStatus,
    hook: &'a WebhookView,
    log: DeliveriesPage,
    states: [Filter; 5],
    state: &'a str,
    said: Option<String>,
}

/// One choice of what the log shows.
struct Filter {
    name: &'static str,
    value: &'static str,
    is_chosen: bool,
}

/// What the page's address may say.
#[derive(Default, Deserialize)]
pub(crate) struct Query {
    #[serde(default)]
    state: String,
    #[serde(default)]
    cursor: String,
}

pub(crate) async fn show(
    who: SignedIn,
    path: web::Path<(String, String)>,
    query: web::Query<Query>,
) -> Result<Page, Page> {
    let (key, webhook_id) = path.into_inner();
    look(&who, &key, &webhook_id, &query, None).await
}

/// The page, with what was just done: it says so in the answer to the form alone, where no link can make it up.
async fn look(
    who: &SignedIn,
    key: &str,
    webhook_id: &str,
    query: &Query,
    said: Option<String>,
) -> Result<Page, Page> {
    let id = key_of(who, key)?;
    let asked = Deliveries {
        webhook_id: webhook_id.to_owned(),
        state: DeliveryState::from_name(&query.state),
        limit: ENTRIES,
        cursor: query.cursor.parse::<Cursor>().ok(),
    };
    let state = asked.state.map_or("", DeliveryState::as_str);
    let (key_status, hooks, log) = who
        .ask(async move |owner| {
            let status = owner.standing(&id).await?.status;
            let hooks = owner.manage(&id, Manage::List).await?;
            Ok((status, hooks, owner.manage(&id, Manage::Deliveries(asked)).await?))
        })
        .await?;
    let (Managed::Listed { webhooks }, Managed::Deliveries(log)) = (hooks, log) else {
        return Err(Page::broken(who.place()));
    };
    let hook = webhooks.iter().find(|hook| hook.webhook_id.to_string() == webhook_id);
    let hook = hook.ok_or_else(|| Page::not_found(who.place()))?;
    let filter = |(name, value)| Filter { name, value, is_chosen: value == state };
    let main = WebhookPage {
        base: who.base(),
        form_token: &who.form_token,
        key,
        key_status,
        hook,
        log,
        states: FILTERS.map(filter),
        state,
        said,
    };
    Ok(Page::show(who.frame(), "Webhook", &main))
}

/// Why the service disabled it, as a sentence.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates lend what they show")]
fn why(reason: &DisabledReason) -> &'static str {
    match reason {
        DisabledReason::Failing => "it has met nothing but failures for days.",
        DisabledReason::Gone => "it answered 410 Gone.",
    }
}

const FILTERS: [(&str, &str); 5] = [
    ("all", ""),
    ("pending", "pending"),
    ("succeeded", "succeeded"),
    ("failed", "failed"),
    ("exhausted", "exhausted"),
];
/// Entries of a page.
const ENTRIES: u32 = 25;
