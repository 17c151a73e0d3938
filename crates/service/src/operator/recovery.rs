//! Recovers a database that was restored from a backup. A revocation journal is a file outside the database that
//! records revocations and similar acts. The recovery applies the acts of such journals again, and ends sessions.

use std::collections::{BTreeMap, BTreeSet};

use sealpost_domain::{
    AccountId, AccountSecrets, ApiKeyId, ApiTokenId, BadgeId,
    ports::{ClosingExtent, JournaledAct},
};
use serde::Serialize;
use serde_json::json;

use super::lists::NO_OPEN_ACCOUNT;
use crate::acts::audited::{ActionRecord, Concerned, Operator, OperatorError};

/// The credentials that a recovery ends, after it has applied the acts of the revocation journals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndedCredentials {
    /// All sessions. Their owners can log in again.
    Sessions,
    /// All sessions and all API tokens.
    SessionsAndApiTokens,
}

/// The result of a recovery: the numbers of changes. A change that the database already contained is not counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct DatabaseRecovered {
    /// Number of keys that were revoked again.
    pub keys_revoked: u64,
    /// Number of keys that were deactivated again.
    pub keys_deactivated: u64,
    /// Number of accounts that were closed again.
    pub accounts_closed: u64,
    /// Number of accounts that were erased again.
    pub accounts_erased: u64,
    /// Number of accounts whose login secret and recovery code were replaced again.
    pub secrets_replaced: u64,
    /// Number of badges that were revoked again.
    pub badges_revoked: u64,
    /// Number of API tokens that were revoked again, because a journal records their revocation.
    pub api_tokens_revoked: u64,
    /// Number of API tokens that were ended without a revocation in a journal.
    pub api_tokens_ended: u64,
    /// Number of sessions that were ended.
    pub sessions_ended: u64,
}

impl Operator {
    /// Applies acts from revocation journals to a restored database, then ends the credentials that `ended` selects. Of
    /// several acts on the same key or account, applies only the final result. Skips acts on rows that do not exist.
    /// After an interruption, call this function again.
    pub fn recover(
        &self,
        acts: &[JournaledAct],
        ended: EndedCredentials,
    ) -> Result<DatabaseRecovered, OperatorError> {
        let state = FinalState::new(acts);
        let mut done = DatabaseRecovered::default();
        for id in &state.revoked_keys {
            count(&mut done.keys_revoked, applied(self.revoke_key(id))?);
        }
        for id in &state.deactivated_keys {
            count(&mut done.keys_deactivated, applied(self.deactivate_key(id))?);
        }
        for (id, extent) in &state.closed_accounts {
            self.close_again(id, *extent, &mut done)?;
        }
        for (id, secrets) in &state.secrets {
            count(&mut done.secrets_replaced, self.replace_secrets_again(id, secrets)?);
        }
        for id in &state.badges {
            count(&mut done.badges_revoked, applied(self.revoke_badge(id, RECOVERY_REASON))?);
        }
        for id in &state.api_tokens {
            count(&mut done.api_tokens_revoked, applied(self.revoke_api_token(id))?);
        }
        done.sessions_ended = self.end_sessions(None)?.session_count;
        if ended == EndedCredentials::SessionsAndApiTokens {
            done.api_tokens_ended = self.end_api_tokens()?;
        }
        Ok(done)
    }

    /// Records in the audit trail that the missing acts were added to the revocation journal in the file `journal`.
    /// `entries` is the number of acts that were written.
    pub fn record_completed_journal(
        &self,
        journal: &str,
        entries: usize,
    ) -> Result<(), OperatorError> {
        self.perform(|_tx| {
            let detail = json!({"entries": entries});
            Ok(((), ActionRecord::new("journal.complete", journal, Concerned::Service, detail)))
        })
    }

    fn close_again(
        &self,
        id: &AccountId,
        extent: ClosingExtent,
        done: &mut DatabaseRecovered,
    ) -> Result<(), OperatorError> {
        let found = self.store.read(|reader| reader.account(id, self.clock.now()))?;
        let Some(account) = found.map(|found| found.summary) else { return Ok(()) };
        match extent {
            ClosingExtent::Close if account.closed_at.is_none() => {
                self.close_account(id)?;
                count(&mut done.accounts_closed, true);
            }
            ClosingExtent::Erase if account.erased_at.is_none() => {
                self.erase_account(id)?;
                count(&mut done.accounts_erased, true);
            }
            ClosingExtent::Close | ClosingExtent::Erase => {}
        }
        Ok(())
    }

    /// Sets the login secret and the recovery code of an account again. Returns false if the account is closed or
    /// missing, or already has these secrets.
    fn replace_secrets_again(
        &self,
        id: &AccountId,
        secrets: &AccountSecrets,
    ) -> Result<bool, OperatorError> {
        let is_current = self.store.read(|reader| {
            let stored = (reader.find_login_secret(id)?, reader.find_recovery_code(id)?);
            Ok::<_, OperatorError>(
                stored == (Some(secrets.login_secret), Some(secrets.recovery_code)),
            )
        })?;
        if is_current {
            return Ok(false);
        }
        applied(self.perform(|tx| {
            if !tx.lock_account(id)? {
                return Err(NO_OPEN_ACCOUNT.into());
            }
            tx.set_account_secrets(id, secrets)?;
            let record = ActionRecord::on_account("account.replace-secrets", id, json!({}));
            Ok(((), record))
        }))
    }

