//! What the owner of an account sees and does beside the API: on the dashboard. A session alone stands for the owner,
//! every key of the account may be looked at whatever its state, and nothing here counts against a plan.

mod act;

use sealpost_domain::{
    AccountId, ApiKeyId, Refusal, Timestamp, TokenHash,
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
    /// How many notices wait to be sent to its registrations.
    pub waiting: u64,
}

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
    pub fn keys(&self) -> Result<Vec<KeyStanding>, Error> {
        let now = self.sealpost.core.clock.now();
        let mut owner = self.sealpost.core.store.owner_lookup()?;
        let keys = owner.keys_of(&self.account_id, KEYS_MAX)?;
        Ok(keys.into_iter().map(|key| standing(key, now)).collect())
    }

    /// One of them.
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
            waiting: owner.count_waiting(id)?,
        })
    }

    /// The account's sessions, those that last longest first; 100 at the most.
    pub fn sessions(&self) -> Result<Vec<SessionView>, Error> {
        let now = self.sealpost.core.clock.now();
        let mut owner = self.sealpost.core.store.owner_lookup()?;
        let sessions = owner.sessions_of(&self.account_id, now, SESSIONS_MAX)?;
        let view = |session: sealpost_domain::Session| SessionView {
            name: name_of(&session.token),
            expires_at: session.expires_at,
            is_this: session.token == self.session,
        };
        Ok(sessions.into_iter().map(view).collect())
    }
}

/// What a form carries that only this session's own pages can know.
pub fn form_token(session_token: &str) -> Option<String> {
    SessionToken::form_token(session_token)
}

fn standing(seen: KeyOverview, now: Timestamp) -> KeyStanding {
    let KeyOverview { key, usage, standing, registrations } = seen;
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
        webhooks: registrations,
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
const DAYS: i64 = 30;
const DAY_MS: i64 = 86_400_000;
/// Of a hash of 256 bits, enough to tell an account's sessions apart.
const NAME_LEN: usize = 8;
