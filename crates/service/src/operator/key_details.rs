//! A key with its usage, governance and webhooks.

use schemars::JsonSchema;
use sealpost_domain::{
    ApiKeyId, Badge, BadgeId, BadgeStatus, Jurisdiction, Timestamp,
    ports::{KeyOverview, StoreError, WebhookOwner},
};
use sealpost_limits::{OveragePolicy, Terms, UsageReport, report};
use sealpost_storage::Database;
use serde::Serialize;

use crate::{
    account::key_status::GovernanceView,
    acts::{
        audited::{Operator, OperatorError},
        keys::{KeyView, NO_KEY},
    },
    webhooks::view::WebhookView,
};

/// A key with its usage, governance and webhooks.
#[derive(JsonSchema, Serialize)]
pub struct KeyDetails {
    /// The key.
    #[serde(flatten)]
    pub key: KeyView,
    /// Time at which the key was created.
    pub created_at: Timestamp,
    /// Maximum number of messages per second. A burst of one second is allowed.
    pub throughput_per_second: u32,
    /// Whether messages over the monthly allowance are admitted and recorded.
    pub allow_overage: bool,
    /// The limits per minute, day and month, with the current usage.
    pub usage: UsageReport,
    /// Governance decisions about the key.
    pub governance: GovernanceView,
    /// The webhooks, newest first.
    pub webhooks: Vec<WebhookView>,
    /// The badges, sorted by expiry, latest first; at most 100.
    pub badges: Vec<BadgeListed>,
}

/// A badge of a key, as operators see it.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct BadgeListed {
    /// Id of the badge.
    pub badge_id: BadgeId,
    /// Whether the badge is valid, expired or revoked.
    pub status: BadgeStatus,
    /// The jurisdiction whose checks the key passed; `null` if the request for the badge named no jurisdiction.
    pub jurisdiction: Option<Jurisdiction>,
    /// Time from which the badge is valid.
    pub issued_at: Timestamp,
    /// Time from which the badge is no longer valid.
    pub expires_at: Timestamp,
}

impl Operator {
    /// Returns a key with its usage, governance and webhooks.
    pub fn key_details(&self, id: &ApiKeyId) -> Result<KeyDetails, OperatorError> {
        key_details(&self.store, self.clock.now(), id)?.ok_or(NO_KEY)
    }
}

/// Returns a key with its usage, governance and webhooks. `None` if the key does not exist.
pub(crate) fn key_details(
    store: &Database,
    now: Timestamp,
    id: &ApiKeyId,
) -> Result<Option<KeyDetails>, StoreError> {
    let Some(key) = store.read(|reader| reader.find_key(id))? else { return Ok(None) };
    let found = store.read(|reader| reader.key_of(&key.account_id, id, now, 0))?;
    let Some(KeyOverview { key, usage, standing, .. }) = found else { return Ok(None) };
    let terms = Terms::new(&key.plan);
    let owner = WebhookOwner::Key(*id);
    let webhooks = store.read(|reader| reader.webhooks(&owner, None, WEBHOOKS_SHOWN_MAX))?;
    let badges = store.read(|reader| reader.badges_of(id, BADGES_SHOWN_MAX))?;
    Ok(Some(KeyDetails {
        created_at: key.created_at,
        throughput_per_second: terms.per_second,
        allow_overage: terms.overage == OveragePolicy::Admit,
        usage: report(&terms, &usage, now),
        governance: standing.into(),
        webhooks: webhooks.into_iter().map(WebhookView::from).collect(),
        badges: badges.into_iter().map(|badge| listed(badge, now)).collect(),
        key: key.into(),
    }))
}

fn listed(badge: Badge, now: Timestamp) -> BadgeListed {
    BadgeListed {
        badge_id: badge.id,
        status: badge.status(now),
        jurisdiction: badge.compliance.map(|(jurisdiction, _)| jurisdiction),
        issued_at: badge.issued_at,
        expires_at: badge.expires_at,
    }
}

const WEBHOOKS_SHOWN_MAX: u32 = 100;
const BADGES_SHOWN_MAX: u32 = 100;
