//! Tools for identities: `activate`, `find_identity`, `set_policy` and `whoami`.

use std::sync::Arc;

use rmcp::model::CallToolResult;
use schemars::JsonSchema;
use sealpost_client::{
    AcceptPolicy, Activated, ApiKeyId, Client, Login, PolicyChange, ReceiptPolicy, WindowUsage,
};
use serde::{Deserialize, Serialize};

use crate::{
    error::ToolError,
    identity::{ActingIdentity, Identities},
    output::{UntrustedText, trusted, with_untrusted},
};

/// No arguments.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoArgs {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ActivateArgs {
    /// Display name of the identity, 1 to 100 characters.
    label: String,
    /// Unique readable name: 3 to 32 of a-z, 0-9, - and _, beginning with a letter.
    #[serde(default)]
    handle: Option<String>,
    /// Invite (inv_…), if the service requires one for a new account.
    #[serde(default)]
    invite: Option<String>,
}

/// A new identity.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ActivatedView {
    /// API key, which is the public id of the identity.
    api_key_id: String,
    handle: Option<String>,
    label: String,
    did: String,
    account_id: String,
    /// True if the tools act as this identity from now on.
    acting: bool,
}

/// Activates an identity. If the agent already acts as an identity, the new one belongs to the same account, and the
/// agent continues to act as the earlier one.
///
/// If the agent has no identity, opens an account and stores its secrets. The tools then act as the new identity, even
/// if storing fails with [`ToolError::NotStored`]. If the store cannot be used, fails with [`ToolError::StoreUnusable`]
/// before an account is opened.
pub(crate) async fn activate(
    known: &Identities,
    args: ActivateArgs,
) -> Result<CallToolResult, ToolError> {
    let ActivateArgs { label, handle, invite } = args;
    let mut acting = known.acting.write().await;
    if let Some(acting) = &*acting {
        let activated =
            acting.client.activate(&label, handle.as_deref(), invite.as_deref()).await?;
        return Ok(trusted(&activated_view(&activated, false)));
    }
    known.store.check().map_err(|source| ToolError::StoreUnusable { source })?;
    let anonymous = Client::builder(&known.url).build()?;
    let activated = anonymous.activate(&label, handle.as_deref(), invite.as_deref()).await?;
    let secret = activated.login_secret.clone().unwrap_or_default();
    let client = Client::builder(&known.url)
        .login(Login::new(activated.account_id, secret))
        .api_key(activated.api_key_id)
        .build()?;
    *acting = Some(Arc::new(ActingIdentity::new(client)));
    known.store.store(&activated).map_err(|source| ToolError::NotStored {
        api_key_id: activated.api_key_id.to_string(),
        source,
    })?;
    Ok(trusted(&activated_view(&activated, true)))
}

fn activated_view(activated: &Activated, acting: bool) -> ActivatedView {
    ActivatedView {
        api_key_id: activated.api_key_id.to_string(),
        handle: activated.handle.clone(),
        label: activated.label.clone(),
        did: activated.did.clone(),
        account_id: activated.account_id.to_string(),
        acting,
    }
}

/// The acting identity.
#[derive(Serialize, JsonSchema)]
pub(crate) struct WhoamiView {
    /// API key, which is the public id of the identity.
    api_key_id: String,
    handle: Option<String>,
    label: String,
    did: String,
    account_id: String,
    /// `active`, `rotating`, `deactivated` or `revoked`.
    status: String,
    plan: String,
    /// Number of messages that wait for the first webhook of the identity.
    waiting: u64,
    /// Requests of this minute.
    minute: UsageView,
    /// Requests of this day.
    day: UsageView,
    /// Messages of this month.
    month: UsageView,
}

/// One limit and its remaining part.
#[derive(Serialize, JsonSchema)]
pub(crate) struct UsageView {
    limit: u64,
    remaining: u64,
    resets_at: String,
}

impl From<WindowUsage> for UsageView {
    fn from(usage: WindowUsage) -> Self {
        let WindowUsage { limit, remaining, resets_at, .. } = usage;
        Self { limit, remaining, resets_at: resets_at.to_string() }
    }
}

