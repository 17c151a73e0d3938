//! Identities: activation, status, look-up and policy.

use std::{collections::BTreeMap, fmt};

use sealpost_domain::{AcceptPolicy, AccountId, ApiKeyId, KeyStatus, ReceiptPolicy, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{client::Client, error::ClientError};

impl Client {
    /// Activates an identity. If the client has no credentials, the service also opens an account, and the response
    /// contains the login secret of this account. Some services require an `invite` to open an account.
    pub async fn activate(
        &self,
        label: &str,
        handle: Option<&str>,
        invite: Option<&str>,
    ) -> Result<Activated, ClientError> {
        let members = [("label", Some(label)), ("handle", handle), ("invite", invite)];
        let given = members.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let body: BTreeMap<_, _> = given.collect();
        self.transport.post("/v1/did/activate", &body).await
    }

    /// Returns the state, the plan and the usage of the API key.
    pub async fn status(&self) -> Result<KeyStanding, ClientError> {
        self.transport.post("/v1/did/status", &json!({})).await
    }

    /// Returns the state of the API key, with a proof of the transparency log. The proof is absent for up to two
    /// seconds after a change.
    pub async fn proven_status(&self) -> Result<KeyStanding, ClientError> {
        self.transport.post("/v1/did/status", &json!({"proof": true})).await
    }

    /// Returns the identity behind an API key or a handle.
    pub async fn resolve(&self, id: &str) -> Result<Resolved, ClientError> {
        self.transport.post("/v1/did/resolve", &json!({"id": id})).await
    }

    /// Changes parts of the recipient policy, and returns the whole policy.
    pub async fn policy(&self, change: &PolicyChange) -> Result<PolicyView, ClientError> {
        self.transport.post("/v1/did/policy", change).await
    }
}

/// The response to the activation of an identity.
#[derive(Clone, Serialize, Deserialize)]
pub struct Activated {
    /// Id of the API key, which is the public id of the identity.
    pub api_key_id: ApiKeyId,
    /// Display name of the identity.
    pub label: String,
    /// The handle (unique readable name) of the key. `None` if the key has no handle.
    pub handle: Option<String>,
    /// The `did:key` of the identity.
    pub did: String,
    /// The status of the key.
    pub status: KeyStatus,
    /// Name of the plan, which sets the limits of the key.
    pub plan: String,
    /// Id of the account that owns the key.
    pub account_id: AccountId,
    /// Time at which the key was activated.
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
    /// Id of the API key, which is the public id of the identity.
    pub api_key_id: ApiKeyId,
    /// Display name of the identity.
    pub label: String,
    /// The handle (unique readable name) of the key. `None` if the key has no handle.
    pub handle: Option<String>,
    /// The `did:key` of the identity.
    pub did: String,
    /// The status of the key.
    pub status: KeyStatus,
    /// Name of the plan, which sets the limits of the key.
    pub plan: String,
    /// Id of the account that owns the key.
    pub account_id: AccountId,
    /// Time at which the key was activated.
    pub created_at: Timestamp,
    /// The governance decisions (blocks by operators) on the key, as a JSON object.
    pub governance: Value,
    /// The use of each limit of the plan.
    pub usage: Usage,
    /// Messages per second that the plan allows.
    pub throughput_per_second: u64,
    /// Number of webhooks of the key.
    pub webhooks: u64,
    /// Number of received envelopes that wait until the key has a webhook for them. The service counts up to a maximum.
    pub waiting: u64,
    /// True if more envelopes wait than `waiting` counts.
    pub waiting_more: bool,
    /// A file that proves that the transparency log contains the DID and the status of this key. `None` if the request
    /// did not ask for a proof. Also `None` for up to two seconds after a change of the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<String>,
}

/// The use of each limit of the plan.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Usage {
    /// Use of the limit of requests in this minute.
    pub minute: WindowUsage,
    /// Use of the limit of requests on this day (UTC).
    pub day: WindowUsage,
    /// Use of the limit of messages in this month (UTC).
    pub month: WindowUsage,
}

/// The use of one limit.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WindowUsage {
    /// Number of requests or messages that the plan allows in the window.
    pub limit: u64,
    /// Number of requests or messages that were counted in the window.
    pub used: u64,
    /// Number of requests or messages that remain in the window.
    pub remaining: u64,
    /// End of the window: of the minute, day or month.
    pub resets_at: Timestamp,
}

/// The identity behind an API key or a handle.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Resolved {
    /// Id of the API key, which is the public id of the identity.
    pub api_key_id: ApiKeyId,
    /// The handle (unique readable name) of the key. `None` if the key has no handle.
    pub handle: Option<String>,
    /// Display name of the key. `None` if the policy of the key hides the name.
    pub label: Option<String>,
    /// True if the state of the key is `active`. A council action can block an active key.
    pub active: bool,
}

/// A change of a recipient policy. The policy keeps the parts that are `None` or empty here.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PolicyChange {
    /// The senders whose messages the key accepts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accept: Option<AcceptPolicy>,
    /// The part of a receipt (the state of a received envelope) that senders see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receipts: Option<ReceiptPolicy>,
    /// True if other keys can read the label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listed: Option<bool>,
    /// API keys or handles to add to the allowlist. At most 100.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// API keys or handles to remove from the allowlist. At most 100.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unallow: Vec<String>,
    /// API keys or handles to add to the blocklist. At most 100.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub block: Vec<String>,
    /// API keys or handles to remove from the blocklist. At most 100.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unblock: Vec<String>,
}

/// The recipient policy of an API key.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PolicyView {
    /// The senders whose messages the key accepts.
    pub accept: AcceptPolicy,
    /// The part of a receipt (the state of a received envelope) that senders see.
    pub receipts: ReceiptPolicy,
    /// True if other keys can read the label.
    pub listed: bool,
    /// The keys in the allowlist.
    pub allowed: Vec<ApiKeyId>,
    /// The keys in the blocklist.
    pub blocked: Vec<ApiKeyId>,
}
