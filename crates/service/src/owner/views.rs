//! The data that the pages of the dashboard show.

use std::{fmt, net::IpAddr};

use sealpost_domain::{
    SessionDetails, Timestamp, TokenHash,
    ports::{DailyCount, KeyOverview},
};
use sealpost_limits::{Terms, report};
use sealpost_wallet::WalletError;

use crate::{
    account::key_status::KeyStanding, acts::policy::PolicyView, sealpost::core::Core,
    webhooks::view::WaitingCount,
};

/// The data for the page of one key.
pub struct KeyPage {
    /// Status, limits and usage of the key.
    pub standing: KeyStanding,
    /// The counts of each of the last 30 days, today last. Includes days without messages.
    pub days: Vec<DailyCount>,
    /// The policy of the key as a recipient.
    pub policy: PolicyView,
    /// Number of deliveries that wait for their next attempt.
    pub pending: PendingCount,
}

/// The first entries of a list, at most as many as a page shows.
pub struct Truncated<T> {
    /// The entries on the page.
    pub first: Vec<T>,
    /// True if the list has further entries.
    pub has_more: bool,
}

/// The number of pending deliveries. Counting stops above 10,000.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PendingCount(pub(super) u64);

/// A session of the account, as its owner sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionView {
    /// The name with which the owner can end the session. The name is no credential.
    pub name: String,
    /// Time at which the session expires.
    pub expires_at: Timestamp,
    /// Time of the login.
    pub started_at: Timestamp,
    /// Time of the last known use, to the hour. `None` before the first known use.
    pub last_used_at: Option<Timestamp>,
    /// Address of the client that logged in.
    pub client_address: Option<IpAddr>,
    /// User agent of the client that logged in, as the client reported it.
    pub user_agent: Option<String>,
    /// True if the request for the page was made in this session.
    pub is_this: bool,
}

impl<T> Truncated<T> {
    pub(super) fn new(all: impl ExactSizeIterator<Item = T>, limit: u32) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Self { has_more: all.len() > limit, first: all.take(limit).collect() }
    }
}

impl PendingCount {
    /// Returns true if the count is exactly this number.
    pub fn is(self, number: u64) -> bool {
        self.0 == number
    }
}

impl fmt::Display for PendingCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 > PENDING_MAX.into() {
            write!(f, "more than {},{:03}", PENDING_MAX / 1000, PENDING_MAX % 1000)
        } else {
            self.0.fmt(f)
        }
    }
}

impl SessionView {
    pub(super) fn new(details: &SessionDetails, this: &TokenHash) -> Self {
        let SessionDetails { session, started_at, last_used_at, source } = details;
        Self {
            name: session.token.short_name(),
            expires_at: session.expires_at,
            started_at: *started_at,
            last_used_at: *last_used_at,
            client_address: source.address,
            user_agent: source.user_agent.as_ref().map(ToString::to_string),
            is_this: session.token == *this,
        }
    }
}

pub(super) fn standing_of(
    core: &Core,
    overview: KeyOverview,
    waiting_max: u32,
    now: Timestamp,
) -> Result<KeyStanding, WalletError> {
    let KeyOverview { key, usage, standing, webhooks, waiting } = overview;
    let usage = report(&Terms::new(&key.plan), &usage, now);
    let standing = KeyStanding::new(core, key, standing, usage, webhooks)?;
    Ok(KeyStanding { waiting: WaitingCount::new(waiting, waiting_max), ..standing })
}

pub(super) const PENDING_MAX: u32 = 10_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pending_deliveries_are_counted_up_to_a_bound() {
        let shown = [0, 1, 10_000, 10_001].map(|number| PendingCount(number).to_string());
        assert_eq!(shown, ["0", "1", "10000", "more than 10,000"]);
    }
}
