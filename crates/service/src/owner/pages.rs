//! Reads the data that the dashboard shows.

use sealpost_domain::{
    AccountId, ApiKeyId, SessionDetails, Timestamp,
    ports::{DailyCount, OwnerLookup},
};

use super::{
    account_owner::{NO_KEY, Owner},
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
        self.read(|core, lookup, account, now| {
            let keys = lookup.keys_of(&account, KEYS_MAX + 1, LISTED_WAITING_MAX + 1)?;
            let keys = keys.into_iter().map(|key| standing_of(core, key, LISTED_WAITING_MAX, now));
            Ok(Truncated::of(keys.collect::<Result<Vec<_>, _>>()?.into_iter(), KEYS_MAX))
        })
        .await
    }

    /// Returns the status of one key.
    pub async fn standing(&self, id: &ApiKeyId) -> Result<KeyStanding, Error> {
        let id = *id;
        self.read(move |core, lookup, account, now| {
            let max = core.settings.waiting_counted_max;
            let key = lookup.key_of(&account, &id, max.saturating_add(1))?.ok_or(NO_KEY)?;
            Ok(standing_of(core, key, max, now)?)
        })
        .await
    }

    /// Returns the data for the page of one key.
    pub async fn key(&self, id: &ApiKeyId) -> Result<KeyPage, Error> {
        let id = *id;
        self.read(move |core, lookup, account, now| {
            let max = core.settings.waiting_counted_max;
            let key = lookup.key_of(&account, &id, max.saturating_add(1))?.ok_or(NO_KEY)?;
            let first = first_day(now);
            let counted = lookup.daily_counts(&id, first)?;
            Ok(KeyPage {
                standing: standing_of(core, key, max, now)?,
                days: every_day(first, &counted),
                policy: core.store.lookup()?.find_policy(&id)?.unwrap_or_default().into(),
                pending: PendingCount(lookup.count_pending(&id, PENDING_MAX + 1)?),
            })
        })
        .await
    }

    /// Returns at most 100 valid sessions of the account, ordered by latest expiry first.
    pub async fn sessions(&self) -> Result<Truncated<SessionView>, Error> {
        let this = self.session.token;
        self.read(move |_core, lookup, account, now| {
            let sessions = live_sessions(lookup, &account, now)?;
            let views = sessions.iter().map(|session| SessionView::of(session, &this));
            Ok(Truncated::of(views, SESSIONS_MAX))
        })
        .await
    }

    /// Lists the activity of the account.
    pub async fn activity(&self, query: ListActivity) -> Result<ActivityPage, Error> {
        self.sealpost.list_activity(&self.session, query).await
    }

    /// Runs database queries on the blocking pool, with the account and the current time as arguments.
    async fn read<T: Send + 'static>(
        &self,
        queries: impl FnOnce(&Core, &mut dyn OwnerLookup, AccountId, Timestamp) -> Result<T, Error>
        + Send
        + 'static,
    ) -> Result<T, Error> {
        let account = self.session.account_id;
        self.sealpost
            .block(move |core: &Core| {
                let now = core.clock.now();
                queries(core, &mut *core.store.owner_lookup()?, account, now)
            })
            .await
    }
}

/// Returns the valid sessions, up to one more than a page shows. The additional session shows that the list is
/// truncated.
pub(super) fn live_sessions(
    lookup: &mut dyn OwnerLookup,
    account: &AccountId,
    now: Timestamp,
) -> Result<Vec<SessionDetails>, Error> {
    Ok(lookup.sessions_of(account, now, SESSIONS_MAX + 1)?)
}

fn first_day(now: Timestamp) -> Timestamp {
    let today = now.as_millis() - now.as_millis().rem_euclid(DAY_MS);
    Timestamp::from_millis(today - (DAYS - 1) * DAY_MS)
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
/// Maximum number of waiting envelopes that the list counts for each key.
const LISTED_WAITING_MAX: u32 = 100;
const SESSIONS_MAX: u32 = 100;
const DAYS: i64 = 30;
const DAY_MS: i64 = 86_400_000;