    /// Ends all API tokens of all accounts. Each transaction ends a bounded number of tokens.
    fn end_api_tokens(&self) -> Result<u64, OperatorError> {
        let mut total = 0_u64;
        loop {
            let ended = self.perform(|tx| {
                let ended = tx.end_api_tokens(BATCH_MAX)?;
                let detail = json!({"api_tokens": ended});
                Ok((ended, ActionRecord::new("token.end", "all", Concerned::Service, detail)))
            })?;
            total = total.saturating_add(ended);
            if ended < u64::from(BATCH_MAX) {
                return Ok(total);
            }
        }
    }
}

/// The state of keys, accounts, badges and API tokens after all acts of the revocation journals.
#[derive(Debug, Default, PartialEq, Eq)]
struct FinalState {
    revoked_keys: BTreeSet<ApiKeyId>,
    deactivated_keys: BTreeSet<ApiKeyId>,
    /// The accounts to close again. An account that was also erased is erased again.
    closed_accounts: BTreeMap<AccountId, ClosingExtent>,
    secrets: BTreeMap<AccountId, AccountSecrets>,
    badges: BTreeSet<BadgeId>,
    api_tokens: BTreeSet<ApiTokenId>,
}

impl FinalState {
    fn new(acts: &[JournaledAct]) -> Self {
        let mut state = Self::default();
        for act in acts {
            state.add(act);
        }
        state.deactivated_keys.retain(|id| !state.revoked_keys.contains(id));
        state
    }

    fn add(&mut self, act: &JournaledAct) {
        match *act {
            JournaledAct::AccountClosed(id) => {
                self.closed_accounts.entry(id).or_insert(ClosingExtent::Close);
            }
            JournaledAct::AccountErased(id) => {
                self.closed_accounts.insert(id, ClosingExtent::Erase);
            }
            JournaledAct::ApiTokenRevoked(id) => {
                self.api_tokens.insert(id);
            }
            JournaledAct::BadgeRevoked(id) => {
                self.badges.insert(id);
            }
            JournaledAct::KeyActivated(id) => {
                self.deactivated_keys.remove(&id);
            }
            JournaledAct::KeyDeactivated(id) => {
                self.deactivated_keys.insert(id);
            }
            JournaledAct::KeyRevoked(id) => {
                self.revoked_keys.insert(id);
            }
            JournaledAct::SecretsReplaced(id, secrets) => {
                self.secrets.insert(id, secrets);
            }
            JournaledAct::SessionsEnded => {}
        }
    }
}

/// Returns true if the action has changed the database, and false if its row is missing or already has the wanted
/// state.
fn applied<T>(done: Result<T, OperatorError>) -> Result<bool, OperatorError> {
    match done {
        Ok(_) => Ok(true),
        Err(
            OperatorError::IllegalTransition(_)
            | OperatorError::NotFound(_)
            | OperatorError::Pointless(_),
        ) => Ok(false),
        Err(error) => Err(error),
    }
}

fn count(number: &mut u64, is_applied: bool) {
    *number = number.saturating_add(u64::from(is_applied));
}

/// The reason with which a recovery revokes badges. The original reason is only in the lost part of the database.
const RECOVERY_REASON: &str = "revoked again after a restore";
/// Maximum number of API tokens that one transaction ends. On SQLite, requests that send messages wait for such a
/// transaction.
const BATCH_MAX: u32 = 1000;

#[cfg(test)]
mod tests {
    use sealpost_domain::TokenHash;

    use super::*;

    fn key(number: u8) -> ApiKeyId {
        ApiKeyId::from_bytes([number; 16])
    }

    fn secrets(number: u8) -> AccountSecrets {
        AccountSecrets { login_secret: TokenHash([number; 32]), recovery_code: TokenHash([0; 32]) }
    }

    #[test]
    fn the_last_act_on_a_key_wins_and_a_revocation_always_wins() {
        use JournaledAct as A;
        let acts = [
            A::KeyDeactivated(key(1)),
            A::KeyActivated(key(1)),
            A::KeyActivated(key(2)),
            A::KeyDeactivated(key(2)),
            A::KeyDeactivated(key(3)),
            A::KeyRevoked(key(3)),
            A::KeyRevoked(key(4)),
            A::KeyActivated(key(4)),
        ];
        let state = FinalState::new(&acts);
        assert_eq!(state.revoked_keys, BTreeSet::from([key(3), key(4)]));
        assert_eq!(state.deactivated_keys, BTreeSet::from([key(2)]));
    }

    #[test]
    fn the_newest_secrets_and_the_largest_extent_win() {
        use JournaledAct as A;
        let account = |number| AccountId::from_bytes([number; 16]);
        let acts = [
            A::SecretsReplaced(account(1), secrets(1)),
            A::SecretsReplaced(account(1), secrets(2)),
            A::AccountErased(account(2)),
            A::AccountClosed(account(2)),
            A::AccountClosed(account(3)),
        ];
        let state = FinalState::new(&acts);
        assert_eq!(state.secrets, BTreeMap::from([(account(1), secrets(2))]));
        let closed = [(account(2), ClosingExtent::Erase), (account(3), ClosingExtent::Close)];
        assert_eq!(state.closed_accounts, BTreeMap::from(closed));
    }
}
