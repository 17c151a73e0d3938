//! The first page of the dashboard: webhooks that need attention, and all identities of the account with their usage.

use std::time::Duration;

use askama::Template;
use sealpost_domain::{ApiKeyId, KeyStatus, Label, Timestamp, WebhookStatus};
use sealpost_service::{KeyStanding, Truncated, WebhookView};

use crate::dashboard::{
    charts::{UsageMeter, usage_meters},
    response::PageResponse,
    session::SignedInUser,
    text::{ago, failure, short_id, thousands},
};

#[derive(Template)]
#[template(path = "dashboard/overview.html")]
struct OverviewPage<'a> {
    base: &'a str,
    now: Timestamp,
    contact: Option<&'a str>,
    unhealthy: Truncated<UnhealthyWebhook>,
    has_webhooks: bool,
    first_steps: Option<FirstSteps>,
    live: Vec<IdentityCard>,
    revoked: Vec<KeyStanding>,
    /// The number of identities that the page shows, if the account has more than that. `None` if the page shows all.
    truncated_to: Option<usize>,
}

struct IdentityCard {
    key: KeyStanding,
    meters: [UsageMeter; 3],
    /// The number of webhooks that are disabled or failing.
    unhealthy: usize,
}

/// The first steps of a new account: to register a webhook, and to send a message. The page shows them until both are
/// done.
struct FirstSteps {
    key: ApiKeyId,
    has_webhook: bool,
    has_sent: bool,
}

/// A webhook that is disabled or failing, with the label of its identity.
struct UnhealthyWebhook {
    webhook: WebhookView,
    label: Option<Label>,
}

pub(crate) async fn show(user: SignedInUser) -> Result<PageResponse, PageResponse> {
    let (keys, unhealthy) = user
        .ask(async |owner| Ok((owner.keys().await?, owner.unhealthy_webhooks().await?)))
        .await?;
    let (base, now) = (user.base(), user.app.api.clock.now());
    let truncated_to = keys.has_more.then_some(keys.first.len());
    let unhealthy = unhealthy_webhooks(unhealthy, &keys.first);
    let first_steps = first_steps(&keys.first, now);
    let has_webhooks = keys.first.iter().any(|key| key.webhooks > 0);
    let (revoked, live): (Vec<_>, Vec<_>) =
        keys.first.into_iter().partition(|key| key.status == KeyStatus::Revoked);
    let card = |key: KeyStanding| {
        let of_key = unhealthy.first.iter().filter(|it| it.webhook.api_key_id == key.api_key_id);
        IdentityCard { meters: usage_meters(&key.usage, now), unhealthy: of_key.count(), key }
    };
    let live = live.into_iter().map(card).collect();
    let main = OverviewPage {
        base,
        now,
        contact: user.app.sales_contact.as_deref(),
        unhealthy,
        has_webhooks,
        first_steps,
        live,
        revoked,
        truncated_to,
    };
    Ok(PageResponse::ok(user.frame(), "Overview", &main))
}

/// Returns the first steps of a new account, and which of them are done. Returns `None` if all are done, if the account
/// is older than a week, or if no key is active.
fn first_steps(keys: &[KeyStanding], now: Timestamp) -> Option<FirstSteps> {
    let newest = keys.iter().find(|key| key.status == KeyStatus::Active)?;
    let has_webhook = keys.iter().any(|key| key.webhooks > 0);
    let has_sent = keys.iter().any(|key| key.usage.month.used > 0);
    let is_done = has_webhook && has_sent;
    let is_new = keys.iter().all(|key| now.since(key.created_at) < NEW_ACCOUNT);
    (is_new && !is_done).then_some(FirstSteps { key: newest.api_key_id, has_webhook, has_sent })
}

fn unhealthy_webhooks(
    webhooks: Truncated<WebhookView>,
    keys: &[KeyStanding],
) -> Truncated<UnhealthyWebhook> {
    let with_label = |webhook: WebhookView| {
        let key = keys.iter().find(|key| key.api_key_id == webhook.api_key_id);
        UnhealthyWebhook { label: key.map(|key| key.label.clone()), webhook }
    };
    let first = webhooks.first.into_iter().map(with_label).collect();
    Truncated { first, has_more: webhooks.has_more }
}

/// Maximum age of an account to which the page shows the first steps.
const NEW_ACCOUNT: Duration = Duration::from_hours(7 * 24);
