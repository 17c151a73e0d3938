//! The model: a second, simple implementation of the API contract with maps and lists. Predicts the response to every
//! operation as JSON, without random ids, hashes and secrets.

mod accounts;
mod admission;
mod callers;
mod managing;
mod operators;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    op::Plan,
    usage::{Terms, Used},
};

pub(super) use callers::{Request, Sending, Target};
pub(super) use operators::{Deed, Unmade};

/// The parts of a refusal that callers see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refused {
    pub(super) code: &'static str,
    pub(super) field: Option<&'static str>,
    pub(super) retry_after_s: Option<u64>,
}

impl Refused {
    pub(super) const fn new(code: &'static str) -> Self {
        Self { code, field: None, retry_after_s: None }
    }

    pub(super) const fn of(code: &'static str, field: &'static str) -> Self {
        Self { code, field: Some(field), retry_after_s: None }
    }

    pub(super) fn until(code: &'static str, now: i64, until: i64) -> Self {
        let retry_after_s = u64::try_from((until - now + 999) / 1000).unwrap().max(1);
        Self { code, field: None, retry_after_s: Some(retry_after_s) }
    }
}

/// A response with the rate limits of the key. `limits` is `None` if the request was refused before the rate limits
/// were checked.
#[derive(Debug, PartialEq)]
pub(super) struct Said<T> {
    pub(super) result: Result<T, Refused>,
    pub(super) limits: Option<Value>,
}

/// The session token in a request: absent, malformed, or that of the session with this index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    Absent,
    Malformed,
    Session(usize),
}

/// The API key that a request names: none, an existing key, or a faulty name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Called {
    Absent,
    Key(usize),
    Malformed,
    Unknown,
    Unreadable,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Caller {
    pub(super) shown: Shown,
    pub(super) called: Called,
}

/// A governance decision that is not lifted yet.
#[derive(Debug, Clone)]
pub(super) struct Decision {
    status: &'static str,
    reason: String,
    since: i64,
}

pub(super) struct Account {
    pub(super) id: String,
    /// All login secrets that the account has had. Only the last secret is valid.
    pub(super) secrets: Vec<String>,
    partner: Option<usize>,
    council: Option<Decision>,
}

pub(super) struct Session {
    pub(super) token: String,
    pub(super) account: usize,
    expires_at: i64,
    ended: bool,
}

pub(super) struct Key {
    pub(super) id: String,
    pub(super) account: usize,
    did: String,
    handle: Option<&'static str>,
    created_at: i64,
    status: &'static str,
    plan: &'static str,
    terms: Terms,
    used: Used,
    council: Option<Decision>,
    webhooks: Vec<Webhook>,
}

struct Webhook {
    id: String,
    shown: Value,
    /// Expiry of each replaced secret in milliseconds since the Unix epoch, newest first.
    retiring: Vec<i64>,
}

pub(super) struct Envelope {
    pub(super) id: String,
    pub(super) recipient: usize,
    pub(super) message: String,
    /// The response to the send that stored the envelope.
    sent: Value,
    at: i64,
    opened_at: Option<i64>,
    /// The ids of the webhooks that get the envelope.
    pub(super) told: Vec<String>,
    /// True if the envelope waits because its recipient has no webhook.
    is_waiting: bool,
}

/// The first send with an idempotency key, and the time of this send in milliseconds since the Unix epoch.
struct Named {
    to: String,
    message: String,
    envelope: usize,
    at: i64,
}

/// A cached refusal by the limit per minute or per day. Times are in milliseconds since the Unix epoch.
struct RefusedBefore {
    at: i64,
    until: i64,
    terms: Terms,
    used: Used,
}

#[derive(Default)]
pub(super) struct Truth {
    pub(super) now: i64,
    algorithm: &'static str,
    pub(super) accounts: Vec<Account>,
    pub(super) sessions: Vec<Session>,
    pub(super) keys: Vec<Key>,
    pub(super) envelopes: Vec<Envelope>,
    /// Expected number of entries in the audit trail.
    pub(super) deeds: u64,
    handles: BTreeMap<&'static str, usize>,
    suspended: BTreeMap<&'static str, Decision>,
    /// Deliveries that were requested again, as pairs of envelope id and webhook id. The webhook can be newer than the
    /// envelope.
    redelivered: BTreeSet<(String, String)>,
    named: BTreeMap<(usize, String), Named>,
    remembered: BTreeMap<(usize, usize), RefusedBefore>,
}

impl Truth {
    /// Creates an empty model. `now` is in milliseconds since the Unix epoch. All envelopes are sealed with
    /// `algorithm`.
    pub(super) fn begin(now: i64, algorithm: &'static str) -> Self {
        Self { now, algorithm, ..Self::default() }
    }

    /// Returns the number of stored sends with an idempotency key.
    pub(super) fn named(&self) -> usize {
        self.named.len()
    }

    /// Returns the index of the newest live session of the account.
    pub(super) fn live_session_of(&self, account: usize) -> Option<usize> {
        (0..self.sessions.len())
            .rev()
            .find(|at| self.sessions[*at].account == account && self.is_live(*at))
    }

    pub(super) fn webhook_ids(&self, key: usize) -> Vec<String> {
        self.keys[key].webhooks.iter().map(|webhook| webhook.id.clone()).collect()
    }

    /// Returns true if the key is active and not blocked, and can therefore open envelopes. Ignores rate limits.
    pub(super) fn may_open(&self, key: usize) -> bool {
        self.keys[key].status == "active" && !self.is_blocked(key)
    }

    fn is_live(&self, session: usize) -> bool {
        let session = &self.sessions[session];
        !session.ended && self.now < session.expires_at
    }

    /// Returns the account of a session. Refuses a session that does not exist or has ended.
    fn authenticate(&self, shown: Shown) -> Result<usize, Refused> {
        match shown {
            Shown::Session(session) if self.is_live(session) => Ok(self.sessions[session].account),
            _ => Err(UNAUTHORIZED),
        }
    }

    /// Returns the governance decisions about the key, its account and its partner.
    fn decisions(&self, key: usize) -> Vec<(&'static str, &Decision)> {
        let key = &self.keys[key];
        let account = &self.accounts[key.account];
        let council = key.council.iter().chain(&account.council);
        let partner = account.partner.and_then(|partner| self.suspended.get(PARTNERS[partner]));
        let suspension = partner.into_iter().map(|decision| ("partner_suspension", decision));
        council.map(|decision| ("council_action", decision)).chain(suspension).collect()
    }

    fn is_blocked(&self, key: usize) -> bool {
        self.decisions(key).iter().any(|(_, decision)| decision.status == "enforced")
    }
}

/// Returns the name and the limits of a plan.
fn terms(plan: Plan) -> (&'static str, Terms) {
    match plan {
        Plan::Builder => ("builder", Terms::BUILDER),
        Plan::Enterprise(terms) => ("enterprise", terms),
        Plan::Explorer => ("explorer", Terms::EXPLORER),
    }
}

pub(super) const KEYS_MAX: usize = 4;
pub(super) const REGISTRATIONS_MAX: usize = 3;
pub(super) const MESSAGE_BYTES_MAX: usize = 2000;
pub(super) const LABEL: &str = "a label";
pub(super) const PARTNERS: [&str; 2] = ["acme", "globex"];
const SESSION_MS: i64 = 12 * 3_600_000;
const UNAUTHORIZED: Refused = Refused::new("UNAUTHORIZED");
