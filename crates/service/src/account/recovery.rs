//! Replaces the login secret and the recovery code of an account. The owner must give the current login secret, or the
//! recovery code if the login secret is lost.

use schemars::JsonSchema;
use sealpost_domain::{
    AccountId, AccountSecrets, ActivityKind, Refusal, RequestSource, TokenHash,
    ports::{Durability, StoreError},
};
use sealpost_storage::{Abort, Transaction};
use sealpost_wallet::{LoginSecret, RecoveryCode, WalletError, same_hash};
use serde::Serialize;

use crate::{
    account::{activity::ActOrigin, session::NO_ACCOUNT_ID},
    cache::event::CacheEvent,
    caller::{authenticated::AccountSession, credentials::NO_SESSION},
    error::Error,
    sealpost::{Sealpost, core::Core},
};

/// The input of a recovery: the account, and its recovery code.
pub struct Recovery {
    /// The id of the account, from the response that created the account.
    pub account_id: String,
    /// The recovery code of the account.
    pub recovery_code: String,
}

impl Recovery {
    /// Refuses a malformed account id or recovery code. Such a request is refused without a database look-up, so rate
    /// limits need not count it.
    pub fn check(&self) -> Result<(), Refusal> {
        self.parse().map(drop)
    }

    fn parse(&self) -> Result<(AccountId, TokenHash), Refusal> {
        let account_id = self.account_id.parse().map_err(|_malformed| NO_ACCOUNT_ID)?;
        Ok((account_id, RecoveryCode::hash_of(&self.recovery_code).ok_or(NO_RECOVERY)?))
    }
}

/// New secrets of an account.
#[derive(JsonSchema, Serialize)]
pub struct SecretsReplaced {
    /// Id of the account.
    pub account_id: AccountId,
    /// The new login secret, shown only in this response.
    pub login_secret: String,
    /// The new recovery code, shown only in this response.
    pub recovery_code: String,
}

impl Sealpost {
    /// Replaces the login secret and the recovery code. Needs the current login secret. Sessions and API tokens stay.
    pub async fn rotate_login_secret(
        &self,
        session: &AccountSession,
        login_secret: String,
        source: RequestSource,
    ) -> Result<SecretsReplaced, Error> {
        let session = *session;
        let proof = OwnerProof::Secret(login_secret);
        self.block(move |core| replace_secrets(core, &session, &proof, &source)).await
    }

    /// Verifies the login secret in a request of a session, before `attempted`. Records a wrong one in the activity of
    /// the account.
    pub async fn verify_login_secret(
        &self,
        session: &AccountSession,
        login_secret: &str,
        source: &RequestSource,
        attempted: &'static str,
    ) -> Result<(), Error> {
        let (session, source) = (*session, source.clone());
        let given = LoginSecret::hash_of(login_secret);
        self.block(move |core| verify_secret(core, &session, given, &source, attempted)).await
    }

    /// Verifies a recovery code, without a recovery. Returns the account. Fails like [`Sealpost::recover`].
    pub async fn verify_recovery(
        &self,
        recovery: &Recovery,
        source: &RequestSource,
    ) -> Result<AccountId, Error> {
        let ((account_id, given), source) = (recovery.parse()?, source.clone());
        self.block(move |core| verify_code(core, &account_id, &given, &source)).await?;
        Ok(account_id)
    }

    /// Replaces the login secret and the recovery code. Needs the current recovery code. Ends all sessions and API
    /// tokens of the account.
    pub async fn recover(
        &self,
        recovery: Recovery,
        source: RequestSource,
    ) -> Result<SecretsReplaced, Error> {
        self.block(move |core| recover(core, &recovery, &source)).await
    }
}

pub(crate) fn replace_secrets(
    core: &Core,
    session: &AccountSession,
    proof: &OwnerProof,
    source: &RequestSource,
) -> Result<SecretsReplaced, Error> {
    let secrets = NewSecrets::generate()?;
    let replaced = core.store.write_or_refuse(Durability::Durable, |tx| {
        check_owner(core, tx, session, proof)?;
        tx.set_account_secrets(&session.account_id, &secrets.hashes())?;
        // A session that was confirmed with the replaced secret must not replace the new one.
        tx.unconfirm_sessions(&session.account_id, &session.token)?;
        let detail = Some("login secret and recovery code".to_owned());
        core.record(tx, &session.act_from(source), ActivityKind::SecretReplaced, detail)?;
        Ok(())
    });
    record_wrong_secret(core, session, source, "replacing the secrets", &replaced)?;
    replaced?;
    Ok(secrets.show(session.account_id))
}

