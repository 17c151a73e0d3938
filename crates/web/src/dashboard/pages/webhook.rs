//! The page of a webhook: its state, its log of deliveries, and buttons for actions.

mod actions;

use actix_web::web;
use askama::Template;
use sealpost_domain::{DisabledReason, KeyStatus, Timestamp, WebhookStatus};
use sealpost_service::{
    Cursor, Deliveries, DeliveriesPage, DeliveryState, Manage, Managed, WebhookView,
};
use serde::Deserialize;

pub(crate) use actions::{act, register};

use super::key_of;
use crate::dashboard::{
    charts::Sparkline,
    health::WebhookCard,
    response::PageResponse,
    session::SignedInUser,
    text::{ago, thousands, why_no_change},
};

#[derive(Template)]
#[template(path = "dashboard/webhook.html")]
struct WebhookPage<'a> {
    base: &'a str,
    form_token: &'a str,
    key: &'a str,
    key_status: KeyStatus,
    now: Timestamp,
    webhook: &'a WebhookView,
    card: WebhookCard<'a>,
    log: DeliveriesPage,
    filters: [StateFilter; 5],
    state: &'a str,
    result: Option<String>,
}

/// A link that filters the log of deliveries by one state.
struct StateFilter {
    name: &'static str,
    value: &'static str,
    is_current: bool,
}

/// The query parameters of the page. An empty parameter counts as absent.
#[derive(Default, Deserialize)]
pub(crate) struct DeliveryQuery {
    #[serde(default)]
    state: String,
    #[serde(default)]
    cursor: String,
}

pub(crate) async fn show(
    user: SignedInUser,
    path: web::Path<(String, String)>,
    query: web::Query<DeliveryQuery>,
) -> Result<PageResponse, PageResponse> {
    let (key, webhook_id) = path.into_inner();
    load(&user, &key, &webhook_id, &query, None).await
}

/// Shows the page. After a form was processed, `result` describes its effect. The text is not a query parameter,
/// because otherwise a link could make the page show a false result.
async fn load(
    user: &SignedInUser,
    key: &str,
    webhook_id: &str,
    query: &DeliveryQuery,
    result: Option<String>,
) -> Result<PageResponse, PageResponse> {
    let id = key_of(user, key)?;
    let input = Deliveries {
        webhook_id: webhook_id.to_owned(),
        state: DeliveryState::from_name(&query.state),
        limit: ATTEMPTS_PER_PAGE,
        cursor: query.cursor.parse::<Cursor>().ok(),
    };
    let state = input.state.map_or("", DeliveryState::as_str);
    let (key_status, report, log) = user
        .ask(async move |owner| {
            let status = owner.standing(&id).await?.status;
            let report = owner.webhook(&id, &input.webhook_id).await?;
            Ok((status, report, owner.manage(&id, Manage::Deliveries(input)).await?))
        })
        .await?;
    let Managed::Deliveries(log) = log else {
        return Err(PageResponse::internal_error(user.site()));
    };
    let filter = |(name, value)| StateFilter { name, value, is_current: value == state };
    let main = WebhookPage {
        base: user.base(),
        form_token: &user.form_token,
        key,
        key_status,
        now: user.app.api.clock.now(),
        webhook: &report.webhook,
        card: WebhookCard::new(&report),
        log,
        filters: FILTERS.map(filter),
        state,
        result,
    };
    Ok(PageResponse::ok(user.frame(), "Webhook", &main))
}

/// Explains to the user why the service disabled a webhook.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "templates pass references")]
fn why_disabled(reason: &DisabledReason) -> &'static str {
    match reason {
        DisabledReason::Failing => {
            "The service disabled this webhook because all deliveries failed for days."
        }
        DisabledReason::Gone => "The service disabled this webhook because it responded 410 Gone.",
    }
}

const FILTERS: [(&str, &str); 5] = [
    ("all", ""),
    ("pending", "pending"),
    ("succeeded", "succeeded"),
    ("failed", "failed"),
    ("exhausted", "exhausted"),
];
/// Number of log entries on one page.
const ATTEMPTS_PER_PAGE: u32 = 25;
