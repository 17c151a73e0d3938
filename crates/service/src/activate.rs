//! Activate: a new identity, and with the first one a new account.

use schemars::JsonSchema;
use sealpost_domain::{
    Account, AccountId, ApiKey, ApiKeyId, Did, Handle, KeyStatus, Label, Plan, Refusal, Timestamp,
    TokenHash,
    ports::{Durability, HandleOwner, StoreError, Tx},
};
use sealpost_wallet::{Identity, LoginSecret, Root, random};
use serde::Serialize;

use crate::{
    Body, Error, Sealpost,
    credentials::{NO_SESSION, read_token},
};

/// What to activate.
#[derive(JsonSchema)]
pub struct Activate {
    /// What people call it.
    pub label: Label,
    /// The name that senders may use; upper case is lowered.
    pub handle: Option<Handle>,
}

/// A new identity.
#[derive(JsonSchema, Serialize)]
pub struct Activated {
    /// Its key.
    pub api_key_id: ApiKeyId,
    /// What people call it.
    pub label: Label,
    /// The name that senders may use.
    pub handle: Option<Handle>,
    /// Its DID.
    pub did: Did,
    /// Always `active`.
    pub status: KeyStatus,
    /// The plan that it starts with.
    #[schemars(extend("enum" = Plan::NAMES))]
    pub plan: &'static str,
    /// Whose it is.
    pub account_id: AccountId,
    /// When it was activated.
    pub created_at: Timestamp,
    /// Of a new account, shown this once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub login_secret: Option<String>,
}

impl Sealpost {
    /// Makes a new identity: for the session's account, or for a new one where no token is shown.
    pub fn activate(&self, token: Option<&str>, body: Body<Activate>) -> Result<Activated, Error> {
        let session = token.map(|token| read_token(Some(token))).transpose()?;
        let owner = match session {
            Some(session) => Owner::Session(session, self.require_session(&session)?.account_id),
            None => Owner::Newcomer(self.new_account()?),
        };
        let Activate { label, handle } = body?;
        let key = self.new_key(*owner.account_id(), label, handle)?;
        self.core.store.write(Durability::Durable, |tx| self.add_key(tx, &owner, &key))??;
        let login_secret = match &owner {
            Owner::Newcomer((_, secret)) => Some(secret.expose().to_owned()),
            Owner::Session(..) => None,
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

    fn new_account(&self) -> Result<(Account, LoginSecret), Error> {
        let now = self.core.clock.now();
        let secret = LoginSecret::generate()?;
        let id = AccountId::new(now, random()?);
        Ok((Account { id, login_secret: secret.hash(), created_at: now }, secret))
    }

    fn new_key(
        &self,
        account_id: AccountId,
        label: Label,
        handle: Option<Handle>,
    ) -> Result<ApiKey, Error> {
        let now = self.core.clock.now();
        let id = ApiKeyId::new(now, random()?);
        let root = Root::generate()?;
        let wrapped = root.wrap(&self.core.keyring, &id)?;
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
        &self,
        tx: &mut dyn Tx,
        owner: &Owner,
        key: &ApiKey,
    ) -> Result<Result<(), Refusal>, StoreError> {
        if let Owner::Session(session, account) = owner {
            // The lock makes activations of one account wait for each other, so that the cap holds.
            let exists = tx.lock_account(account)?;
            let session = tx.find_session(session)?;
            if !exists || !session.is_some_and(|session| session.is_live(key.created_at)) {
                return Ok(Err(NO_SESSION));
            }
            let limit = self.core.settings.keys_per_account_max;
            if tx.count_live_keys(account)? >= u64::from(limit) {
                return Ok(Err(too_many_keys(limit)));
            }
        }
        if let Some(handle) = &key.handle
            && !may_take(tx, handle, &key.account_id)?
        {
            return Ok(Err(Refusal::HandleTaken));
        }
        if let Owner::Newcomer((account, _)) = owner {
            tx.insert_account(account)?;
        }
        tx.insert_key(key)?;
        if let Some(handle) = &key.handle {
            let owner = HandleOwner { account_id: key.account_id, api_key_id: key.id };
            tx.assign_handle(handle, &owner)?;
        }
        Ok(Ok(()))
    }
}

/// Who gets the new identity.
enum Owner {
    Newcomer((Account, LoginSecret)),
    Session(TokenHash, AccountId),
}

impl Owner {
    fn account_id(&self) -> &AccountId {
        match self {
            Self::Newcomer((account, _)) => &account.id,
            Self::Session(_, account) => account,
        }
    }
}

/// A free handle may be taken by anybody, that of a revoked key by its own account.
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
