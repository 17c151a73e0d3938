//! What the owner of an account sees and does beside the API: on the dashboard. A session alone stands for the owner,
//! every key of the account may be looked at whatever its state, and nothing here counts against a plan.

mod act;

use std::fmt;

use sealpost_domain::{
    AccountId, ApiKeyId, Refusal, Session, Timestamp, TokenHash,
    ports::{DailyCount, KeyOverview},
};
use sealpost_limits::{Terms, report};
use sealpost_wallet::SessionToken;

use crate::{Error, KeyStanding, Sealpost, credentials::read_token};

/// An owner with a live session.
pub struct Owner<'a> {
    sealpost: &'a Sealpost,
    session: TokenHash,
    account_id: AccountId,
}

/// Everything about one key.
pub struct KeyPage {
    /// Where it stands.
    pub standing: KeyStanding,
    /// What it sent and received on each of the last 30 days, today last; days without anything are there too.
    pub days: Vec<DailyCount>,
    /// How many notices wait to be sent to its webhooks.
    pub waiting: Waiting,
}

/// The first of many.
pub struct Firsts<T> {
    /// As many as are looked at.
    pub first: Vec<T>,
    /// Whether there are more than these.
    pub has_more: bool,
}

/// A number of notices, which are not counted beyond 10,000.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting(u64);

/// A session of the account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionView {
    /// Names it to its owner; nobody can log in with it.
    pub name: String,
    /// When it ends by itself.
    pub expires_at: Timestamp,
    /// Whether it is the one that asks.
    pub is_this: bool,
}

impl Sealpost {
    /// The owner whom this session token stands for.
    pub fn owner(&self, token: &str) -> Result<Owner<'_>, Error> {
        let session = read_token(Some(token))?;
        let account_id = self.require_session(&session)?.account_id;
        Ok(Owner { sealpost: self, session, account_id })
    }
}

impl Owner<'_> {
    /// Whose account it is.
    pub fn account_id(&self) -> AccountId {
        self.account_id
    }

    /// The account's keys: those that are not revoked first, the newest first among each; 200 at the most.
    pub fn keys(&self) -> Result<Firsts<KeyStanding>, Error> {
        let now = self.sealpost.core.clock.now();
        let mut owner = self.sealpost.core.store.owner_lookup()?;
        let keys = owner.keys_of(&self.account_id, KEYS_MAX + 1)?;
        Ok(Firsts::of(keys.into_iter().map(|key| standing(key, now)), KEYS_MAX))
    }

    /// Where one of them stands.
    pub fn standing(&self, id: &ApiKeyId) -> Result<KeyStanding, Error> {
        let now = self.sealpost.core.clock.now();
        let mut owner = self.sealpost.core.store.owner_lookup()?;
        let key = owner.key_of(&self.account_id, id)?.ok_or(NO_KEY)?;
        Ok(standing(key, now))
    }

    /// Everything about one of them.
    pub fn key(&self, id: &ApiKeyId) -> Result<KeyPage, Error> {
        let now = self.sealpost.core.clock.now();
        let mut owner = self.sealpost.core.store.owner_lookup()?;
        let key = owner.key_of(&self.account_id, id)?.ok_or(NO_KEY)?;
        let first = first_day(now);
        let counted = owner.daily_counts(id, first)?;
        let standing = standing(key, now);
        Ok(KeyPage {
            standing,
            days: every_day(first, &counted),
            waiting: Waiting(owner.count_pending(id, WAITING_MAX + 1)?),
        })
    }

    /// The account's sessions, those that last longest first; 100 at the most.
    pub fn sessions(&self) -> Result<Firsts<SessionView>, Error> {
        let sessions = self.live_sessions()?;
        let view = |session: Session| SessionView {
            name: name_of(&session.token),
            expires_at: session.expires_at,
            is_this: session.token == self.session,
        };
        Ok(Firsts::of(sessions.into_iter().map(view), SESSIONS_MAX))
    }

    /// One more than are shown.
    fn live_sessions(&self) -> Result<Vec<Session>, Error> {
        let now = self.sealpost.core.clock.now();
        let mut owner = self.sealpost.core.store.owner_lookup()?;
        Ok(owner.sessions_of(&self.account_id, now, SESSIONS_MAX + 1)?)
    }
}

impl<T> Firsts<T> {
    fn of(all: impl ExactSizeIterator<Item = T>, limit: u32) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Self { has_more: all.len() > limit, first: all.take(limit).collect() }
    }
}

impl Waiting {
    /// Whether it is exactly this many.
    pub fn is(self, number: u64) -> bool {
        self.0 == number
    }
}

impl fmt::Display for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 > WAITING_MAX.into() { f.write_str("more than 10,000") } else { self.0.fmt(f) }
    }
}

/// What a form carries that only this session's own pages can know.
pub fn form_token(session_token: &str) -> Option<String> {
    SessionToken::form_token(session_token)
}

fn standing(seen: KeyOverview, now: Timestamp) -> KeyStanding {
    let KeyOverview { key, usage, standing, webhooks } = seen;
    let terms = Terms::of(&key.plan);
    KeyStanding {
        api_key_id: key.id,
        label: key.label,
        handle: key.handle,
        did: key.did,
        status: key.status,
        plan: key.plan.name(),
        account_id: key.account_id,
        created_at: key.created_at,
        governance: standing.into(),
        usage: report(&terms, &usage, now),
        throughput_per_second: terms.per_second,
        webhooks,
    }
}

fn first_day(now: Timestamp) -> Timestamp {
    let today = now.as_millis() - now.as_millis().rem_euclid(DAY_MS);
    Timestamp::from_millis(today - (DAYS - 1) * DAY_MS)
}

fn every_day(first: Timestamp, counted: &[DailyCount]) -> Vec<DailyCount> {
    let day = |number| {
        let day = Timestamp::from_millis(first.as_millis() + number * DAY_MS);
        let nothing = DailyCount { day, sent: 0, received: 0, delivered: 0 };
        counted.iter().find(|count| count.day == day).copied().unwrap_or(nothing)
    };
    (0..DAYS).map(day).collect()
}

fn name_of(token: &TokenHash) -> String {
    token.0.iter().take(NAME_LEN).fold(String::new(), |name, byte| format!("{name}{byte:02x}"))
}

const NO_KEY: Refusal = Refusal::KeyNotFound { field: None };
const KEYS_MAX: u32 = 200;
const SESSIONS_MAX: u32 = 100;
const WAITING_MAX: u32 = 10_000;
const DAYS: i64 = 30;
const DAY_MS: i64 = 86_400_000;
/// Of a hash of 256 bits, enough to tell an account's sessions apart.
const NAME_LEN: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_counted_up_to_a_bound_and_no_further() {
        let shown = [0, 1, 10_000, 10_001].map(|number| Waiting(number).to_string());
        assert_eq!(shown, ["0", "1", "10000", "more than 10,000"]);
    }
}
