//! The page of a webhook: its state, its log of deliveries, and buttons for actions.

mod actions;

use actix_web::web;
use askama::Template;
use sealpost_domain::{DisabledReason, KeyStatus, Timestamp, WebhookStatus};
use sealpost_service::{
    ConnectedRelay, DeliveryState, EventLogCursor, KeyStanding, ListEvents, ResponseTimes,
    WebhookView,
};
use serde::Deserialize;

pub(crate) use actions::act;
pub(super) use actions::refused;

use super::{
    id_of,
    logged_event::{LoggedDelivery, events_of},
    scope::Scope,
};
use crate::{
    dashboard::{
        charts::{ChartDay, DayChart, Sparkline},
        health::{WebhookCard, WebhookState},
        session::SignedInUser,
        text::{
            ago, attempt_result, elapsed, handle_of, name_of, name_parts, query_string, url_parts,
            why_no_attempt, why_no_change,
        },
    },
    html::{
        Flash, PageResponse, PageResult,
        text::{day, failure, short_id, thousands, when},
    },
};

#[derive(Template)]
#[template(path = "dashboard/webhook.html")]
struct WebhookPage<'a> {
    user: &'a SignedInUser,
    key: &'a KeyStanding,
    scope: &'a Scope,
    now: Timestamp,
    webhook: &'a WebhookView,
    card: WebhookCard<'a>,
    times: &'a ResponseTimes,
    chart: DayChart,
    events: Vec<Vec<LoggedDelivery>>,
    with_webhook: bool,
    next: Option<EventLogCursor>,
    filters: [StateFilter; 5],
    state: &'a str,
    /// The query string of this page of the log.
    position: String,
    /// Time until which a replaced signing secret also signs.
    retiring_until: Option<Timestamp>,
    relays: &'a [ConnectedRelay],
}

/// The page with the new signing secret of a webhook. The secret is shown once.
#[derive(Template)]
#[template(path = "dashboard/webhook_secret.html")]
struct SecretPage<'a> {
    base: &'a str,
    key: &'a KeyStanding,
    webhook: &'a WebhookView,
    retiring_until: Option<Timestamp>,
    result: &'a Flash,
}

/// A link that filters the log of deliveries by one state.
struct StateFilter {
    name: &'static str,
    value: &'static str,
    is_current: bool,
}

/// The query parameters of the page. An empty parameter counts as absent.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct DeliveryQuery {
    state: String,
    cursor: String,
}

impl DeliveryQuery {
    /// Returns the query string of this page of the log: the present filter, and the position of the page.
    fn position(&self) -> String {
        let state = DeliveryState::from_name(&self.state).map_or("", DeliveryState::as_str);
        let cursor = self.cursor.parse::<EventLogCursor>();
        let cursor = cursor.map(|cursor| cursor.to_string()).unwrap_or_default();
        query_string(&[("state", state), ("cursor", cursor.as_str())])
    }
}

pub(crate) async fn show(
    user: SignedInUser,
    path: web::Path<(String, String)>,
    query: web::Query<DeliveryQuery>,
) -> PageResult {
    let (key, webhook_id) = path.into_inner();
    let id = id_of(&user, &key)?;
    let state = DeliveryState::from_name(&query.state);
    let position = query.position();
    let (key, report, times, log) = user
        .ask(async move |owner| {
            let key = owner.standing(&id).await?;
            let report = owner.webhook(&id, &webhook_id).await?;
            let list = ListEvents {
                webhook_id: Some(report.webhook.webhook_id),
                state,
                limit: ATTEMPTS_PER_PAGE,
                cursor: query.cursor.parse().ok(),
                with_unattempted: true,
                ..ListEvents::default()
            };
            let times = owner.response_times(&id, &webhook_id).await?;
            Ok((key, report, times, owner.events(Some(&id), list).await?))
        })
        .await?;
    let state = state.map_or("", DeliveryState::as_str);
    let filter = |(name, value)| StateFilter { name, value, is_current: value == state };
    let scope = Scope::for_tab(key);
    let Some(key) = scope.keys.first() else {
        return Err(PageResponse::not_found(user.frame()));
    };
    let main = WebhookPage {
        user: &user,
        key,
        scope: &scope,
        now: user.app.api.clock.now(),
        webhook: &report.webhook,
        card: WebhookCard::new(&report),
        chart: times_chart(&times),
        times: &times,
        events: events_of(log.entries),
        with_webhook: false,
        next: log.next,
        filters: FILTERS.map(filter),
        state,
        position,
        retiring_until: report.retiring_until,
        relays: &report.relays,
    };
    let name: String = name_parts(&report.webhook).collect();
    Ok(PageResponse::ok(user.frame(), &format!("Webhook {name}"), &main))
}

/// Draws the response times of each day.
fn times_chart(times: &ResponseTimes) -> DayChart {
    DayChart::new(times.days.iter().map(|day| {
        let [p50, p95] = [day.p50_ms, day.p95_ms].map(|ms| u64::from(ms.unwrap_or_default()));
        let title = match day.responses {
            0 => "no responses".to_owned(),
            responses => format!(
                "half within {} ms, 95 % within {} ms, {} responses",
                thousands(p50),
                thousands(p95),
                thousands(responses)
            ),
        };
        ChartDay { day: day.day, first: p50, second: p95, title }
    }))
}

/// Shows the new signing secret once.
pub(crate) async fn show_secret(
    user: SignedInUser,
    path: web::Path<(String, String)>,
) -> PageResult {
    let (key, webhook_id) = path.into_inner();
    let id = id_of(&user, &key)?;
    let (key, report) = user
        .ask(async |owner| Ok((owner.standing(&id).await?, owner.webhook(&id, &webhook_id).await?)))
        .await?;
    let main = SecretPage {
        base: user.base(),
        key: &key,
        webhook: &report.webhook,
        retiring_until: report.retiring_until,
        result: &user.flash,
    };
    Ok(PageResponse::ok(user.frame(), "Signing secret", &main))
}

/// Explains why a webhook is disabled.
fn why_disabled(reason: Option<&DisabledReason>) -> &'static str {
    match reason {
        Some(DisabledReason::Failing) => {
            "The service disabled this webhook because all deliveries failed for days."
        }
        Some(DisabledReason::Gone) => {
            "The service disabled this webhook because it responded 410 Gone."
        }
        None => "An operator of the service disabled this webhook.",
    }
}

const FILTERS: [(&str, &str); 5] = [
    ("All", ""),
    ("Pending", "pending"),
    ("Succeeded", "succeeded"),
    ("Failed", "failed"),
    ("Exhausted", "exhausted"),
];
/// Number of log entries on one page.
const ATTEMPTS_PER_PAGE: u32 = 25;
