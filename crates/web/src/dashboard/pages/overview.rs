//! The first page of the dashboard: webhooks that need attention, and all identities of the account with their usage.

use askama::Template;
use sealpost_domain::{AccountId, KeyStatus, Label, Timestamp, WebhookStatus};
use sealpost_service::{KeyStanding, Truncated, WebhookView};

use crate::dashboard::{
    charts::{UsageMeter, usage_meters},
    response::PageResponse,
    session::SignedInUser,
    text::{ago, thousands},
};

#[derive(Template)]
#[template(path = "dashboard/overview.html")]
struct OverviewPage<'a> {
    base: &'a str,
    account_id: AccountId,
    now: Timestamp,
    unhealthy: Truncated<UnhealthyWebhook>,
    live: Vec<IdentityCard>,
    revoked: Vec<KeyStanding>,
    /// The number of identities on the page if the account has more. `None` if the page shows all.
    truncated_to: Option<usize>,
}

struct IdentityCard {
    key: KeyStanding,
    meters: [UsageMeter; 3],
    /// The number of webhooks that are disabled or failing.
    unhealthy: usize,
}

/// A webhook that is disabled or failing, with the label of its identity.
struct UnhealthyWebhook {
    webhook: WebhookView,
    label: Option<Label>,
}

pub(crate) async fn show(user: SignedInUser) -> Result<PageResponse, PageResponse> {
    let (account_id, keys, unhealthy) = user
        .ask(async |owner| {
            Ok((owner.account_id(), owner.keys().await?, owner.unhealthy_webhooks().await?))
        })
        .await?;
    let (base, now) = (user.base(), user.app.api.clock.now());
    let truncated_to = keys.has_more.then_some(keys.first.len());
    let unhealthy = unhealthy_webhooks(unhealthy, &keys.first);
    let (revoked, live): (Vec<_>, Vec<_>) =
        keys.first.into_iter().partition(|key| key.status == KeyStatus::Revoked);
    let card = |key: KeyStanding| {
        let of_key = unhealthy.first.iter().filter(|it| it.webhook.api_key_id == key.api_key_id);
        IdentityCard { meters: usage_meters(&key, &now), unhealthy: of_key.count(), key }
    };
    let live = live.into_iter().map(card).collect();
    let main = OverviewPage { base, account_id, now, unhealthy, live, revoked, truncated_to };
    Ok(PageResponse::ok(user.frame(), "Identities", &main))
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
