//! Activation: creates an identity, and an account if the request has no session.

use std::sync::Arc;

use schemars::JsonSchema;
use sealpost_domain::{
    Account, AccountId, ActivityKind, ApiKey, ApiKeyId, Did, Handle, IdentityRotation, Invite,
    InviteStatus, KeyStatus, Label, OwnedKey, Plan, Refusal, RequestSource, ReservedHandles,
    RotationReason, Timestamp, TokenHash,
    ports::{Durability, HandleOwner},
};
use sealpost_storage::{Abort, Transaction};
use sealpost_wallet::{Identity, InviteSecret, Root, random};
use serde::Serialize;

use super::Accounts;
use crate::{
    account::activity::ActOrigin,
    acts::secrets::NewSecrets,
    caller::credentials::{AccountSession, NO_SESSION},
    error::Error,
    sealpost::core::Core,
    settings::Activation,
};

/// The identity to create.
pub struct Activate {
    /// Display name of the identity.
    pub label: Label,
    /// A unique name that senders can use instead of the API key. Stored in lower case.
    pub handle: Option<Handle>,
    /// The secret of an invite. Read only if sign-up needs an invite and the request has no session.
    pub invite: Option<String>,
}

/// A new identity.
#[derive(JsonSchema, Serialize)]
pub struct Activated {
    /// The API key of the identity.
    pub api_key_id: ApiKeyId,
    /// Display name of the identity.
    pub label: Label,
    /// A unique name that senders can use instead of the API key.
    pub handle: Option<Handle>,
    /// The DID of the identity.
    pub did: Did,
    /// The state of the new key, which is always `active`.
    pub status: KeyStatus,
    /// The initial plan, which sets the limits of the key.
    #[schemars(extend("enum" = Plan::NAMES))]
    pub plan: &'static str,
    /// The account that owns the key.
    pub account_id: AccountId,
    /// Time at which the key was created.
    pub created_at: Timestamp,
    /// The login secret of a new account, shown only in this response. Absent if the account existed before the
    /// request.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub login_secret: Option<String>,
    /// The recovery code of a new account, which replaces a lost login secret; shown only in this response.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub recovery_code: Option<String>,
}

/// The hash of the secret of a well-formed invite. The invite may be unknown or no longer valid.
pub struct NeededInvite(TokenHash);

impl Accounts {
    /// Returns the hash of an invite's secret, or `None` if sign-up needs no invite. Refuses a missing or malformed
    /// invite. Refuses every request if sign-up is closed. Does not read the database.
    pub fn needed_invite(&self, invite: Option<&str>) -> Result<Option<NeededInvite>, Refusal> {
        Ok(check_sign_up(self.core.settings.activation, invite)?.map(NeededInvite))
    }

    /// Refuses an unknown, expired, revoked or used-up invite. Counts no use of the invite. The transaction of the
    /// activation verifies the invite again.
    pub async fn verify_invite(&self, NeededInvite(secret): NeededInvite) -> Result<(), Error> {
        let verify = move |core: &Arc<Core>| {
            let now = core.clock.now();
            let invite = core.store.read(|reader| reader.find_invite(&secret))?;
            let is_active = invite.is_some_and(|it| it.status(now) == InviteStatus::Active);
            if is_active { Ok(()) } else { Err(Refusal::InviteInvalid.into()) }
        };
        self.core.block(&self.core, verify).await
    }

    /// Creates an identity in the account of the session. Without a session, also creates an account. Refuses:
    ///
    /// - a session that has ended,
    /// - a handle that is not allowed for the account,
    /// - another key, if the account has the maximum number of keys,
    /// - a new account without an invite, if sign-up needs one.
    pub async fn activate(
        &self,
        session: Option<&AccountSession>,
        activate: Activate,
        source: RequestSource,
    ) -> Result<Activated, Error> {
        let session = session.copied();
        self.core
            .block(&self.core, move |core| create_identity(core, session, activate, &source))
            .await
    }
}

/// The account that will own the new identity.
enum Owner {
    Existing(AccountSession),
    New { account: Account, secrets: NewSecrets, invite: Option<TokenHash> },
}

impl Owner {
    fn account_id(&self) -> &AccountId {
        match self {
            Self::Existing(session) => &session.account_id,
            Self::New { account, .. } => &account.id,
        }
    }

    fn act_from(&self, source: &RequestSource) -> ActOrigin {
        match self {
            Self::Existing(session) => session.act_from(source),
            Self::New { account, .. } => ActOrigin::client(account.id, source),
        }
    }
}

fn create_identity(
    core: &Core,
    session: Option<AccountSession>,
    activate: Activate,
    source: &RequestSource,
) -> Result<Activated, Error> {
    let Activate { label, handle, invite } = activate;
    let owner = match session {
        Some(session) => Owner::Existing(session),
        None => new_account(core, check_sign_up(core.settings.activation, invite.as_deref())?)?,
    };
    if core.is_short_of_space()? {
        return Err(Refusal::StorageFull.into());
    }
    let key = new_key(core, *owner.account_id(), label, handle)?;
    let origin = owner.act_from(source);
    core.store.write_or_refuse(Durability::Durable, |tx| {
        add_key(core, tx, &owner, &key)?;
        let detail = Some(key.id.to_string());
        core.record(tx, &origin, ActivityKind::KeyActivated, detail)?;
        Ok(())
    })?;
    let shown = match &owner {
        Owner::Existing(_) => None,
        Owner::New { secrets, .. } => Some(secrets.show(key.account_id)),
    };
    let (login_secret, recovery_code) =
        shown.map(|shown| (shown.login_secret, shown.recovery_code)).unzip();
    Ok(Activated {
        api_key_id: key.id,
        label: key.label,
        handle: key.handle,
        did: key.did,
        status: key.status,
        plan: key.plan.name(),
        account_id: key.account_id,
        created_at: key.created_at,
        login_secret,
        recovery_code,
    })
}