fn recover(
    core: &Core,
    recovery: &Recovery,
    source: &RequestSource,
) -> Result<SecretsReplaced, Error> {
    let (account_id, given) = recovery.parse()?;
    verify_code(core, &account_id, &given, source)?;
    let secrets = NewSecrets::generate()?;
    let origin = ActOrigin::client(account_id, source);
    core.store.write_or_refuse(Durability::Durable, |tx| {
        // Checks the code again on the locked account, so that each code works only once. A closed account has no code.
        tx.lock_account(&account_id)?;
        let stored = tx.find_recovery_code(&account_id)?;
        if !stored.is_some_and(|code| same_hash(&given, &code)) {
            return Err(NO_RECOVERY.into());
        }
        tx.set_account_secrets(&account_id, &secrets.hashes())?;
        tx.delete_sessions_of(&account_id)?;
        tx.delete_api_tokens_of(&account_id)?;
        core.record(tx, &origin, ActivityKind::Recovered, None)?;
        Ok(())
    })?;
    core.cache.invalidate_on(CacheEvent::AccountLoggedOut(&account_id));
    Ok(secrets.show(account_id))
}

/// Verifies the recovery code of an account. Records a wrong one in the activity of the account.
fn verify_code(
    core: &Core,
    account_id: &AccountId,
    given: &TokenHash,
    source: &RequestSource,
) -> Result<(), Error> {
    let stored =
        core.store.read(|reader| reader.find_recovery_code(account_id))?.ok_or(NO_RECOVERY)?;
    if !same_hash(given, &stored) {
        core.record_failed_login(account_id, source, Some("recovery"))?;
        return Err(NO_RECOVERY.into());
    }
    Ok(())
}

/// Verifies the login secret before `attempted`, without a transaction. The transaction that follows verifies the
/// secret again on the locked account.
fn verify_secret(
    core: &Core,
    session: &AccountSession,
    given: Option<TokenHash>,
    source: &RequestSource,
    attempted: &str,
) -> Result<(), Error> {
    let stored = core.store.read(|reader| reader.find_login_secret(&session.account_id))?;
    let is_right = given.zip(stored).is_some_and(|(given, stored)| same_hash(&given, &stored));
    if !is_right {
        core.record_failed_login(&session.account_id, source, Some(attempted))?;
        return Err(WRONG_SECRET.into());
    }
    Ok(())
}

/// Proof that a request comes from the owner of the account. A session alone is no proof, because it can be stolen.
pub(crate) enum OwnerProof {
    /// The login secret was given in this session within the last five minutes.
    Confirmed,
    /// The current login secret, as the request contains it. Not verified yet.
    Secret(String),
}

/// Locks the account. Then checks that the account is open, the session is live, and the proof is valid.
pub(crate) fn check_owner(
    core: &Core,
    tx: &mut Transaction,
    session: &AccountSession,
    proof: &OwnerProof,
) -> Result<(), Abort> {
    let is_open = tx.lock_account(&session.account_id)?;
    let stored = tx.find_session(&session.token)?;
    if !is_open || !stored.is_some_and(|session| session.is_live(core.clock.now())) {
        return Err(NO_SESSION.into());
    }
    let OwnerProof::Secret(login_secret) = proof else {
        // The time was checked before. Another session may have replaced the secrets since, which ends a confirmation.
        let is_confirmed = tx.session_confirmed_at(&session.token)?.is_some();
        return if is_confirmed { Ok(()) } else { Err(NO_SESSION.into()) };
    };
    let stored = tx.find_login_secret(&session.account_id)?;
    let given = LoginSecret::hash_of(login_secret);
    let is_right = given.zip(stored).is_some_and(|(given, stored)| same_hash(&given, &stored));
    if is_right { Ok(()) } else { Err(WRONG_SECRET.into()) }
}

/// Stores an activity entry if `done` is the refusal of a wrong login secret. `attempted` names the refused action.
pub(crate) fn record_wrong_secret<T>(
    core: &Core,
    session: &AccountSession,
    source: &RequestSource,
    attempted: &str,
    done: &Result<T, Abort>,
) -> Result<(), StoreError> {
    if matches!(done, Err(Abort::Refused(refusal)) if *refusal == WRONG_SECRET) {
        core.record_failed_login(&session.account_id, source, Some(attempted))?;
    }
    Ok(())
}

/// A new login secret and a new recovery code, not stored yet.
pub(crate) struct NewSecrets {
    login_secret: LoginSecret,
    recovery_code: RecoveryCode,
}

impl NewSecrets {
    pub(crate) fn generate() -> Result<Self, WalletError> {
        let (login_secret, recovery_code) = (LoginSecret::generate()?, RecoveryCode::generate()?);
        Ok(Self { login_secret, recovery_code })
    }

    pub(crate) fn hashes(&self) -> AccountSecrets {
        AccountSecrets {
            login_secret: self.login_secret.hash(),
            recovery_code: self.recovery_code.hash(),
        }
    }

    pub(crate) fn show(&self, account_id: AccountId) -> SecretsReplaced {
        SecretsReplaced {
            account_id,
            login_secret: self.login_secret.expose().to_owned(),
            recovery_code: self.recovery_code.expose().to_owned(),
        }
    }
}

/// The refusal of a request that has a valid session but a wrong login secret.
pub(crate) const WRONG_SECRET: Refusal = Refusal::Unauthorized(
    "the login_secret is wrong; it is the newest one of this account (ls_...)",
);
const NO_RECOVERY: Refusal = Refusal::Unauthorized(
    "the account_id or the recovery_code is wrong; use the newest code, since each code works once",
);
