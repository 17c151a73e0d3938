//! Activation: creates an identity, and an account with the first one.

use schemars::JsonSchema;
use sealpost_domain::{
    Account, AccountId, ApiKey, ApiKeyId, Did, Handle, KeyStatus, Label, Plan, Refusal, Timestamp,
    ports::{Durability, HandleOwner, StoreError, Tx},
};
use sealpost_wallet::{Identity, LoginSecret, Root, random};
use serde::Serialize;

use crate::{
    caller::{authenticated::AccountSession, credentials::NO_SESSION},
    error::Error,
    sealpost::{Sealpost, core::Core},
};

/// The identity to activate.
pub struct Activate {
    /// Display name of the identity.
    pub label: Label,
    /// A name that senders can use instead of the key; stored in lower case.
    pub handle: Option<Handle>,
}

/// A new identity.
#[derive(JsonSchema, Serialize)]
pub struct Activated {
    /// The API key.
    pub api_key_id: ApiKeyId,
    /// Display name of the identity.
    pub label: Label,
    /// A name that senders can use instead of the key.
    pub handle: Option<Handle>,
    /// The DID of the key.
    pub did: Did,
    /// Always `active`.
    pub status: KeyStatus,
    /// The initial plan.
    #[schemars(extend("enum" = Plan::NAMES))]
    pub plan: &'static str,
    /// Account of the key.
    pub account_id: AccountId,
    /// Time of activation.
    pub created_at: Timestamp,
    /// The login secret of a new account; shown only here.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub login_secret: Option<String>,
}

impl Sealpost {
    /// Creates an identity in the session's account. Without a session, creates the account as well.
    pub async fn activate(
        &self,
        session: Option<&AccountSession>,
        activate: Activate,
    ) -> Result<Activated, Error> {
        let session = session.copied();
        self.block(move |core| create_identity(core, session, activate)).await
    }
}

/// The account that gets the identity.
enum Owner {
    Existing(AccountSession),
    New { account: Account, secret: LoginSecret },
}

impl Owner {
    fn account_id(&self) -> &AccountId {
        match self {
            Self::Existing(session) => &session.account_id,
            Self::New { account, .. } => &account.id,
        }
    }
}

fn create_identity(
    core: &Core,
    session: Option<AccountSession>,
    activate: Activate,
) -> Result<Activated, Error> {
    let owner = match session {
        Some(session) => Owner::Existing(session),
        None => new_account(core)?,
    };
    let Activate { label, handle } = activate;
    let key = new_key(core, *owner.account_id(), label, handle)?;
    core.store.write(Durability::Durable, |tx| add_key(core, tx, &owner, &key))??;
    let login_secret = match &owner {
        Owner::Existing(_) => None,
        Owner::New { secret, .. } => Some(secret.expose().to_owned()),
    };
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
    })
}

fn new_account(core: &Core) -> Result<Owner, Error> {
    let now = core.clock.now();
    let secret = LoginSecret::generate()?;
    let id = AccountId::new(now, random()?);
    let account = Account { id, login_secret: secret.hash(), created_at: now };
    Ok(Owner::New { account, secret })
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
    let wrapped = root.wrap(&core.keyring, &id)?;
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

fn add_key(
    core: &Core,
    tx: &mut dyn Tx,
    owner: &Owner,
    key: &ApiKey,
) -> Result<Result<(), Refusal>, StoreError> {
    if let Owner::Existing(session) = owner {
        // The account stays locked until the commit: concurrent activations wait, so the limit of keys holds.
        let exists = tx.lock_account(&session.account_id)?;
        let stored = tx.find_session(&session.token)?;
        if !exists || !stored.is_some_and(|stored| stored.is_live(key.created_at)) {
            return Ok(Err(NO_SESSION));
        }
        let limit = core.settings.keys_per_account_max;
        if tx.count_live_keys(&session.account_id)? >= u64::from(limit) {
            return Ok(Err(too_many_keys(limit)));
        }
    }
    if let Some(handle) = &key.handle
        && !may_take(tx, handle, &key.account_id)?
    {
        return Ok(Err(Refusal::HandleTaken));
    }
    if let Owner::New { account, .. } = owner {
        tx.insert_account(account)?;
    }
    tx.insert_key(key)?;
    if let Some(handle) = &key.handle {
        let owner = HandleOwner { account_id: key.account_id, api_key_id: key.id };
        tx.assign_handle(handle, &owner)?;
    }
    Ok(Ok(()))
}

/// Returns whether a handle is free or belongs to a revoked key of the account.
fn may_take(tx: &mut dyn Tx, handle: &Handle, account: &AccountId) -> Result<bool, StoreError> {
    let Some(owner) = tx.find_handle(handle)? else { return Ok(true) };
    if owner.account_id != *account {
        return Ok(false);
    }
    let key = tx.find_key(&owner.api_key_id)?;
    Ok(key.is_none_or(|key| key.status == KeyStatus::Revoked))
}

fn too_many_keys(limit: u32) -> Refusal {
    Refusal::QuotaExceeded {
        limit,
        what: "API keys in this account",
        way_out: "revoke one that is no longer used",
    }
}
