//! The model: predicts the result of every operation from the contract, with maps and lists. Predicts responses as
//! callers see them, in JSON, without random ids, hashes and secrets.

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

/// The reason of a refusal, as callers see it.
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

/// A response, and the limits if the request reached the rate check.
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
    /// Expiry of each replaced secret, newest first.
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
    /// The webhooks with a delivery.
    pub(super) told: Vec<String>,
    /// Whether it waits for a webhook.
    is_waiting: bool,
}

/// The response to a repeated idempotency key.
struct Named {
    to: String,
    message: String,
    envelope: usize,
    at: i64,
}

/// A cached 429 of minute or day.
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
    /// Number of admin actions in the audit trail.
    pub(super) deeds: u64,
    handles: BTreeMap<&'static str, usize>,
    suspended: BTreeMap<&'static str, Decision>,
    /// Repeated deliveries, also to later webhooks: envelope and webhook.
    redelivered: BTreeSet<(String, String)>,
    named: BTreeMap<(usize, String), Named>,
    remembered: BTreeMap<(usize, usize), RefusedBefore>,
}

impl Truth {
    /// The sealing algorithm of all envelopes.
    pub(super) fn begin(now: i64, algorithm: &'static str) -> Self {
        Self { now, algorithm, ..Self::default() }
    }

    /// Number of stored sends with an idempotency key.
    pub(super) fn named(&self) -> usize {
        self.named.len()
    }

    /// The newest live session of the account.
    pub(super) fn live_session_of(&self, account: usize) -> Option<usize> {
        (0..self.sessions.len())
            .rev()
            .find(|at| self.sessions[*at].account == account && self.is_live(*at))
    }

    pub(super) fn webhook_ids(&self, key: usize) -> Vec<String> {
        self.keys[key].webhooks.iter().map(|webhook| webhook.id.clone()).collect()
    }

    /// Whether the key could open its envelopes, limits aside.
    pub(super) fn may_open(&self, key: usize) -> bool {
        self.keys[key].status == "active" && !self.is_blocked(key)
    }

    fn is_live(&self, session: usize) -> bool {
        let session = &self.sessions[session];
        !session.ended && self.now < session.expires_at
    }

    /// Account of a token.
    fn authenticate(&self, shown: Shown) -> Result<usize, Refused> {
        match shown {
            Shown::Session(session) if self.is_live(session) => Ok(self.sessions[session].account),
            _ => Err(UNAUTHORIZED),
        }
    }

    /// Governance decisions on the key, its account and its partner.
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

/// Name and limits of a plan.
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
