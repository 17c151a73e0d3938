//! A key with its usage, governance and webhooks.

use schemars::JsonSchema;
use sealpost_domain::{
    ApiKeyId, Timestamp,
    ports::{KeyOverview, WebhookOwner},
};
use sealpost_limits::{OveragePolicy, Terms, UsageReport, report};
use serde::Serialize;

use super::{
    action::{Operator, OperatorError},
    keys::{KeyShown, NO_KEY},
};
use crate::{account::key_status::GovernanceView, webhooks::view::WebhookView};

/// A key with its usage, governance and webhooks.
#[derive(JsonSchema, Serialize)]
pub struct KeyDetails {
    /// The key.
    #[serde(flatten)]
    pub key: KeyShown,
    /// Time of activation.
    pub created_at: Timestamp,
    /// Messages per second, with a burst of one second.
    pub throughput_per_second: u32,
    /// Whether messages over the monthly allowance are admitted and recorded.
    pub allow_overage: bool,
    /// Limits and their use.
    pub usage: UsageReport,
    /// Governance decisions about the key.
    pub governance: GovernanceView,
    /// The webhooks, newest first.
    pub webhooks: Vec<WebhookView>,
}

impl Operator {
    /// Returns a key with its usage, governance and webhooks.
    pub fn key_details(&self, id: &ApiKeyId) -> Result<KeyDetails, OperatorError> {
        let key = self.store.lookup()?.find_key(id)?.ok_or(NO_KEY)?;
        let found = self.store.owner_lookup()?.key_of(&key.account_id, id, 0)?.ok_or(NO_KEY)?;
        let KeyOverview { key, usage, standing, webhooks: _, waiting: _ } = found;
        let terms = Terms::of(&key.plan);
        let mut lookup = self.store.operator_lookup()?;
        let webhooks = lookup.webhooks(&WebhookOwner::Key(*id), None, WEBHOOKS_SHOWN_MAX)?;
        Ok(KeyDetails {
            created_at: key.created_at,
            throughput_per_second: terms.per_second,
            allow_overage: terms.overage == OveragePolicy::Admit,
            usage: report(&terms, &usage, self.clock.now()),
            governance: standing.into(),
            webhooks: webhooks.into_iter().map(WebhookView::from).collect(),
            key: key.into(),
        })
    }
}

const WEBHOOKS_SHOWN_MAX: u32 = 100;
