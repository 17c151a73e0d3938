//! The page of one event: the webhook request as it was sent, and the response to each attempt.

use actix_web::web;
use askama::Template;
use sealpost_domain::{EventId, KeyStatus, Timestamp};
use sealpost_service::{Actor, EventLogEntry, EventReport, KeyStanding, ReportedAttempt, Sealpost};

use super::key_of;
use crate::dashboard::{
    forms::Form,
    response::{Flash, PageResponse},
    session::SignedInUser,
    text::{ago, attempt_result, handle_of, name_of, short_url, thousands},
};

#[derive(Template)]
#[template(path = "dashboard/event.html")]
struct EventPage<'a> {
    base: &'a str,
    form_token: &'a str,
    now: Timestamp,
    key: &'a KeyStanding,
    event: &'a EventReport,
    /// The newest state of the delivery to each webhook.
    deliveries: Vec<&'a EventLogEntry>,
}

pub(crate) async fn show(
    user: SignedInUser,
    path: web::Path<(String, String)>,
) -> Result<PageResponse, PageResponse> {
    let (key, event) = path.into_inner();
    let id = key_of(&user, &key)?;
    let event_id: EventId =
        event.parse().map_err(|_malformed| PageResponse::not_found(user.site()))?;
    let (key, event) = user
        .ask(async |owner| Ok((owner.standing(&id).await?, owner.event(&id, event_id).await?)))
        .await?;
    let main = EventPage {
        base: user.base(),
        form_token: &user.form_token,
        now: user.app.api.clock.now(),
        key: &key,
        event: &event,
        deliveries: deliveries_of(&event),
    };
    Ok(PageResponse::ok(user.frame(), "Event", &main))
}

/// Returns a JSON text with a line for each member.
fn pretty(body: &str) -> String {
    let parsed = serde_json::from_str::<serde_json::Value>(body);
    parsed.map_or_else(|_malformed| body.to_owned(), |value| format!("{value:#}"))
}

/// Returns the newest attempt or the pending delivery of each webhook.
fn deliveries_of(event: &EventReport) -> Vec<&EventLogEntry> {
    let mut newest: Vec<&EventLogEntry> = Vec::new();
    for ReportedAttempt { entry, .. } in &event.attempts {
        if newest.iter().all(|known| known.webhook.webhook_id != entry.webhook.webhook_id) {
            newest.push(entry);
        }
    }
    newest
}

/// Blocks the sender of the envelope.
pub(crate) async fn block_sender(
    user: SignedInUser,
    path: web::Path<(String, String)>,
    form: Form,
) -> Result<PageResponse, PageResponse> {
    user.check(&form)?;
    let (key, event) = path.into_inner();
    let id = key_of(&user, &key)?;
    let page = format!("/dashboard/keys/{id}/events/{event}");
    let block =
        async |sealpost: &Sealpost, actor: &Actor| sealpost.block_sender(actor, event).await;
    let sender = user.act(&id, block).await?.map_err(|error| user.error_response(&error))?;
    let text = format!("{} is blocked. It can no longer send to this key.", name_of(&sender));
    Ok(Flash::notice(&page, text).redirect(&user.app))
}
