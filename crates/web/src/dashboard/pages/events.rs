//! The event log of an identity or of the account: the events at all webhooks, with filters and a search by event id.

use std::collections::BTreeSet;

use actix_web::web;
use askama::Template;
use sealpost_domain::{ApiKeyId, EventId, EventKind, TimeFault, Timestamp, WebhookId};
use sealpost_service::{DeliveryState, EventLogCursor, ListEvents, LoggedWebhook, Manage};
use serde::Deserialize;

use super::{
    event_row::{EventRow, rows_of},
    identity::IdentityHead,
    scope::Scope,
};
use crate::{
    assets::LIVE,
    dashboard::{
        forms::{Form, Rejection, SingleUse},
        response::{Flash, PageResponse},
        session::SignedInUser,
        text::{ago, attempt_result, handle_of, name_of, short_id, short_url, thousands},
    },
};

#[derive(Template)]
#[template(path = "dashboard/events.html")]
struct EventsPage<'a> {
    base: &'a str,
    form_token: &'a str,
    now: Timestamp,
    /// The path of the page.
    path: String,
    scope: &'a Scope,
    head: Option<IdentityHead<'a>>,
    rows: Vec<EventRow>,
    with_webhook: bool,
    next: Option<EventLogCursor>,
    kinds: Vec<(EventKind, usize)>,
    webhooks: &'a [LoggedWebhook],
    query: &'a EventsQuery,
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
    /// The identity whose events a page of the account lists.
    #[serde(default)]
    pub(super) identity: String,
    #[serde(default)]
    webhook: String,
    #[serde(default)]
    kind: String,
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
            kind: EventKind::from_name(&self.kind),
            state: DeliveryState::from_name(&self.state),
            before: self.before().ok().flatten(),
            limit: ENTRIES_PER_PAGE.into(),
            cursor: self.cursor.parse::<EventLogCursor>().ok(),
            with_unattempted: false,
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

    /// Returns the query string that keeps the filter.
    fn filter(&self) -> String {
        let kind = EventKind::from_name(&self.kind).map_or("", |kind| kind.as_str());
        self.filter_of_kind(kind)
    }

    /// Returns the query string that keeps the filter, but selects another kind of event. Empty for all kinds.
    fn filter_of_kind(&self, kind: &str) -> String {
        let ListEvents { webhook_id, state, before, .. } = self.list();
        let identity = self.identity.parse::<ApiKeyId>().ok();
        let mut filter = "?".to_owned();
        for (name, value) in [
            ("identity", identity.map(|id| id.to_string()).unwrap_or_default()),
            ("webhook", webhook_id.map(|id| id.to_string()).unwrap_or_default()),
            ("kind", kind.to_owned()),
            ("state", state.map_or("", DeliveryState::as_str).to_owned()),
            ("before", before.map(|_| self.before.trim().to_owned()).unwrap_or_default()),
        ] {
            if !value.is_empty() {
                filter.push_str(&format!("{name}={value}&"));
            }
        }
        filter.pop();
        filter
    }

    /// Returns true if the list begins with the newest attempt. Only such a list can be followed live.
    pub(super) fn begins_with_newest_attempt(&self) -> bool {
        let ListEvents { state, before, cursor, .. } = self.list();
        cursor.is_none() && before.is_none() && !matches!(state, Some(DeliveryState::Pending))
    }

    /// Returns the URL of the live stream of this list. Returns `None` if the list cannot be followed live.
    fn live_stream(&self, user: &SignedInUser, path: &str) -> Option<String> {
        let is_live = user.app.live.is_on() && self.begins_with_newest_attempt();
        let base = user.base();
        is_live.then(|| format!("{base}{path}/live{}", self.filter()))
    }
}

pub(crate) async fn show(
    user: SignedInUser,
    query: web::Query<EventsQuery>,
) -> Result<PageResponse, PageResponse> {
    find_or_list(&user, None, &query).await
}

pub(crate) async fn show_tab(
    user: SignedInUser,
    key: web::Path<String>,
    query: web::Query<EventsQuery>,
) -> Result<PageResponse, PageResponse> {
    find_or_list(&user, Some(&key), &query).await
}

async fn find_or_list(
    user: &SignedInUser,
    tab: Option<&str>,
    query: &EventsQuery,
) -> Result<PageResponse, PageResponse> {
    let scope = Scope::load(user, tab, &query.identity).await?;
    let wanted = query.id.trim();
    if wanted.is_empty() {
        let text = query.before().err().map_or("", |_malformed| MALFORMED_TIME).to_owned();
        return page(user, &scope, query, Problem { text, field: "before" }).await;
    }
    let Ok(event) = wanted.parse::<EventId>() else {
        let text = "This is not the id of an event. Ids begin with env_ or evt_.".to_owned();
        return page(user, &scope, query, Problem { text, field: "id" }).await;
    };
    let key = match scope.key() {
        Some(key) => Some(key),
        None => user.ask(async |owner| owner.key_of_event(event).await).await?,
    };
    let Some(key) = key else {
        let text = "No identity of this account has an event with this id.".to_owned();
        return page(user, &scope, query, Problem { text, field: "id" }).await;
    };
    Ok(PageResponse::redirect(user.site(), &format!("/dashboard/keys/{key}/events/{event}")))
}