/// Returns the hash of an invite's secret, or `None` if sign-up needs no invite. Checks only the form of the invite,
/// not that it is active.
fn check_sign_up(
    activation: Activation,
    invite: Option<&str>,
) -> Result<Option<TokenHash>, Refusal> {
    match activation {
        Activation::Open => Ok(None),
        Activation::Closed => Err(Refusal::ActivationClosed),
        Activation::Invite => {
            let secret = invite.filter(|text| !text.is_empty()).ok_or(Refusal::InviteRequired)?;
            InviteSecret::hash_of(secret).map(Some).ok_or(Refusal::InviteInvalid)
        }
    }
}

fn new_account(core: &Core, invite: Option<TokenHash>) -> Result<Owner, Error> {
    let now = core.clock.now();
    let secrets = NewSecrets::generate()?;
    let id = AccountId::new(now, random()?);
    let account = Account { id, secrets: secrets.hashes(), created_at: now };
    Ok(Owner::New { account, secrets, invite })
}

fn new_key(
    core: &Core,
    account_id: AccountId,
    label: Label,
    handle: Option<Handle>,
) -> Result<ApiKey, Error> {
    let now = core.clock.now();
    let id = ApiKeyId::new(now, random()?);
    let root = Root::generate()?;
    let wrapped = root.wrap(&core.keyring, &OwnedKey { id, account_id })?;
    Ok(ApiKey {
        id,
        account_id,
        label,
        handle,
        did: Identity::new(root)?.did(),
        status: KeyStatus::Active,
        plan: Plan::Explorer,
        root: Some(wrapped),
        sealing_version: 1,
        created_at: now,
    })
}

fn add_key(core: &Core, tx: &mut Transaction, owner: &Owner, key: &ApiKey) -> Result<(), Abort> {
    if let Owner::Existing(session) = owner {
        // The account stays locked until the commit, so concurrent activations wait and cannot exceed the limit of
        // keys.
        let exists = tx.lock_account(&session.account_id)?;
        let stored = tx.find_session(&session.token)?;
        if !exists || !stored.is_some_and(|stored| stored.is_live(key.created_at)) {
            return Err(NO_SESSION.into());
        }
        let limit = core.settings.keys_per_account_max;
        if tx.count_live_keys(&session.account_id)? >= u64::from(limit) {
            let (what, way_out) = ("API keys in this account", "revoke one that is no longer used");
            return Err(Refusal::QuotaExceeded { limit, what, way_out }.into());
        }
    }
    let invite = match owner {
        Owner::New { invite: Some(secret), .. } => {
            let invite = tx.find_invite(secret)?;
            let is_active = |invite: &Invite| invite.status(key.created_at) == InviteStatus::Active;
            Some(invite.filter(is_active).ok_or(Refusal::InviteInvalid)?.id)
        }
        Owner::Existing(_) | Owner::New { invite: None, .. } => None,
    };
    if let Some(handle) = &key.handle {
        check_handle(core, tx, handle, &key.account_id)?;
    }
    if let Some(invite) = invite
        && !tx.use_invite(&invite, key.created_at)?
    {
        return Err(Refusal::InviteInvalid.into());
    }
    if let Owner::New { account, .. } = owner {
        tx.insert_account(account)?;
    }
    tx.insert_key(key)?;
    if let Some(handle) = &key.handle {
        let owner = HandleOwner { account_id: key.account_id, api_key_id: key.id };
        let before = tx.find_handle(handle)?;
        tx.assign_handle(handle, &owner)?;
        if let Some(before) = before {
            tx.record_rotation(&IdentityRotation {
                api_key_id: before.api_key_id,
                handle: Some(handle.clone()),
                replaced_by: Some(key.id),
                reason: RotationReason::Replaced,
                at: key.created_at,
            })?;
        }
    }
    Ok(())
}

/// Refuses a handle that is not allowed for a new key of the account. A handle is allowed in two cases:
///
/// - It belongs to a revoked key of the same account.
/// - It is free, does not look like an id or a secret, is not reserved, and did not belong to an erased account. The
///   account must also have fewer handles of revoked keys than the maximum.
fn check_handle(
    core: &Core,
    tx: &mut Transaction,
    handle: &Handle,
    account: &AccountId,
) -> Result<(), Abort> {
    let Some(owner) = tx.find_handle(handle)? else {
        if ReservedHandles::looks_like_an_id(handle) {
            let problem = "must not look like an id or a secret; choose another handle".to_owned();
            return Err(Refusal::InvalidField { field: "handle", problem }.into());
        }
        if core.settings.reserved_handles.contains(handle) {
            return Err(Refusal::HandleReserved.into());
        }
        if tx.is_handle_erased(handle)? {
            return Err(Refusal::HandleTaken.into());
        }
        let limit = core.settings.revoked_handles_max;
        if tx.count_revoked_handles(account)? < u64::from(limit) {
            return Ok(());
        }
        let what = "handles of revoked API keys in this account";
        let way_out = "name one of them again, or ask the operator to release one";
        return Err(Refusal::QuotaExceeded { limit, what, way_out }.into());
    };
    if owner.account_id != *account {
        return Err(Refusal::HandleTaken.into());
    }
    let key = tx.find_key(&owner.api_key_id)?;
    let is_revoked = key.is_none_or(|key| key.status == KeyStatus::Revoked);
    if is_revoked { Ok(()) } else { Err(Refusal::HandleTaken.into()) }
}
