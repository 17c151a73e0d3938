//! The page of an identity (an API key with its DID): its data, usage, daily counts, webhooks and governance.

use actix_web::web;
use askama::Template;
use sealpost_domain::{AcceptPolicy, ApiKeyId, EventKind, KeyStatus, ReceiptPolicy, Timestamp};
use sealpost_service::{KeyPage, KeyStanding, PendingCount, PolicyView, WebhookReport};

use super::key_of;
use crate::dashboard::{
    charts::{ActivityChart, Sparkline, UsageMeter, usage_meters},
    forms::Rejection,
    health::WebhookCard,
    response::PageResponse,
    session::SignedInUser,
    text::{about_event, ago, thousands, why_no_change},
};

#[derive(Template)]
#[template(path = "dashboard/identity.html")]
struct IdentityPage<'a> {
    base: &'a str,
    form_token: &'a str,
    key: &'a KeyStanding,
    now: Timestamp,
    contact: Option<&'a str>,
    meters: [UsageMeter; 3],
    chart: ActivityChart,
    pending: PendingCount,
    webhooks: Vec<WebhookCard<'a>>,
    /// The kinds of events that the form of a new webhook offers.
    events: Vec<EventKind>,
    url: &'a str,
    problem: Option<&'a str>,
    policy: &'a PolicyView,
    policy_problem: Option<&'a str>,
    lists: [SenderList<'a>; 2],
}

/// The allowed or the blocked senders of a key, with the actions of the forms that add and remove senders.
struct SenderList<'a> {
    title: &'static str,
    verb: &'static str,
    add: &'static str,
    remove: &'static str,
    senders: &'a [ApiKeyId],
}

/// The data of the page, as the service returned it.
pub(super) struct IdentityView {
    pub(super) key: KeyPage,
    pub(super) webhooks: Vec<WebhookReport>,
}

pub(crate) async fn show(
    user: SignedInUser,
    key: web::Path<String>,
) -> Result<PageResponse, PageResponse> {
    let view = load(&user, &key).await?;
    let title = &view.key.standing.label;
    Ok(PageResponse::ok(user.frame(), title.as_str(), &page(&user, &view, Input::default())))
}

/// Shows the page again after the form of a new webhook was rejected. The page contains the rejected URL and the
/// reason.
pub(super) async fn reject_webhook(
    user: &SignedInUser,
    key: &str,
    url: &str,
    rejection: &Rejection,
) -> Result<PageResponse, PageResponse> {
    let view = load(user, key).await?;
    let problem = Some(rejection.text.as_str());
    let main = page(user, &view, Input { url, problem, ..Input::default() });
    Ok(PageResponse::rejected(user.frame(), view.key.standing.label.as_str(), rejection, &main))
}

/// Shows the page again after a change of the policy was rejected. The page contains the reason.
pub(super) async fn reject_policy(
    user: &SignedInUser,
    key: &str,
    rejection: &Rejection,
) -> Result<PageResponse, PageResponse> {
    let view = load(user, key).await?;
    let policy_problem = Some(rejection.text.as_str());
    let main = page(user, &view, Input { policy_problem, ..Input::default() });
    Ok(PageResponse::rejected(user.frame(), view.key.standing.label.as_str(), rejection, &main))
}

/// The input of a rejected form and the reason for the rejection. Empty if no form was rejected.
#[derive(Clone, Copy, Default)]
struct Input<'a> {
    url: &'a str,
    problem: Option<&'a str>,
    policy_problem: Option<&'a str>,
}

pub(super) async fn load(user: &SignedInUser, key: &str) -> Result<IdentityView, PageResponse> {
    let key = key_of(user, key)?;
    user.ask(async move |owner| {
        Ok(IdentityView { key: owner.key(&key).await?, webhooks: owner.webhooks(&key).await? })
    })
    .await
}

fn page<'a>(user: &'a SignedInUser, view: &'a IdentityView, input: Input<'a>) -> IdentityPage<'a> {
    let (key, now) = (&view.key.standing, user.app.api.clock.now());
    IdentityPage {
        base: user.base(),
        form_token: &user.form_token,
        now,
        contact: user.app.sales_contact.as_deref(),
        meters: usage_meters(&key.usage, now),
        chart: ActivityChart::new(&view.key.days),
        pending: view.key.pending,
        webhooks: view.webhooks.iter().map(WebhookCard::new).collect(),
        events: user.app.api.sealpost.event_kinds(),
        key,
        url: input.url,
        problem: input.problem,
        policy: &view.key.policy,
        policy_problem: input.policy_problem,
        lists: [
            SenderList {
                title: "Allowed senders",
                verb: "Allow",
                add: "allow",
                remove: "unallow",
                senders: &view.key.policy.allowed,
            },
            SenderList {
                title: "Blocked senders",
                verb: "Block",
                add: "block",
                remove: "unblock",
                senders: &view.key.policy.blocked,
            },
        ],
    }
}

/// Counts the webhooks that are disabled or failing.
fn number_unhealthy(webhooks: &[WebhookCard<'_>]) -> usize {
    webhooks.iter().filter(|card| card.health.is_unhealthy()).count()
}

/// Returns the text of an option in the policy form: the accepted senders.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
fn accepted(accept: &AcceptPolicy) -> &'static str {
    match accept {
        AcceptPolicy::Allowlist => "allowed senders only",
        AcceptPolicy::Anyone => "everyone except blocked senders",
        AcceptPolicy::Contacts => "keys that this key has written to, and allowed senders",
        AcceptPolicy::Nobody => "no sender",
    }
}

/// Returns the text of an option in the policy form: the last state of an envelope that its sender can see.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
fn shown_to_senders(receipts: &ReceiptPolicy) -> &'static str {
    match receipts {
        ReceiptPolicy::None => "that the envelope was sent",
        ReceiptPolicy::Notified => "that a webhook was notified",
        ReceiptPolicy::Opened => "that the envelope was opened",
    }
}
