//! Lists accounts, keys and webhooks in pages, newest first.

use schemars::JsonSchema;
use sealpost_domain::{
    AccountId, ApiKey, ApiKeyId, Timestamp, WebhookId,
    ports::{AccountOverview, AccountSummary, KeyFilter, WebhookOwner},
};
use serde::Serialize;

use crate::{
    acts::{
        audited::{Operator, OperatorError},
        keys::KeyView,
    },
    webhooks::view::WebhookView,
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
#[expect(missing_docs, reason = "the names describe the fields")]
pub struct AccountView {
    pub account_id: AccountId,
    pub partner: Option<String>,
    /// Number of keys, including revoked keys.
    pub key_count: u64,
    pub created_at: Timestamp,
    pub closed_at: Option<Timestamp>,
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

    /// Returns an account with its newest keys.
    pub fn show_account(&self, id: &AccountId) -> Result<AccountDetails, OperatorError> {
        let of_account = KeyFilter { account: Some(*id), ..KeyFilter::default() };
        let (found, keys) = self.store.read(|reader| {
            let found = reader.account(id, self.clock.now())?.ok_or(NO_ACCOUNT)?;
            Ok::<_, OperatorError>((found, reader.keys(&of_account, None, KEYS_SHOWN_MAX)?))
        })?;
        let AccountOverview { summary, sessions, webhooks } = found;
        Ok(AccountDetails {
            account: summary.into(),
            session_count: sessions,
            webhook_count: webhooks,
            keys: keys.into_iter().map(KeyRowView::from).collect(),
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
        let found =
            self.store.read(|reader| reader.keys(filter, below, limit.saturating_add(1)))?;
        Ok(page(found, limit))
    }

    /// Lists the webhooks of a key or an account that are older than the webhook `below`. With `None`, begins with the
    /// newest webhook. Returns an empty page for an unknown owner.
    pub fn webhooks(
        &self,
        owner: &WebhookOwner,
        below: Option<&WebhookId>,
        limit: u32,
    ) -> Result<ListPage<WebhookView>, OperatorError> {
        let found =
            self.store.read(|reader| reader.webhooks(owner, below, limit.saturating_add(1)))?;
        Ok(page(found, limit))
    }
}

/// Creates a page of at most `limit` rows. `rows` contains one row more if further entries follow.
fn page<R, T: From<R>>(mut rows: Vec<R>, limit: u32) -> ListPage<T> {
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

impl From<ApiKey> for KeyRowView {
    fn from(key: ApiKey) -> Self {
        Self { created_at: key.created_at, key: key.into() }
    }
}

pub(crate) const NO_ACCOUNT: OperatorError = OperatorError::NotFound("such account");
const KEYS_SHOWN_MAX: u32 = 100;
