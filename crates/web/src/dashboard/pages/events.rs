//! The event log of an identity or of the account: the events for all webhooks, with filters and a search by event id.

mod query;
mod redelivery;

use actix_web::{HttpRequest, web};
use askama::Template;
use sealpost_domain::{ApiKeyId, EventId, EventKind, Refusal, Timestamp, WebhookStatus};
use sealpost_service::{EventLogCursor, ListEvents, LoggedWebhook};

pub(super) use query::{ENTRIES_PER_PAGE, EventsQuery};
pub(super) use redelivery::send_again_and_show;

use self::redelivery::{SELECTED_MAX, send_again};
use super::{
    identity::IdentityHead,
    logged_event::{LoggedDelivery, events_of},
    scope::{Scope, tab_of},
};
use crate::{
    assets::LIVE,
    dashboard::{
        forms::SingleUse,
        session::SignedInUser,
        text::{ago, attempt_result, handle_of, name_of, short_url, url_parts, why_no_attempt},
    },
    html::{
        Flash, PageResponse, PageResult, Rejection,
        forms::{Form, FormRefusal},
        text::{short_id, thousands},
    },
};

#[derive(Template)]
#[template(path = "dashboard/events.html")]
struct EventsPage<'a> {
    user: &'a SignedInUser,
    now: Timestamp,
    /// The path of the page.
    path: String,
    scope: &'a Scope,
    head: Option<IdentityHead<'a>>,
    events: Vec<Vec<LoggedDelivery>>,
    with_webhook: bool,
    next: Option<EventLogCursor>,
    kinds: Vec<(EventKind, usize)>,
    webhooks: &'a [LoggedWebhook],
    has_more_webhooks: bool,
    query: &'a EventsQuery,
    problem: Problem,
    /// The URL of the live stream with new entries. `None` if this list does not begin with the newest attempt, or if
    /// live streams are turned off.
    live: Option<String>,
}

/// The problem with a form or a search, and the id of the field at fault. Empty if there is no problem.
#[derive(Default)]
struct Problem {
    text: String,
    field: &'static str,
}

/// Lists the events of the account, or of the identity in the path. With an id in the query, redirects to this event.
pub(crate) async fn show(
    user: SignedInUser,
    request: HttpRequest,
    query: web::Query<EventsQuery>,
) -> PageResult {
    let scope = Scope::load(&user, tab_of(&request), &query.identity).await?;
    let wanted = query.id.trim();
    if wanted.is_empty() {
        let text = query.before().err().map_or("", |_malformed| MALFORMED_TIME).to_owned();
        return page(&user, &scope, &query, Problem { text, field: "before" }).await;
    }
    let Ok(event) = wanted.parse::<EventId>() else {
        let text = "This is not the id of an event. Ids begin with env_ or evt_.".to_owned();
        return page(&user, &scope, &query, Problem { text, field: "id" }).await;
    };
    let (key, missing) = match scope.key() {
        Some(key) => (has_event(&user, &key, event).await?.then_some(key), NOT_OF_IDENTITY),
        None => (user.ask(async |owner| owner.key_of_event(event).await).await?, NOT_OF_ACCOUNT),
    };
    let Some(key) = key else {
        let text = missing.to_owned();
        return page(&user, &scope, &query, Problem { text, field: "id" }).await;
    };
    Ok(PageResponse::redirect(user.site(), &format!("/dashboard/keys/{key}/events/{event}")))
}

/// Returns true if an event with this id, or an attempt to deliver it, is stored for the identity.
async fn has_event(
    user: &SignedInUser,
    key: &ApiKeyId,
    event: EventId,
) -> Result<bool, PageResponse> {
    user.ask(async |owner| match owner.event(key, event).await {
        Ok(_) => Ok(true),
        Err(error) if matches!(error.refusal(), Some(Refusal::EnvelopeNotFound)) => Ok(false),
        Err(error) => Err(error),
    })
    .await
}

/// Sends the selected events again.
pub(crate) async fn redeliver(
    user: SignedInUser,
    request: HttpRequest,
    query: web::Query<EventsQuery>,
    form: Form,
) -> PageResult {
    user.check(&form)?;
    let scope = Scope::load(&user, tab_of(&request), &query.identity).await?;
    let single_use = SingleUse::begin(&user.app, user.frame(), &form).await?;
    let fault = match send_again(&user, &form).await {
        Ok(result) => {
            let page = format!("{}/events{}", scope.path(), query.position());
            return Ok(single_use.done(Flash::notice(&page, result)).await);
        }
        Err(fault) => fault,
    };
    single_use.release().await?;
    match fault {
        FormRefusal::Page(page) => Err(page),
        FormRefusal::Rejected(Rejection { text, .. }) => {
            page(&user, &scope, &query, Problem { text, field: "" }).await
        }
    }
}

async fn page(
    user: &SignedInUser,
    scope: &Scope,
    query: &EventsQuery,
    problem: Problem,
) -> PageResult {
    let list = ListEvents { with_unattempted: true, ..query.list() };
    let key = scope.key();
    let (log, kinds) = user
        .ask(async |owner| {
            let log = owner.events(key.as_ref(), list).await?;
            Ok((log, owner.event_kinds(key.as_ref()).await?))
        })
        .await?;
    let path = format!("{}/events", scope.path());
    let newest = log.entries.iter().filter_map(|entry| entry.number).max();
    let main = EventsPage {
        user,
        now: user.app.api.clock.now(),
        live: query.live_stream(user, &path, newest),
        path,
        scope,
        head: scope.head(user, "/events"),
        events: events_of(log.entries),
        with_webhook: true,
        next: log.next,
        kinds,
        webhooks: &log.webhooks,
        has_more_webhooks: log.has_more_webhooks,
        query,
        problem,
    };
    Ok(PageResponse::ok(user.frame(), &scope.title("Events"), &main))
}

const STATES: [(&str, &str); 5] = [
    ("", "All states"),
    ("succeeded", "Succeeded"),
    ("failed", "Failed, retry follows"),
    ("exhausted", "Exhausted, no retry"),
    ("pending", "Pending"),
];
const NOT_OF_ACCOUNT: &str = "No identity of this account has an event with this id.";
const NOT_OF_IDENTITY: &str = "This identity has no event with this id. The page “Events” of the account finds the events \
    of all its identities.";
const MALFORMED_TIME: &str = "This is not a time. Give a time in UTC, such as 2027-01-31T12:00.";
