//! The event log of an identity: the attempts at all its webhooks, with filters and a search by event id.

use std::collections::BTreeSet;

use actix_web::web;
use askama::Template;
use sealpost_domain::{ApiKeyId, EventId, KeyStatus, Timestamp, WebhookId};
use sealpost_service::{
    DeliveryState, EventLogCursor, EventLogPage, KeyStanding, ListEvents, Manage,
};
use serde::Deserialize;

use super::key_of;
use crate::dashboard::{
    forms::{Form, Rejection},
    response::PageResponse,
    session::SignedInUser,
    text::{ago, thousands},
};

#[derive(Template)]
#[template(path = "dashboard/events.html")]
struct EventsPage<'a> {
    base: &'a str,
    form_token: &'a str,
    now: Timestamp,
    key: &'a KeyStanding,
    log: &'a EventLogPage,
    query: &'a EventsQuery,
    notice: Notice,
}

/// The query parameters of the page. An empty or malformed parameter counts as absent.
#[derive(Default, Deserialize)]
pub(crate) struct EventsQuery {
    /// Id of the event to search for.
    #[serde(default)]
    id: String,
    #[serde(default)]
    webhook: String,
    #[serde(default)]
    state: String,
    #[serde(default)]
    cursor: String,
}

/// The result of a processed form, and the problem with a form or a search. The page shows both texts. Neither text is
/// a query parameter, because otherwise a link could make the page show a false result.
#[derive(Default)]
struct Notice {
    result: Option<String>,
    problem: Option<String>,
}

pub(crate) async fn show(
    user: SignedInUser,
    key: web::Path<String>,
    query: web::Query<EventsQuery>,
) -> Result<PageResponse, PageResponse> {
    let id = key_of(&user, &key)?;
    if query.id.trim().is_empty() {
        return load(&user, &id, &query, Notice::default()).await;
    }
    if let Ok(event) = query.id.trim().parse::<EventId>() {
        let page = format!("/dashboard/keys/{id}/events/{event}");
        return Ok(PageResponse::redirect(user.site(), &page));
    }
    let problem = "This is not the id of an event. Ids begin with env_ or evt_.".to_owned();
    load(&user, &id, &query, Notice { problem: Some(problem), ..Notice::default() }).await
}

/// Sends the selected events again.
pub(crate) async fn redeliver(
    user: SignedInUser,
    key: web::Path<String>,
    form: Form,
) -> Result<PageResponse, PageResponse> {
    user.check(&form)?;
    let id = key_of(&user, &key)?;
    let selected: BTreeSet<_> = form.all("selected").into_iter().collect();
    let deliveries: Option<Vec<_>> = selected.iter().map(|it| it.split_once(' ')).collect();
    let deliveries = deliveries.filter(|them| them.len() <= usize::from(ENTRIES_PER_PAGE));
    let deliveries = deliveries.ok_or_else(|| PageResponse::unreadable_form(user.site()))?;
    let (mut sent, mut problem) = (0, None);
    for (webhook_id, envelope_id) in deliveries {
        let (webhook_id, envelope_id) = (webhook_id.to_owned(), envelope_id.to_owned());
        let redeliver = Manage::Redeliver { webhook_id, envelope_id };
        match user.ask(async |owner| Ok(owner.manage(&id, redeliver).await)).await? {
            Ok(_) => sent += 1,
            Err(error) => match error.refusal() {
                Some(refusal) => problem = Some(Rejection::from(refusal).text),
                None => return Err(PageResponse::service_error(user.site(), &error)),
            },
        }
    }
    let result = match (sent, &problem) {
        (0, Some(_)) => None,
        (0, None) => Some("No event was selected.".to_owned()),
        (1, _) => Some("1 event is sent again now.".to_owned()),
        (many, _) => Some(format!("{many} events are sent again now.")),
    };
    load(&user, &id, &EventsQuery::default(), Notice { result, problem }).await
}

async fn load(
    user: &SignedInUser,
    id: &ApiKeyId,
    query: &EventsQuery,
    notice: Notice,
) -> Result<PageResponse, PageResponse> {
    let list = ListEvents {
        webhook_id: query.webhook.parse::<WebhookId>().ok(),
        state: DeliveryState::from_name(&query.state),
        limit: ENTRIES_PER_PAGE.into(),
        cursor: query.cursor.parse::<EventLogCursor>().ok(),
    };
    let (key, log) = user
        .ask(async |owner| Ok((owner.standing(id).await?, owner.events(id, list).await?)))
        .await?;
    let main = EventsPage {
        base: user.base(),
        form_token: &user.form_token,
        now: user.app.api.clock.now(),
        key: &key,
        log: &log,
        query,
        notice,
    };
    let title = format!("Events of {}", key.label);
    Ok(PageResponse::ok(user.frame(), &title, &main))
}

const STATES: [(&str, &str); 5] = [
    ("", "all attempts"),
    ("succeeded", "succeeded"),
    ("failed", "failed, with a retry"),
    ("exhausted", "exhausted: no further attempt"),
    ("pending", "pending deliveries"),
];
/// Number of log entries on one page.
const ENTRIES_PER_PAGE: u8 = 50;
