//! Replaces the login secret and the recovery code of an account. The owner needs the current login secret, or the
//! recovery code if the secret is lost. An operator needs neither.

use schemars::JsonSchema;
use sealpost_domain::{
    AccountId, AccountSecrets, ActivityKind, Refusal, RequestSource, TokenHash, ports::Durability,
};
use sealpost_wallet::{LoginSecret, RecoveryCode, WalletError, same_hash};
use serde::Serialize;
use serde_json::json;

use super::{
    audited::{ActionRecord, Operator, OperatorError},
    owner::{ProvenOwner, WRONG_SECRET},
    sessions::NO_ACCOUNT_ID,
};
use crate::{
    account::{Accounts, activity::ActOrigin},
    cache::key_cache::CacheEvent,
    caller::credentials::AccountSession,
    error::Error,
    operator::lists::NO_OPEN_ACCOUNT,
};

/// The input of a recovery: the account, and its recovery code.
pub struct Recovery {
    /// The id of the account, from the response that created the account.
    pub account_id: String,
    /// The recovery code of the account.
    pub recovery_code: String,
}

impl Recovery {
    /// Refuses a malformed account id or recovery code, without a database look-up. Rate limits need not count such a
    /// request.
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

/// The recovery code of an account after an operator has reset its secrets.
#[derive(Serialize)]
pub struct SecretReset {
    /// Id of the account.
    pub account_id: AccountId,
    /// The recovery code for `POST /v1/auth/recover`, shown only in this result. The code works once.
    pub recovery_code: String,
}

impl Accounts {
    /// Replaces the login secret and the recovery code. Sessions and API tokens stay.
    pub async fn replace_secrets(&self, owner: ProvenOwner) -> Result<SecretsReplaced, Error> {
        self.core.block(self, move |accounts| accounts.replace_secrets_blocking(&owner)).await
    }

    /// Verifies the login secret in a request with a session. Records a wrong secret in the activity of the account,
    /// with `attempted`, the name of the action that needs the secret. The transaction of this action verifies the
    /// secret again.
    pub async fn verify_login_secret(
        &self,
        session: &AccountSession,
        login_secret: &str,
        source: &RequestSource,
        attempted: &'static str,
    ) -> Result<(), Error> {
        let (session, source) = (*session, source.clone());
        let given = LoginSecret::hash_of(login_secret);
        let verify = move |accounts: &Self| {
            let account = &session.account_id;
            let stored = accounts.core.store.read(|reader| reader.find_login_secret(account))?;
            let is_right =
                given.zip(stored).is_some_and(|(given, stored)| same_hash(&given, &stored));
            if !is_right {
                accounts.record_failed_login(account, &source, Some(attempted))?;
                return Err(WRONG_SECRET.into());
            }
            Ok(())
        };
        self.core.block(self, verify).await
    }

    /// Verifies a recovery code, but changes no secrets. Returns the account. Fails like [`Accounts::recover`].
    pub async fn verify_recovery(
        &self,
        recovery: &Recovery,
        source: &RequestSource,
    ) -> Result<AccountId, Error> {
        let ((account_id, given), source) = (recovery.parse()?, source.clone());
        let verify = move |accounts: &Self| accounts.verify_code(&account_id, &given, &source);
        self.core.block(self, verify).await?;
        Ok(account_id)
    }

    /// Replaces the login secret and the recovery code of an account whose recovery code is given. Ends all sessions
    /// and API tokens of the account. Refuses a wrong account id or recovery code. Records a wrong code in the activity
    /// of the account.
    pub async fn recover(
        &self,
        recovery: Recovery,
        source: RequestSource,
    ) -> Result<SecretsReplaced, Error> {
        let recover = move |accounts: &Self| {
            let (account_id, given) = recovery.parse()?;
            accounts.verify_code(&account_id, &given, &source)?;
            let core = &accounts.core;
            let secrets = NewSecrets::generate()?;
            let origin = ActOrigin::client(account_id, &source);
            core.store.write_or_refuse(Durability::Durable, |tx| {
                // Checks the code again on the locked account, so that each code works only once. A closed account has
                // no code.
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
        };
        self.core.block(self, recover).await
    }
}

impl Operator {
    /// Invalidates the login secret, the recovery code and all sessions of an account, and creates a new recovery code.
    /// API tokens stay valid until the owner uses the new code.
    pub fn reset_secret(&self, account: &AccountId) -> Result<SecretReset, OperatorError> {
        // The new login secret is shown to no one, so no login succeeds until the account is recovered.
        let secrets = NewSecrets::generate()?;
        self.perform(|tx| {
            if !tx.lock_account(account)? {
                return Err(NO_OPEN_ACCOUNT.into());
            }
            tx.set_account_secrets(account, &secrets.hashes())?;
            tx.delete_sessions_of(account)?;
            Ok(((), ActionRecord::on_account("account.reset-secret", account, json!({}))))
        })?;
        let recovery_code = secrets.show(*account).recovery_code;
        Ok(SecretReset { account_id: *account, recovery_code })
    }
}

impl Accounts {
    fn replace_secrets_blocking(&self, owner: &ProvenOwner) -> Result<SecretsReplaced, Error> {
        let secrets = NewSecrets::generate()?;
        let AccountSession { token, account_id } = owner.session;
        self.act_as_owner(owner, "replacing the secrets", |tx| {
            tx.set_account_secrets(&account_id, &secrets.hashes())?;
            // Deletes the confirmations of all other sessions. A session that was confirmed with the old secret must
            // not replace the new secret.
            tx.unconfirm_sessions(&account_id, &token)?;
            let detail = Some("login secret and recovery code".to_owned());
            self.core.record(tx, &owner.origin(), ActivityKind::SecretReplaced, detail)?;
            Ok(())
        })?;
        Ok(secrets.show(account_id))
    }

    /// Verifies the recovery code of an account. Records a wrong code in the activity of the account.
    fn verify_code(
        &self,
        account_id: &AccountId,
        given: &TokenHash,
        source: &RequestSource,
    ) -> Result<(), Error> {
        let stored = self.core.store.read(|reader| reader.find_recovery_code(account_id))?;
        let stored = stored.ok_or(NO_RECOVERY)?;
        if !same_hash(given, &stored) {
            self.record_failed_login(account_id, source, Some("recovery"))?;
            return Err(NO_RECOVERY.into());
        }
        Ok(())
    }
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

const NO_RECOVERY: Refusal = Refusal::Unauthorized(
    "the account_id or the recovery_code is wrong; use the newest code, since each code works once",
);
