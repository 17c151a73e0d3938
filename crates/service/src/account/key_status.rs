//! Reports the state, the governance decisions (such as blocks) and the usage of the caller's API key.

use schemars::JsonSchema;
use sealpost_domain::{
    AccountId, ApiKey, ApiKeyId, Did, GovernanceReason, GovernanceStanding, Handle, KeyStatus,
    Label, Plan, Recipient, RecipientRefusal, Refusal, Timestamp,
    ports::{Durability, KeyProfile, StatementKind, StoreError},
};
use sealpost_limits::{Terms, UsageReport};
use sealpost_storage::{Abort, Reader};
use sealpost_wallet::WalletError;
use serde::Serialize;

use super::Accounts;
use crate::{
    caller::{
        admission::{Limited, Purpose},
        credentials::Caller,
    },
    error::Error,
    sealpost::core::Core,
    transparency::proof::{ProofFormat, find_statement},
    webhooks::view::{WaitingCount, count_waiting},
};

/// The state, the limits and the usage of an API key.
#[derive(Debug, JsonSchema, Serialize)]
pub struct KeyStanding {
    /// The API key of the caller.
    pub api_key_id: ApiKeyId,
    /// Display name of the identity.
    pub label: Label,
    /// A unique name that senders can use instead of the API key.
    pub handle: Option<Handle>,
    /// The DID of the identity.
    pub did: Did,
    /// State of the key.
    pub status: KeyStatus,
    /// The plan of the key, which sets its limits.
    #[schemars(extend("enum" = Plan::NAMES))]
    pub plan: &'static str,
    /// The account that owns the key.
    pub account_id: AccountId,
    /// Time at which the key was created.
    pub created_at: Timestamp,
    /// The governance decisions (blocks, proposed blocks and suspensions) that affect the key.
    pub governance: GovernanceView,
    /// The limits per minute, day and month, with the current usage. The usage includes this request.
    pub usage: UsageReport,
    /// Maximum number of messages per second. A burst of one second is allowed.
    pub throughput_per_second: u32,
    /// Number of webhooks of the key.
    pub webhooks: u64,
    /// Number of received envelopes that wait because the key has no webhook for them.
    #[serde(flatten)]
    pub waiting: WaitingCount,
    /// The proof that DID and status are in the transparency log, if `proof` is true in the request. Absent for up to
    /// two seconds after a change.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub proof: Option<String>,
}

/// The governance decisions (blocks, proposed blocks and suspensions) that affect an API key.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct GovernanceView {
    /// True if a governance decision blocks the key.
    pub blocked: bool,
    /// All governance decisions about the key that have not been lifted.
    pub reasons: Vec<GovernanceReason>,
}

impl From<GovernanceStanding> for GovernanceView {
    fn from(standing: GovernanceStanding) -> Self {
        Self { blocked: standing.is_blocked(), reasons: standing.0 }
    }
}

impl KeyStanding {
    /// Creates the status of a key, without the count of waiting envelopes and without a proof.
    pub(crate) fn new(
        core: &Core,
        key: ApiKey,
        governance: GovernanceStanding,
        usage: UsageReport,
        webhooks: u64,
    ) -> Result<Self, WalletError> {
        Ok(Self {
            api_key_id: key.id,
            did: core.proven_did(&key)?,
            label: key.label,
            handle: key.handle,
            status: key.status,
            plan: key.plan.name(),
            account_id: key.account_id,
            created_at: key.created_at,
            governance: governance.into(),
            usage,
            throughput_per_second: Terms::new(&key.plan).per_second,
            webhooks,
            waiting: WaitingCount::default(),
            proof: None,
        })
    }
}

impl Accounts {
    /// Returns the status of the caller's key. The usage includes this request. With a format in `proof`, adds a proof
    /// that the status is in the transparency log.
    pub async fn key_status(
        &self,
        caller: &Caller,
        proof: Option<ProofFormat>,
    ) -> Limited<KeyStanding> {
        let status = move |accounts: &Self, caller: &Caller| accounts.status(caller, proof);
        self.core.run_as(self, caller, status).await
    }

    fn status(&self, caller: &Caller, format: Option<ProofFormat>) -> Limited<KeyStanding> {
        let core = &self.core;
        core.admitted(caller, Purpose::Manage, Durability::Relaxed, |tx, admitted| {
            let key = tx.find_key(&caller.id.key)?.ok_or(StoreError::Corrupt("key"))?;
            let (usage, governance) = (admitted.limits.report(), admitted.key.standing.clone());
            let webhooks = tx.count_webhooks(&caller.id.key)?;
            // A wallet error (a key that cannot be decrypted) is returned inside `Ok`. An `Err` would roll the
            // transaction back, and the request would not count against the rate limits.
            Ok(KeyStanding::new(core, key, governance, usage, webhooks))
        })
        .and_then(|standing| {
            // Counts the waiting envelopes after the transaction, because counting takes long. The transaction locks a
            // row that every request to send a message with this key needs.
            let waiting = core.store.read(|reader| count_waiting(core, reader, &caller.id.key))?;
            let key = caller.id.key.to_string();
            let find = |reader: &mut Reader| find_statement(reader, StatementKind::Key, &key);
            let proof = format.map_or(Ok(None), |format| self.log.prove(format, find))?;
            Ok(KeyStanding { waiting, proof, ..standing? })
        })
    }
}

/// The part of an identity that other identities can see.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Resolved {
    /// The API key of the identity, even if the request named a handle.
    pub api_key_id: ApiKeyId,
    /// The handle of the key; null if the key has none.
    pub handle: Option<Handle>,
    /// Display name of the identity; null if the policy of the key hides it.
    pub label: Option<Label>,
    /// Whether the state of the key is `active`. A council action can block an active key.
    pub active: bool,
}

impl Accounts {
    /// Returns the public data of the identity with this API key or handle. Refuses an unknown key or handle.
    pub async fn resolve_identity(&self, caller: &Caller, id: String) -> Limited<Resolved> {
        let find = move |accounts: &Self| accounts.find_identity(&id);
        self.core.ask_as(self, caller, Purpose::Manage, find).await
    }

    fn find_identity(&self, id: &str) -> Result<Resolved, Error> {
        let (api_key_id, profile) = self.core.store.read(|reader| {
            let key = find_named_key(reader, "id", id)?;
            Ok::<_, Abort>((key, reader.find_profile(&key)?))
        })?;
        let KeyProfile { handle, label, status } = profile.ok_or_else(|| unknown("id"))?;
        let active = status == KeyStatus::Active;
        Ok(Resolved { api_key_id, handle, label, active })
    }
}

/// Returns the key that `text` names, as an API key or as a handle. Does not check that the API key exists. Refuses a
/// DID, a handle that no key has, and any other text. The refusal names `field`, the field of the request that contains
/// `text`.
pub(crate) fn find_named_key(
    reader: &mut Reader,
    field: &'static str,
    text: &str,
) -> Result<ApiKeyId, Abort> {
    let handle = match Recipient::parse(text) {
        Ok(Recipient::Key(id)) => return Ok(id),
        Ok(Recipient::Handle(handle)) => handle,
        Err(RecipientRefusal::RawDid) => return Err(Refusal::RawDidRejected { field }.into()),
        Err(RecipientRefusal::Unknown) => return Err(Refusal::for_id(text, unknown(field)).into()),
    };
    let owner = reader.find_handle(&handle)?;
    Ok(owner.ok_or_else(|| unknown(field))?.api_key_id)
}

pub(crate) fn unknown(field: &'static str) -> Refusal {
    Refusal::KeyNotFound { field: Some(field) }
}
