//! Reads the data that the dashboard shows.

use std::collections::HashMap;

use sealpost_domain::{AccountId, ApiKeyId, Timestamp, ports::DailyCount};
use sealpost_limits::UsageReport;
use sealpost_storage::Reader;

use super::{
    NO_KEY, Owner,
    correspondents::{Correspondent, correspondents},
    views::{KeyPage, PENDING_MAX, PendingCount, SessionView, Truncated, standing_of},
};
use crate::{
    account::{
        activity::{ActivityPage, ListActivity},
        key_status::KeyStanding,
    },
    error::Error,
    sealpost::core::Core,
};

impl Owner<'_> {
    /// Lists the account's keys: revoked keys last, otherwise newest first. At most 200. Counts at most 100 waiting
    /// envelopes of each key.
    pub async fn keys(&self) -> Result<Truncated<KeyStanding>, Error> {
        self.read(|core, reader, account, now| {
            let keys = reader.keys_of(
                &account,
                KEYS_MAX + 1,
                core.kept_since(now),
                LISTED_WAITING_MAX + 1,
            )?;
            let keys = keys.into_iter().map(|key| standing_of(core, key, LISTED_WAITING_MAX, now));
            Ok(Truncated::new(keys.collect::<Result<Vec<_>, _>>()?.into_iter(), KEYS_MAX))
        })
        .await
    }

    /// Returns the status, the limits and the usage of one key. Refuses a key of another account.
    pub async fn standing(&self, id: &ApiKeyId) -> Result<KeyStanding, Error> {
        let id = *id;
        self.read(move |core, reader, account, now| {
            let max = core.settings.waiting_counted_max;
            let oldest = core.kept_since(now);
            let key = reader.key_of(&account, &id, oldest, max.saturating_add(1))?.ok_or(NO_KEY)?;
            Ok(standing_of(core, key, max, now)?)
        })
        .await
    }

    /// Returns the data for the page of one key. Refuses a key of another account.
    pub async fn key(&self, id: &ApiKeyId) -> Result<KeyPage, Error> {
        let id = *id;
        self.read(move |core, reader, account, now| {
            let max = core.settings.waiting_counted_max;
            let oldest = core.kept_since(now);
            let key = reader.key_of(&account, &id, oldest, max.saturating_add(1))?.ok_or(NO_KEY)?;
            let month = key.usage.month.start;
            let standing = standing_of(core, key, max, now)?;
            let first = first_day(now);
            let mut counted = reader.daily_counts(&id, first.min(month), UNCOUNTED_MAX)?;
            raise_todays_sent(&mut counted, &standing.usage, month, now);
            Ok(KeyPage {
                standing,
                days: every_day(first, &counted),
                policy: reader.find_policy(&id)?.unwrap_or_default().into(),
                pending: PendingCount(reader.count_pending(&id, oldest, PENDING_MAX + 1)?),
            })
        })
        .await
    }

    /// Returns the names of other keys, such as the senders in a policy.
    pub async fn correspondents(
        &self,
        keys: Vec<ApiKeyId>,
    ) -> Result<HashMap<ApiKeyId, Correspondent>, Error> {
        self.read(move |_core, reader, _account, _now| {
            Ok(correspondents(reader, keys.iter().copied())?)
        })
        .await
    }

    /// Returns at most 100 valid sessions of the account, ordered by latest expiry first.
    pub async fn sessions(&self) -> Result<Truncated<SessionView>, Error> {
        let this = self.session.token;
        self.read(move |_core, reader, account, now| {
            let sessions = reader.sessions_of(&account, now, SESSIONS_MAX + 1)?;
            let views = sessions.iter().map(|session| SessionView::new(session, &this));
            Ok(Truncated::new(views, SESSIONS_MAX))
        })
        .await
    }

    /// Lists the activity of the account.
    pub async fn activity(&self, query: ListActivity) -> Result<ActivityPage, Error> {
        self.accounts.activity(&self.session, query).await
    }

    /// Runs database queries on the blocking pool, with the account and the current time as arguments.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        queries: impl Fn(&Core, &mut Reader, AccountId, Timestamp) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let account = self.session.account_id;
        let core = &self.accounts.core;
        core.block(core, move |core| {
            let now = core.clock.now();
            core.store.read(|reader| queries(core, reader, account, now))
        })
        .await
    }
}

