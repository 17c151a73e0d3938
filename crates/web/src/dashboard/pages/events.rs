//! The event log of an identity: the attempts at all its webhooks, with filters and a search by event id.

use std::collections::BTreeSet;

use actix_web::web;
use askama::Template;
use sealpost_domain::{ApiKeyId, EventId, KeyStatus, TimeFault, Timestamp, WebhookId};
use sealpost_service::{
    DeliveryState, EventLogCursor, KeyStanding, ListEvents, LoggedWebhook, Manage,
};
use serde::Deserialize;

use super::{
    event_row::{EventLogRow, rows_of},
    identity::IdentityHead,
    key_of,
};
use crate::{
    assets::LIVE,
    dashboard::{
        forms::{Form, Rejection, SingleUse},
        response::{Flash, PageResponse},
        session::SignedInUser,
        text::{ago, attempt_result, short_id, thousands},
    },
};

#[derive(Template)]
#[template(path = "dashboard/events.html")]
struct EventsPage<'a> {
    base: &'a str,
    form_token: &'a str,
    now: Timestamp,
    key: &'a KeyStanding,
    entries: Vec<EventLogRow>,
    next: Option<EventLogCursor>,
    webhooks: &'a [LoggedWebhook],
    query: &'a EventsQuery,
    head: IdentityHead<'a>,
    problem: Problem,
    /// The URL of the live stream with new entries. `None` if this list cannot be followed live.
    live: Option<String>,
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
    /// A time in UTC as browsers send it, such as `2027-01-31T12:00`.
    #[serde(default)]
    before: String,
    #[serde(default)]
    cursor: String,
}

/// The problem with a form or a search, and the id of the field that has it. Empty if there is none.
#[derive(Default)]
struct Problem {
    text: String,
    field: &'static str,
}

impl EventsQuery {
    /// Returns the query of the service for this page.
    pub(super) fn list(&self) -> ListEvents {
        ListEvents {
            webhook_id: self.webhook.parse::<WebhookId>().ok(),
            state: DeliveryState::from_name(&self.state),
            before: self.before().ok().flatten(),
            limit: ENTRIES_PER_PAGE.into(),
            cursor: self.cursor.parse::<EventLogCursor>().ok(),
        }
    }

    /// Returns the time of the filter. `None` if the filter is empty.
    fn before(&self) -> Result<Option<Timestamp>, TimeFault> {
        match self.before.trim() {
            "" => Ok(None),
            // A browser sends seconds only if they are not zero.
            time if time.len() == "2027-01-31T12:00".len() => {
                format!("{time}:00Z").parse().map(Some)
            }
            time => format!("{time}Z").parse().map(Some),
        }
    }

    /// Returns the query string that keeps the filter after a form.
    fn filter(&self) -> String {
        let ListEvents { webhook_id, state, .. } = self.list();
        let webhook = webhook_id.map(|id| id.to_string()).unwrap_or_default();
        let state = state.map_or("", DeliveryState::as_str);
        let before = self.before().ok().flatten().map(|_| self.before.trim()).unwrap_or_default();
        format!("?webhook={webhook}&state={state}&before={before}")
    }

    /// Returns true if the list begins with the newest attempt. Only such a list can be followed live.
    pub(super) fn begins_with_newest_attempt(&self) -> bool {
        let ListEvents { state, before, cursor, .. } = self.list();
        cursor.is_none() && before.is_none() && !matches!(state, Some(DeliveryState::Pending))
    }

    /// Returns the URL of the live stream of this list. Returns `None` if the list cannot be followed live.
    fn live_stream(&self, user: &SignedInUser, id: &ApiKeyId) -> Option<String> {
        let is_live = user.app.live.is_on() && self.begins_with_newest_attempt();
        let base = user.base();
        is_live.then(|| format!("{base}/dashboard/keys/{id}/events/live{}", self.filter()))
    }
}

pub(crate) async fn show(
    user: SignedInUser,
    key: web::Path<String>,
    query: web::Query<EventsQuery>,
) -> Result<PageResponse, PageResponse> {
    let id = key_of(&user, &key)?;
    if query.id.trim().is_empty() {
        let text = query.before().err().map_or("", |_malformed| MALFORMED_TIME).to_owned();
        return load(&user, &id, &query, Problem { text, field: "before" }).await;
    }
    if let Ok(event) = query.id.trim().parse::<EventId>() {
        let page = format!("/dashboard/keys/{id}/events/{event}");
        return Ok(PageResponse::redirect(user.site(), &page));
    }
    let text = "This is not the id of an event. Ids begin with env_ or evt_.".to_owned();
    load(&user, &id, &query, Problem { text, field: "id" }).await
}

/// Sends the selected events again.
pub(crate) async fn redeliver(
    user: SignedInUser,
    key: web::Path<String>,
    query: web::Query<EventsQuery>,
    form: Form,
) -> Result<PageResponse, PageResponse> {
    user.check(&form)?;
    let id = key_of(&user, &key)?;
    let selected: BTreeSet<_> = form.all("selected").into_iter().collect();
    let deliveries: Option<Vec<_>> = selected.iter().map(|it| it.split_once(' ')).collect();
    let deliveries = deliveries.filter(|them| them.len() <= usize::from(ENTRIES_PER_PAGE));
    let deliveries = deliveries.ok_or_else(|| PageResponse::unreadable_form(user.site()))?;
    let single_use = SingleUse::begin(&user.app, &form).await?;
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
    if let (0, Some(text)) = (sent, &problem) {
        single_use.release().await?;
        return load(&user, &id, &query, Problem { text: text.clone(), field: "" }).await;
    }
    let result = match sent {
        0 => "No event was selected.".to_owned(),
        1 => "1 event is sent again now.".to_owned(),
        many => format!("{many} events are sent again now."),
    };
    let result = match problem {
        Some(problem) => format!("{result} {problem}"),
        None => result,
    };
    let page = format!("/dashboard/keys/{id}/events{}", query.filter());
    Ok(single_use.done(Flash::notice(&page, result)).await)
}

async fn load(
    user: &SignedInUser,
    id: &ApiKeyId,
    query: &EventsQuery,
    problem: Problem,
) -> Result<PageResponse, PageResponse> {
    let list = query.list();
    let (key, log) = user
        .ask(async |owner| Ok((owner.standing(id).await?, owner.events(id, list).await?)))
        .await?;
    let live = query.live_stream(user, id);
    let main = EventsPage {
        base: user.base(),
        form_token: &user.form_token,
        now: user.app.api.clock.now(),
        key: &key,
        entries: rows_of(log.entries),
        next: log.next,
        webhooks: &log.webhooks,
        query,
        head: IdentityHead::new(user, &key, "/events"),
        problem,
        live,
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
const MALFORMED_TIME: &str = "This is not a time. Give a time in UTC, such as 2027-01-31T12:00.";
/// Number of log entries on one page.
pub(super) const ENTRIES_PER_PAGE: u8 = 50;
