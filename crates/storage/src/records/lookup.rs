//! Looks up sessions, API keys, handles (unique names of keys), login secrets and issuer keys, inside and outside a
//! transaction.

mod operator;
mod policies;
mod stats;

use sealpost_domain::{
    AccountId, ApiKey, ApiKeyId, ApiToken, Handle, IssuerKey, Session, Timestamp, TokenHash,
    ports::{HandleOwner, KeySnapshot, Lookup, StoreError},
};

use crate::{
    connection::{reader::Reader, transaction::Transaction},
    records::{accounts, api_keys, api_tokens, handles, issuer_keys},
};

impl Reader<'_> {
    /// Does nothing, because a reader writes nothing. In contrast, a transaction remembers the owners of the handles
    /// that it has read, and verifies them at a later write.
    #[expect(clippy::unused_self, reason = "the counterpart of the method of a transaction")]
    fn saw_handle(&self, _: &Handle, _: Option<&HandleOwner>) {}
}

impl Transaction {
    fn saw_handle(&mut self, handle: &Handle, owner: Option<&HandleOwner>) {
        self.handles_seen.insert(handle.clone(), owner.map(|owner| owner.api_key_id));
    }
}

macro_rules! look_up_on {
    ($runner:ty) => {
        impl Lookup for $runner {
            fn find_session(&mut self, token: &TokenHash) -> Result<Option<Session>, StoreError> {
                self.run(|conn| accounts::find_session(conn, token))
            }

            fn find_sessions(&mut self, tokens: &[TokenHash]) -> Result<Vec<Session>, StoreError> {
                self.run(|conn| accounts::find_sessions(conn, tokens))
            }

            fn find_api_tokens(
                &mut self,
                tokens: &[TokenHash],
            ) -> Result<Vec<ApiToken>, StoreError> {
                self.run(|conn| api_tokens::find(conn, tokens))
            }

            fn api_tokens_of(
                &mut self,
                account: &AccountId,
                now: Timestamp,
            ) -> Result<Vec<ApiToken>, StoreError> {
                self.run(|conn| api_tokens::of_account(conn, account, now))
            }

            fn find_key(&mut self, id: &ApiKeyId) -> Result<Option<ApiKey>, StoreError> {
                self.run(|conn| api_keys::find_key(conn, id))
            }

            fn find_key_snapshots(
                &mut self,
                ids: &[ApiKeyId],
            ) -> Result<Vec<KeySnapshot>, StoreError> {
                self.run(|conn| api_keys::find_snapshots(conn, ids))
            }

            fn find_handle(&mut self, handle: &Handle) -> Result<Option<HandleOwner>, StoreError> {
                let owner = self.run(|conn| handles::find(conn, handle))?;
                self.saw_handle(handle, owner.as_ref());
                Ok(owner)
            }

            fn find_login_secret(
                &mut self,
                account: &AccountId,
            ) -> Result<Option<TokenHash>, StoreError> {
                self.run(|conn| accounts::find_login_secret(conn, account))
            }

            fn find_recovery_code(
                &mut self,
                account: &AccountId,
            ) -> Result<Option<TokenHash>, StoreError> {
                self.run(|conn| accounts::find_recovery_code(conn, account))
            }

            fn session_confirmed_at(
                &mut self,
                token: &TokenHash,
            ) -> Result<Option<Timestamp>, StoreError> {
                self.run(|conn| accounts::session_confirmed_at(conn, token))
            }

            fn issuer_keys(&mut self) -> Result<Vec<IssuerKey>, StoreError> {
                self.run(issuer_keys::issuer_keys)
            }
        }
    };
}

look_up_on!(Reader<'_>);
look_up_on!(Transaction);