fn first_day(now: Timestamp) -> Timestamp {
    Timestamp::from_millis(now.start_of_day().as_millis() - (DAYS - 1) * DAY_MS)
}

/// Raises today's number of sent messages to the number that follows from the usage counters, if that number is higher.
/// The usage counters are always current. The daily count can be too low: it includes only a limited number of the rows
/// that housekeeping has not counted yet.
///
/// The number from the usage counters is this month's usage minus the daily counts of the month's earlier days. It is
/// at most today's number of requests.
fn raise_todays_sent(
    counted: &mut Vec<DailyCount>,
    usage: &UsageReport,
    month: Timestamp,
    now: Timestamp,
) {
    let today = now.start_of_day();
    let earlier = counted.iter().filter(|count| (month..today).contains(&count.day));
    let earlier: u64 = earlier.map(|count| count.sent).sum();
    let sent = u64::from(usage.month.used).saturating_sub(earlier).min(usage.day.used.into());
    match counted.last_mut().filter(|count| count.day == today) {
        Some(count) => count.sent = count.sent.max(sent),
        None => counted.push(DailyCount { day: today, sent, received: 0, delivered: 0 }),
    }
}

fn every_day(first: Timestamp, counted: &[DailyCount]) -> Vec<DailyCount> {
    let day = |number| {
        let day = Timestamp::from_millis(first.as_millis() + number * DAY_MS);
        let none = DailyCount { day, sent: 0, received: 0, delivered: 0 };
        counted.iter().find(|count| count.day == day).copied().unwrap_or(none)
    };
    (0..DAYS).map(day).collect()
}

const KEYS_MAX: u32 = 200;
/// Maximum number of waiting envelopes that the list of keys counts for each key.
const LISTED_WAITING_MAX: u32 = 100;
const SESSIONS_MAX: u32 = 100;
/// Maximum number of rows of each kind that a page itself adds to the daily counts, because housekeeping has not
/// counted them yet.
const UNCOUNTED_MAX: u32 = 10_000;
const DAYS: i64 = 30;
const DAY_MS: i64 = 86_400_000;

#[cfg(test)]
mod tests {
    use sealpost_limits::WindowReport;

    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(9 * DAY_MS + 5);

    fn day(day: i64, sent: u64) -> DailyCount {
        let day = Timestamp::from_millis(day * DAY_MS);
        DailyCount { day, sent, received: 1, delivered: 1 }
    }

    /// Returns the number of messages sent today. In this case, the usage counters show `month` messages since day 5,
    /// and `requests` requests today.
    fn todays_sent(mut counted: Vec<DailyCount>, month: u32, requests: u32) -> u64 {
        let window = |used| WindowReport { limit: 99, used, remaining: 0, resets_at: NOW };
        let usage = UsageReport { minute: window(0), day: window(requests), month: window(month) };
        raise_todays_sent(&mut counted, &usage, Timestamp::from_millis(5 * DAY_MS), NOW);
        every_day(first_day(NOW), &counted).last().unwrap().sent
    }

    #[test]
    fn todays_messages_are_at_least_those_of_the_limits() {
        assert_eq!(todays_sent(vec![], 35, 99), 35);
        assert_eq!(todays_sent(vec![day(9, 2)], 35, 99), 35);
        assert_eq!(todays_sent(vec![day(4, 50), day(5, 10), day(8, 5), day(9, 2)], 35, 99), 20);
        assert_eq!(todays_sent(vec![day(9, 40)], 35, 99), 40);
        assert_eq!(todays_sent(vec![], 35, 3), 3, "at most the requests of today");
        assert_eq!(todays_sent(vec![day(8, 50)], 35, 99), 0);
    }
}