pub(crate) async fn whoami(client: &Client) -> Result<CallToolResult, ToolError> {
    let standing = client.status().await?;
    Ok(trusted(&WhoamiView {
        api_key_id: standing.api_key_id.to_string(),
        handle: standing.handle,
        label: standing.label,
        did: standing.did,
        account_id: standing.account_id.to_string(),
        status: standing.status.as_str().to_owned(),
        plan: standing.plan,
        waiting: standing.waiting,
        minute: standing.usage.minute.into(),
        day: standing.usage.day.into(),
        month: standing.usage.month.into(),
    }))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FindArgs {
    /// API key or handle.
    id: String,
}

/// An identity.
#[derive(Serialize, JsonSchema)]
pub(crate) struct IdentityView {
    /// API key, which is the public id of the identity.
    api_key_id: String,
    handle: Option<String>,
    /// True if the identity can receive messages.
    active: bool,
    /// Display name that the owner of the identity chose. Null if it is not public.
    label: Option<UntrustedText>,
}

pub(crate) async fn find(client: &Client, args: FindArgs) -> Result<CallToolResult, ToolError> {
    let found = client.resolve(&args.id).await?;
    let (api_key_id, handle) = (found.api_key_id.to_string(), found.handle);
    let label = found.label;
    let label = label.map(|label| UntrustedText::new(api_key_id.clone(), handle.clone(), label));
    let view = IdentityView { api_key_id, handle, active: found.active, label };
    Ok(with_untrusted(&view, "label", view.label.as_ref()))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PolicyArgs {
    /// The senders whose messages are accepted.
    #[serde(default)]
    accept: Option<AcceptArg>,
    /// The part of a receipt that senders see.
    #[serde(default)]
    receipts: Option<ReceiptsArg>,
    /// True if other identities can read the label.
    #[serde(default)]
    listed: Option<bool>,
    /// API keys or handles to add to the allowlist.
    #[serde(default)]
    #[schemars(length(max = 100))]
    allow: Vec<String>,
    /// API keys or handles to remove from the allowlist.
    #[serde(default)]
    #[schemars(length(max = 100))]
    unallow: Vec<String>,
    /// API keys or handles to block.
    #[serde(default)]
    #[schemars(length(max = 100))]
    block: Vec<String>,
    /// API keys or handles to unblock.
    #[serde(default)]
    #[schemars(length(max = 100))]
    unblock: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum AcceptArg {
    Anyone,
    Contacts,
    Allowlist,
    Nobody,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ReceiptsArg {
    Opened,
    Notified,
    None,
}

/// The recipient policy of the acting identity.
#[derive(Serialize, JsonSchema)]
pub(crate) struct PolicyReport {
    accept: String,
    receipts: String,
    listed: bool,
    /// API keys in the allowlist.
    allowed: Vec<String>,
    /// API keys that are blocked.
    blocked: Vec<String>,
}

pub(crate) async fn set_policy(
    client: &Client,
    args: PolicyArgs,
) -> Result<CallToolResult, ToolError> {
    let change = PolicyChange {
        accept: args.accept.map(|accept| match accept {
            AcceptArg::Anyone => AcceptPolicy::Anyone,
            AcceptArg::Contacts => AcceptPolicy::Contacts,
            AcceptArg::Allowlist => AcceptPolicy::Allowlist,
            AcceptArg::Nobody => AcceptPolicy::Nobody,
        }),
        receipts: args.receipts.map(|receipts| match receipts {
            ReceiptsArg::Opened => ReceiptPolicy::Opened,
            ReceiptsArg::Notified => ReceiptPolicy::Notified,
            ReceiptsArg::None => ReceiptPolicy::None,
        }),
        listed: args.listed,
        allow: args.allow,
        unallow: args.unallow,
        block: args.block,
        unblock: args.unblock,
    };
    let policy = client.policy(&change).await?;
    let texts = |keys: Vec<ApiKeyId>| keys.iter().map(ToString::to_string).collect();
    Ok(trusted(&PolicyReport {
        accept: policy.accept.as_str().to_owned(),
        receipts: policy.receipts.as_str().to_owned(),
        listed: policy.listed,
        allowed: texts(policy.allowed),
        blocked: texts(policy.blocked),
    }))
}
