//! The first page of the dashboard: webhooks that need attention, the totals of the account, and its newest identities.

use std::time::Duration;

use askama::Template;
use sealpost_domain::{ApiKeyId, KeyStatus, Label, Timestamp};
use sealpost_service::{KeyStanding, ListSent, Owner, Truncated, WebhookView};

use crate::{
    dashboard::{
        charts::{UsageMeter, usage_meters},
        health::{WebhookState, state_of, why_unhealthy},
        session::SignedInUser,
        text::{ago, elapsed, url_parts},
    },
    html::{
        PageResponse, PageResult,
        text::{short_id, thousands},
    },
};

#[derive(Template)]
#[template(path = "dashboard/overview.html")]
struct OverviewPage<'a> {
    base: &'a str,
    now: Timestamp,
    contact: Option<&'a str>,
    unhealthy: Truncated<UnhealthyWebhook>,
    /// The number of paused webhooks.
    paused: usize,
    /// True if the account has more webhooks than were read to count `paused`.
    has_more_webhooks: bool,
    figures: Figures,
    first_steps: Option<FirstSteps>,
    live: Vec<IdentityRow>,
    /// True if the account has identities that the page does not show.
    has_more: bool,
}

/// The figures of the identities that are not revoked.
struct Figures {
    /// The words before each figure: `at least ` if the account has more identities than were read, otherwise empty.
    at_least: &'static str,
    identities: usize,
    webhooks: u64,
    sent_this_month: u64,
    waiting: u64,
    /// True if more envelopes wait for the first webhook of their recipient than `waiting` counts. The service counts
    /// up to a maximum for each identity.
    waiting_more: bool,
}

/// An identity in a list.
pub(super) struct IdentityRow {
    pub(super) key: KeyStanding,
    pub(super) meters: [UsageMeter; 3],
    /// The number of webhooks that are disabled or failing.
    pub(super) unhealthy: usize,
}

impl IdentityRow {
    /// Returns the rows of the identities that are not revoked, and the revoked identities.
    pub(super) fn split(
        keys: Vec<KeyStanding>,
        unhealthy: &[WebhookView],
        now: Timestamp,
    ) -> (Vec<Self>, Vec<KeyStanding>) {
        let (revoked, live): (Vec<_>, Vec<_>) =
            keys.into_iter().partition(|key| key.status == KeyStatus::Revoked);
        let row = |key: KeyStanding| {
            let of_key = unhealthy.iter().filter(|it| it.api_key_id == key.api_key_id);
            let of_key = of_key.filter(|it| state_of(it).is_unhealthy());
            Self { meters: usage_meters(&key.usage, now), unhealthy: of_key.count(), key }
        };
        (live.into_iter().map(row).collect(), revoked)
    }
}

impl Figures {
    fn new(live: &[IdentityRow], has_more: bool) -> Self {
        let sum = |count: fn(&KeyStanding) -> u64| live.iter().map(|row| count(&row.key)).sum();
        Self {
            at_least: if has_more { "at least " } else { "" },
            identities: live.len(),
            webhooks: sum(|key| key.webhooks),
            sent_this_month: sum(|key| key.usage.month.used.into()),
            waiting: sum(|key| key.waiting.waiting),
            waiting_more: live.iter().any(|row| row.key.waiting.waiting_more),
        }
    }
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

pub(crate) async fn show(user: SignedInUser) -> PageResult {
    let (keys, unhealthy, webhooks) = user
        .ask(async |owner| {
            let (keys, unhealthy) = (owner.keys().await?, owner.unhealthy_webhooks().await?);
            Ok((keys, unhealthy, owner.account_webhooks().await?))
        })
        .await?;
    let (base, now) = (user.base(), user.app.api.clock.now());
    let first_steps = first_steps(&user, &keys.first, now).await?;
    let labelled = unhealthy_webhooks(&unhealthy, &keys.first);
    let (mut live, revoked) = IdentityRow::split(keys.first, &unhealthy.first, now);
    // Revoked identities are last in the list. If one of them was read, all identities that were not read are revoked
    // too, so the figures are complete.
    let figures = Figures::new(&live, keys.has_more && revoked.is_empty());
    let paused = webhooks.first.iter().filter(|it| state_of(it) == WebhookState::Paused);
    let has_more = keys.has_more || live.len() > LISTED || !revoked.is_empty();
    live.truncate(LISTED);
    let main = OverviewPage {
        base,
        now,
        contact: user.app.sales_contact.as_deref(),
        unhealthy: labelled,
        paused: paused.count(),
        has_more_webhooks: webhooks.has_more,
        figures,
        first_steps,
        live,
        has_more,
    };
    Ok(PageResponse::ok(user.frame(), "Overview", &main))
}

/// Returns the first steps of a new account, and which of them are done. Returns `None` if all steps are done, if a key
/// is older than a week, or if each key is inactive or blocked by operators.
async fn first_steps(
    user: &SignedInUser,
    keys: &[KeyStanding],
    now: Timestamp,
) -> Result<Option<FirstSteps>, PageResponse> {
    let is_new = keys.iter().all(|key| now.since(key.created_at) < NEW_ACCOUNT);
    let newest = keys.iter().find(|key| key.status == KeyStatus::Active && !key.governance.blocked);
    let Some(newest) = newest.filter(|_| is_new) else { return Ok(None) };
    let has_webhook = keys.iter().any(|key| key.webhooks > 0);
    // The usage counts only messages of this month. For messages of earlier months, searches the sent envelopes.
    let has_sent = keys.iter().any(|key| key.usage.month.used > 0) || has_sent(user).await?;
    let is_done = has_webhook && has_sent;
    Ok((!is_done).then_some(FirstSteps { key: newest.api_key_id, has_webhook, has_sent }))
}

async fn has_sent(user: &SignedInUser) -> Result<bool, PageResponse> {
    let newest = ListSent { limit: 1, ..ListSent::default() };
    let log = user.ask(async move |owner: &Owner<'_>| owner.sent(None, newest, None).await).await?;
    Ok(!log.entries.is_empty())
}

fn unhealthy_webhooks(
    webhooks: &Truncated<WebhookView>,
    keys: &[KeyStanding],
) -> Truncated<UnhealthyWebhook> {
    let with_label = |webhook: &WebhookView| {
        let key = keys.iter().find(|key| key.api_key_id == webhook.api_key_id);
        UnhealthyWebhook { label: key.map(|key| key.label.clone()), webhook: webhook.clone() }
    };
    // Omits paused webhooks, even if they failed before, because the owner decides when to resume them.
    let unhealthy = webhooks.first.iter().filter(|it| state_of(it).is_unhealthy());
    let first = unhealthy.map(with_label).collect();
    Truncated { first, has_more: webhooks.has_more }
}

/// Number of identities on the page.
const LISTED: usize = 10;
/// Maximum age of the identities of an account to which the page shows the first steps.
const NEW_ACCOUNT: Duration = Duration::from_hours(7 * 24);
