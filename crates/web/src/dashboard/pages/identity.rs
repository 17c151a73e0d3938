//! The pages of an identity. This file has the head that these pages share, and the first page: the data of the
//! identity, its usage and its daily counts.

use actix_web::web;
use askama::Template;
use sealpost_domain::{KeyStatus, Timestamp, ports::DailyCount};
use sealpost_service::{KeyStanding, PendingCount};

use super::id_of;
use crate::{
    dashboard::{
        charts::{ChartDay, DayChart, UsageMeter, usage_meters},
        health::state_of,
        session::SignedInUser,
        text::{ago, why_no_change},
    },
    html::{
        PageResponse, PageResult,
        text::{day, thousands, what_blocks, when},
    },
};

#[derive(Template)]
#[template(path = "dashboard/identity.html")]
struct IdentityPage<'a> {
    base: &'a str,
    head: IdentityHead<'a>,
    key: &'a KeyStanding,
    now: Timestamp,
    contact: Option<&'a str>,
    meters: [UsageMeter; 3],
    days: &'a [DailyCount],
    /// The numbers of messages that were sent and received on all `days` together.
    sent: u64,
    received: u64,
    /// True if no message was sent or received on any of the days.
    is_quiet: bool,
    chart: DayChart,
    pending: PendingCount,
    failing: usize,
}

/// The head of all pages of an identity: its name, its state, and the tabs.
#[derive(Template)]
#[template(path = "dashboard/identity_head.html")]
pub(super) struct IdentityHead<'a> {
    base: &'a str,
    key: &'a KeyStanding,
    tabs: [Tab; 5],
    current: &'static str,
}

/// A tab: a link to one of the pages of an identity.
struct Tab {
    text: &'static str,
    /// The end of the path, after the path of the identity.
    to: &'static str,
}

impl<'a> IdentityHead<'a> {
    /// Creates the head. `current` is the end of the path of the current tab.
    pub(super) fn new(user: &'a SignedInUser, key: &'a KeyStanding, current: &'static str) -> Self {
        Self { base: user.base(), key, tabs: TABS, current }
    }
}

pub(crate) async fn show(user: SignedInUser, key: web::Path<String>) -> PageResult {
    let id = id_of(&user, &key)?;
    let (view, webhooks) =
        user.ask(async |owner| Ok((owner.key(&id).await?, owner.webhooks(&id).await?))).await?;
    let (key, now) = (&view.standing, user.app.api.clock.now());
    let states = webhooks.iter().map(|report| state_of(&report.webhook));
    let main = IdentityPage {
        base: user.base(),
        head: IdentityHead::new(&user, key, ""),
        key,
        now,
        contact: user.app.sales_contact.as_deref(),
        meters: usage_meters(&key.usage, now),
        days: &view.days,
        sent: view.days.iter().map(|day| day.sent).sum(),
        received: view.days.iter().map(|day| day.received).sum(),
        is_quiet: view.days.iter().all(|day| day.sent + day.received + day.delivered == 0),
        chart: activity_chart(&view.days),
        pending: view.pending,
        failing: states.filter(|state| state.is_unhealthy()).count(),
    };
    Ok(PageResponse::ok(user.frame(), key.label.as_str(), &main))
}

/// Draws the messages sent and received on each day.
fn activity_chart(days: &[DailyCount]) -> DayChart {
    DayChart::new(days.iter().map(|day| ChartDay {
        day: day.day,
        first: day.sent,
        second: day.received,
        title: format!("{} sent, {} received", thousands(day.sent), thousands(day.received)),
    }))
}

const TABS: [Tab; 5] = [
    Tab { text: "Overview", to: "" },
    Tab { text: "Webhooks", to: "/webhooks" },
    Tab { text: "Events", to: "/events" },
    Tab { text: "Sent", to: "/sent" },
    Tab { text: "Senders", to: "/senders" },
];
