//! Lists accounts, keys and webhooks in pages, newest first.

use schemars::JsonSchema;
use sealpost_domain::{
    AccountId, ApiKey, ApiKeyId, Assessment, Attestation, Badge, BadgeId, BadgeStatus,
    GovernanceStanding, GovernanceSubject, Jurisdiction, Timestamp, WebhookId,
    ports::{AccountOverview, AccountSummary, KeyFilter, KeyOverview, StoreError, WebhookOwner},
};
use sealpost_limits::{OveragePolicy, Terms, UsageReport, report};
use sealpost_storage::{Database, Reader};
use serde::Serialize;

use crate::{
    account::key_status::GovernanceView,
    acts::{
        audited::{Operator, OperatorError},
        keys::{KeyView, NO_KEY},
    },
    operator::guarded_state::plan_text,
    webhooks::view::{WebhookView, views},
};

/// One page of a list. The id of its last entry is the cursor of the next page.
#[derive(Debug, Clone)]
pub struct ListPage<T> {
    /// The entries, in the order of the list.
    pub entries: Vec<T>,
    /// Whether further entries follow.
    pub more: bool,
}

/// An account, as operators see it in a list.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct AccountView {
    /// Id of the account.
    pub account_id: AccountId,
    /// The partner that the account was assigned to; null if there is none.
    pub partner: Option<String>,
    /// Number of keys, including revoked keys.
    pub key_count: u64,
    /// Time at which the account was opened.
    pub created_at: Timestamp,
    /// Time at which the account was closed; null if it is open.
    pub closed_at: Option<Timestamp>,
    /// Time at which the data of the account was erased; null if it was not.
    pub erased_at: Option<Timestamp>,
}

/// An account with its newest keys, as operators see it.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct AccountDetails {
    /// The account.
    #[serde(flatten)]
    pub account: AccountView,
    /// Number of sessions that have not ended.
    pub session_count: u64,
    /// Number of webhooks of all keys.
    pub webhook_count: u64,
    /// Governance decisions about the account and its partner.
    pub governance: GovernanceView,
    /// The newest keys, at most 100.
    pub keys: Vec<KeyRowView>,
}

/// A key, as operators see it in a list.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct KeyRowView {
    /// The key.
    #[serde(flatten)]
    pub key: KeyView,
    /// Time at which the key was created.
    pub created_at: Timestamp,
    /// Whether a governance decision blocks the key.
    pub blocked: bool,
}

impl Operator {
    /// Lists the accounts that are older than the account `below`. With `None`, begins with the newest account.
    pub fn accounts(
        &self,
        below: Option<&AccountId>,
        limit: u32,
    ) -> Result<ListPage<AccountView>, OperatorError> {
        let found = self.store.read(|reader| reader.accounts(below, limit.saturating_add(1)))?;
        Ok(page(found, limit))
    }

    /// Returns an account with its newest keys. Fails if the account does not exist.
    pub fn show_account(&self, id: &AccountId) -> Result<AccountDetails, OperatorError> {
        let of_account = KeyFilter { account: Some(*id), ..KeyFilter::default() };
        let (found, standing, keys) = self.store.read(|reader| {
            let found = reader.account(id, self.clock.now())?.ok_or(NO_ACCOUNT)?;
            let keys = reader.keys(&of_account, None, KEYS_SHOWN_MAX)?;
            let standing = account_standing(reader, &found.summary)?;
            Ok::<_, OperatorError>((found, standing, key_rows(reader, keys)?))
        })?;
        let AccountOverview { summary, sessions, webhooks } = found;
        Ok(AccountDetails {
            account: summary.into(),
            session_count: sessions,
            webhook_count: webhooks,
            governance: standing.into(),
            keys,
        })
    }

    /// Lists the keys that match the filter and are older than the key `below`. With `None`, begins with the newest
    /// key.
    pub fn keys(
        &self,
        filter: &KeyFilter,
        below: Option<&ApiKeyId>,
        limit: u32,
    ) -> Result<ListPage<KeyRowView>, OperatorError> {
        let found = self.store.read(|reader| {
            let keys = reader.keys(filter, below, limit.saturating_add(1))?;
            key_rows(reader, keys)
        })?;
        Ok(page(found, limit))
    }

    /// Lists the webhooks of a key or an account that are older than the webhook `below`. With `None`, begins with the
    /// newest webhook. Fails if the key or the account does not exist.
    pub fn webhooks(
        &self,
        owner: &WebhookOwner,
        below: Option<&WebhookId>,
        limit: u32,
    ) -> Result<ListPage<WebhookView>, OperatorError> {
        let now = self.clock.now();
        let found = self.store.read(|reader| {
            match owner {
                WebhookOwner::Account(id) => drop(reader.account(id, now)?.ok_or(NO_ACCOUNT)?),
                WebhookOwner::Key(id) => drop(reader.find_key(id)?.ok_or(NO_KEY)?),
            }
            let webhooks = reader.webhooks(owner, below, limit.saturating_add(1))?;
            Ok::<_, OperatorError>(views(reader, webhooks, now)?)
        })?;
        Ok(page(found, limit))
    }
}

