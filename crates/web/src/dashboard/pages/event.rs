//! The page of one event: the webhook request as it was sent, and the response to each attempt.

use actix_web::web;
use askama::Template;
use sealpost_domain::{ApiKeyId, EventId, KeyStatus, Timestamp, WebhookStatus};
use sealpost_service::{EventReport, KeyStanding, LoggedWebhook, ReportedAttempt};

use super::{events::send_again_and_show, id_of};
use crate::{
    dashboard::{
        session::SignedInUser,
        text::{ago, attempt_result, handle_of, name_of, url_parts, why_no_attempt},
    },
    html::{
        Flash, PageResponse, PageResult,
        forms::Form,
        text::{short_id, thousands, when},
    },
};

#[derive(Template)]
#[template(path = "dashboard/event.html")]
struct EventPage<'a> {
    user: &'a SignedInUser,
    now: Timestamp,
    key: &'a KeyStanding,
    event: &'a EventReport,
    deliveries: Vec<EventDelivery<'a>>,
}

/// The delivery of an event to one webhook.
struct EventDelivery<'a> {
    webhook: &'a LoggedWebhook,
    /// The pending delivery or the newest attempt, then the earlier attempts.
    attempts: Vec<&'a ReportedAttempt>,
}

pub(crate) async fn show(user: SignedInUser, path: web::Path<(String, String)>) -> PageResult {
    let (key, event) = path.into_inner();
    let id = id_of(&user, &key)?;
    let event_id: EventId = id_of(&user, &event)?;
    let (key, event) = user
        .ask(async |owner| Ok((owner.standing(&id).await?, owner.event(&id, event_id).await?)))
        .await?;
    let main = EventPage {
        user: &user,
        now: user.app.api.clock.now(),
        key: &key,
        event: &event,
        deliveries: deliveries_of(&event),
    };
    let title = format!("Event {}", short_id(event_id));
    Ok(PageResponse::ok(user.frame(), &title, &main))
}

/// Formats a JSON text with a line for each member. Returns a malformed text unchanged.
fn pretty(body: &str) -> String {
    let parsed = serde_json::from_str::<serde_json::Value>(body);
    parsed.map_or_else(|_malformed| body.to_owned(), |value| format!("{value:#}"))
}

/// Groups the attempts by their webhook, oldest webhook first.
fn deliveries_of(event: &EventReport) -> Vec<EventDelivery<'_>> {
    let mut deliveries: Vec<EventDelivery<'_>> = Vec::new();
    for attempt in &event.attempts {
        let webhook = &attempt.entry.webhook;
        match deliveries.iter_mut().find(|delivery| delivery.webhook == webhook) {
            Some(delivery) => delivery.attempts.push(attempt),
            None => deliveries.push(EventDelivery { webhook, attempts: vec![attempt] }),
        }
    }
    deliveries.sort_by_key(|delivery| delivery.webhook.webhook_id);
    deliveries
}

/// Performs the action that the field `do` of the form selects: sends the event again, or blocks its sender.
pub(crate) async fn act(
    user: SignedInUser,
    path: web::Path<(String, String)>,
    form: Form,
) -> PageResult {
    user.check(&form)?;
    let (key, event) = path.into_inner();
    let id: ApiKeyId = id_of(&user, &key)?;
    let event: EventId = id_of(&user, &event)?;
    let page = format!("/dashboard/keys/{id}/events/{event}");
    match form.text("do") {
        "block" => block_sender(&user, &id, event, &page).await,
        "redeliver" => send_again_and_show(&user, &form, &page).await,
        _ => Err(PageResponse::unreadable_form(user.frame())),
    }
}

async fn block_sender(
    user: &SignedInUser,
    key: &ApiKeyId,
    event: EventId,
    page: &str,
) -> PageResult {
    let actor = user.owner().await?.acting_on(key);
    let blocked = user.app.api.sealpost.accounts.block_sender(&actor, event.to_string()).await;
    let sender = blocked.result.map_err(|error| user.error_response(&error))?;
    // U+2068 and U+2069 isolate the name: its text direction, such as right to left, does not affect the text around
    // the name. In templates, the element `bdi` does the same.
    let name = format!("\u{2068}{}\u{2069}", name_of(&sender));
    let text = format!("{name} is blocked. It can no longer send to this key.");
    Ok(Flash::notice(page, text).redirect(&user.app))
}
