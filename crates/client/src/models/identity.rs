//! Bodies of the operations of identities.

use std::fmt;

use sealpost_domain::{AcceptPolicy, AccountId, ApiKeyId, KeyStatus, ReceiptPolicy, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A new identity.
#[derive(Clone, Serialize, Deserialize)]
pub struct Activated {
    /// The public id of the identity.
    pub api_key_id: ApiKeyId,
    /// The display name.
    pub label: String,
    /// The handle.
    pub handle: Option<String>,
    /// The `did:key` of the identity.
    pub did: String,
    /// The status of the key.
    pub status: KeyStatus,
    /// The plan, which sets the limits of the key.
    pub plan: String,
    /// The account that owns the key.
    pub account_id: AccountId,
    /// Time of the activation.
    pub created_at: Timestamp,
    /// The login secret of a new account. No later response shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub login_secret: Option<String>,
    /// The recovery code of a new account, which replaces a lost login secret. No later response shows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery_code: Option<String>,
}

impl fmt::Debug for Activated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Activated").field("api_key_id", &self.api_key_id).finish_non_exhaustive()
    }
}

/// The state, the plan and the usage of an API key.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct KeyStanding {
    /// The public id of the identity.
    pub api_key_id: ApiKeyId,
    /// The display name.
    pub label: String,
    /// The handle.
    pub handle: Option<String>,
    /// The `did:key` of the identity.
    pub did: String,
    /// The status of the key.
    pub status: KeyStatus,
    /// The plan, which sets the limits of the key.
    pub plan: String,
    /// The account that owns the key.
    pub account_id: AccountId,
    /// Time of the activation.
    pub created_at: Timestamp,
    /// The blocks in force against the key.
    pub governance: Value,
    /// The used part of each limit.
    pub usage: Usage,
    /// Messages per second that the plan allows.
    pub throughput_per_second: u64,
    /// Number of webhooks.
    pub webhooks: u64,
    /// Number of envelopes that wait for a webhook.
    pub waiting: u64,
    /// Whether more envelopes wait than `waiting` counts.
    pub waiting_more: bool,
}

/// The used part of each limit.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Usage {
    /// Requests of this minute.
    pub minute: WindowUsage,
    /// Requests of this day (UTC).
    pub day: WindowUsage,
    /// Messages of this month (UTC).
    pub month: WindowUsage,
}

/// The use of one limit.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WindowUsage {
    /// The limit.
    pub limit: u64,
    /// The used part.
    pub used: u64,
    /// The rest.
    pub remaining: u64,
    /// End of the minute, day or month.
    pub resets_at: Timestamp,
}

/// The identity behind an API key or a handle.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Resolved {
    /// The public id of the identity.
    pub api_key_id: ApiKeyId,
    /// The handle.
    pub handle: Option<String>,
    /// The display name, if the key is listed.
    pub label: Option<String>,
    /// Whether the key can receive messages.
    pub active: bool,
}

/// The parts of a recipient policy to change.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PolicyChange {
    /// The senders whose messages the key accepts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accept: Option<AcceptPolicy>,
    /// The part of a receipt that senders see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipts: Option<ReceiptPolicy>,
    /// Whether other keys see the label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listed: Option<bool>,
    /// Keys to add to the allowlist.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<ApiKeyId>,
    /// Keys to remove from the allowlist.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unallow: Vec<ApiKeyId>,
    /// Keys to add to the blocklist.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub block: Vec<ApiKeyId>,
    /// Keys to remove from the blocklist.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unblock: Vec<ApiKeyId>,
}

/// The recipient policy of an API key.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PolicyView {
    /// The senders whose messages the key accepts.
    pub accept: AcceptPolicy,
    /// The part of a receipt that senders see.
    pub receipts: ReceiptPolicy,
    /// Whether other keys see the label.
    pub listed: bool,
    /// The allowlist.
    pub allowed: Vec<ApiKeyId>,
    /// The blocklist.
    pub blocked: Vec<ApiKeyId>,
}