/// Creates a page of at most `limit` rows. If further rows follow, `rows` must contain one row more than `limit`.
pub(super) fn page<R, T: From<R>>(mut rows: Vec<R>, limit: u32) -> ListPage<T> {
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = rows.len() > limit;
    rows.truncate(limit);
    ListPage { entries: rows.into_iter().map(T::from).collect(), more }
}

impl From<AccountSummary> for AccountView {
    fn from(account: AccountSummary) -> Self {
        let AccountSummary { id, partner, keys, created_at, closed_at, erased_at } = account;
        let partner = partner.map(|partner| partner.as_str().to_owned());
        Self { account_id: id, partner, key_count: keys, created_at, closed_at, erased_at }
    }
}

fn key_rows(reader: &mut Reader, keys: Vec<ApiKey>) -> Result<Vec<KeyRowView>, StoreError> {
    let blocked = reader.blocked_among(&keys)?;
    let row = |key: ApiKey| KeyRowView {
        created_at: key.created_at,
        blocked: blocked.contains(&key.id),
        key: key.into(),
    };
    Ok(keys.into_iter().map(row).collect())
}

/// Returns the open decisions on an account and on its partner.
fn account_standing(
    reader: &mut Reader,
    account: &AccountSummary,
) -> Result<GovernanceStanding, StoreError> {
    let partner = account.partner.clone().map(GovernanceSubject::Partner);
    let mut reasons = Vec::new();
    for subject in [Some(GovernanceSubject::Account(account.id)), partner].into_iter().flatten() {
        let open = reader.open_decisions(&subject)?;
        reasons.extend(open.into_iter().map(|decision| decision.reason));
    }
    Ok(GovernanceStanding(reasons))
}

pub(crate) const NO_ACCOUNT: OperatorError = OperatorError::NotFound("such account");
/// The error if an account does not exist or is closed.
pub(crate) const NO_OPEN_ACCOUNT: OperatorError =
    OperatorError::NotFound("open account with this id");
const KEYS_SHOWN_MAX: u32 = 100;

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
    /// The badges, sorted by expiry, latest first; at most 100, in an export at most 10,000.
    pub badges: Vec<BadgeListed>,
    /// The plan as text. A form sends it back, so that a change by another operator is detected.
    #[serde(skip)]
    pub plan_text: String,
}

/// The assessments and attestations of a key, which operators recorded as evidence for badges. Newest first, at most
/// 100 of each.
#[derive(Debug, Clone)]
pub struct KeyEvidence {
    /// The assessments.
    pub assessments: Vec<Assessment>,
    /// The attestations.
    pub attestations: Vec<Attestation>,
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
    /// Returns a key with its usage, governance decisions, webhooks and badges. Fails if the key does not exist.
    pub fn key_details(&self, id: &ApiKeyId) -> Result<KeyDetails, OperatorError> {
        key_details(&self.store, self.clock.now(), id, BADGES_SHOWN_MAX)?.ok_or(NO_KEY)
    }

    /// Returns the assessments and attestations of a key. Empty if the key does not exist.
    pub fn key_evidence(&self, id: &ApiKeyId) -> Result<KeyEvidence, OperatorError> {
        let (store, limit) = (&self.store, EVIDENCE_SHOWN_MAX);
        Ok(KeyEvidence {
            assessments: store.read(|reader| reader.assessments_of(id, limit))?,
            attestations: store.read(|reader| reader.attestations_of(id, limit))?,
        })
    }
}

/// Returns a key with its usage, governance decisions (such as blocks), webhooks, and at most `badges_max` badges.
/// `None` if the key does not exist.
pub(crate) fn key_details(
    store: &Database,
    now: Timestamp,
    id: &ApiKeyId,
    badges_max: u32,
) -> Result<Option<KeyDetails>, StoreError> {
    let Some(key) = store.read(|reader| reader.find_key(id))? else { return Ok(None) };
    let found = store.read(|reader| reader.key_of(&key.account_id, id, now, 0))?;
    let Some(KeyOverview { key, usage, standing, .. }) = found else { return Ok(None) };
    let terms = Terms::new(&key.plan);
    let owner = WebhookOwner::Key(*id);
    let webhooks = store.read(|reader| {
        let webhooks = reader.webhooks(&owner, None, WEBHOOKS_SHOWN_MAX)?;
        views(reader, webhooks, now)
    })?;
    let badges = store.read(|reader| reader.badges_of(id, badges_max))?;
    Ok(Some(KeyDetails {
        created_at: key.created_at,
        throughput_per_second: terms.per_second,
        allow_overage: terms.overage == OveragePolicy::Admit,
        usage: report(&terms, &usage, now),
        governance: standing.into(),
        webhooks,
        badges: badges.into_iter().map(|badge| listed(badge, now)).collect(),
        plan_text: plan_text(&key.plan),
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
const EVIDENCE_SHOWN_MAX: u32 = 100;