/// Sends the selected events again.
pub(crate) async fn redeliver(
    user: SignedInUser,
    query: web::Query<EventsQuery>,
    form: Form,
) -> Result<PageResponse, PageResponse> {
    redeliver_from(&user, None, &query, &form).await
}

/// Sends the selected events of an identity again.
pub(crate) async fn redeliver_tab(
    user: SignedInUser,
    key: web::Path<String>,
    query: web::Query<EventsQuery>,
    form: Form,
) -> Result<PageResponse, PageResponse> {
    redeliver_from(&user, Some(&key), &query, &form).await
}

async fn redeliver_from(
    user: &SignedInUser,
    tab: Option<&str>,
    query: &EventsQuery,
    form: &Form,
) -> Result<PageResponse, PageResponse> {
    user.check(form)?;
    let scope = Scope::load(user, tab, &query.identity).await?;
    let single_use = SingleUse::begin(&user.app, form).await?;
    match send_again(user, form).await? {
        Ok(result) => {
            let page = format!("{}/events{}", scope.path(), query.filter());
            Ok(single_use.done(Flash::notice(&page, result)).await)
        }
        Err(text) => {
            single_use.release().await?;
            page(user, &scope, query, Problem { text, field: "" }).await
        }
    }
}

/// Sends the selected events again. Each value of the form names an identity, one of its webhooks, and an event. Returns
/// the result as text, or the reason why no event is sent.
pub(super) async fn send_again(
    user: &SignedInUser,
    form: &Form,
) -> Result<Result<String, String>, PageResponse> {
    let selected: BTreeSet<_> = form.all("selected").into_iter().collect();
    if selected.len() > usize::from(ENTRIES_PER_PAGE) * 2 {
        return Err(PageResponse::unreadable_form(user.site()));
    }
    let (mut sent, mut problem) = (0, None);
    for delivery in &selected {
        let parts: Vec<_> = delivery.split(' ').map(str::to_owned).collect();
        let [key, webhook_id, envelope_id] = <[String; 3]>::try_from(parts)
            .map_err(|_malformed| PageResponse::unreadable_form(user.site()))?;
        let id = super::key_of(user, &key)?;
        let redeliver = Manage::Redeliver { webhook_id, envelope_id };
        match user.ask(async |owner| Ok(owner.manage(&id, redeliver).await)).await? {
            Ok(_) => sent += 1,
            Err(error) => match error.refusal() {
                Some(refusal) => problem = Some(Rejection::from(refusal).text),
                None => return Err(PageResponse::service_error(user.site(), &error)),
            },
        }
    }
    let result = match sent {
        0 => "No event was selected.".to_owned(),
        1 => "1 event is sent again now.".to_owned(),
        many => format!("{many} events are sent again now."),
    };
    Ok(match (sent, problem) {
        (0, Some(problem)) => Err(problem),
        (_, Some(problem)) => Ok(format!("{result} {problem}")),
        (_, None) => Ok(result),
    })
}

async fn page(
    user: &SignedInUser,
    scope: &Scope,
    query: &EventsQuery,
    problem: Problem,
) -> Result<PageResponse, PageResponse> {
    let list = ListEvents { with_unattempted: true, ..query.list() };
    let key = scope.key();
    let (log, kinds) = user
        .ask(async |owner| {
            let log = owner.events(key.as_ref(), list).await?;
            Ok((log, owner.event_kinds(key.as_ref()).await?))
        })
        .await?;
    let path = format!("{}/events", scope.path());
    let main = EventsPage {
        base: user.base(),
        form_token: &user.form_token,
        now: user.app.api.clock.now(),
        live: query.live_stream(user, &path),
        path,
        scope,
        head: scope.head(user, "/events"),
        rows: rows_of(log.entries),
        with_webhook: true,
        next: log.next,
        kinds,
        webhooks: &log.webhooks,
        query,
        problem,
    };
    Ok(PageResponse::ok(user.frame(), "Events", &main))
}

const STATES: [(&str, &str); 5] = [
    ("", "all states"),
    ("succeeded", "succeeded"),
    ("failed", "failed, with a retry"),
    ("exhausted", "exhausted: no further attempt"),
    ("pending", "pending"),
];
const MALFORMED_TIME: &str = "This is not a time. Give a time in UTC, such as 2027-01-31T12:00.";
/// Number of log entries on one page.
pub(super) const ENTRIES_PER_PAGE: u8 = 50;
