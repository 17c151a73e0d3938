//! Look-ups, inside a transaction and outside.

use sealpost_domain::{
    AccountId, ApiKey, ApiKeyId, Handle, IssuerKey, Session, TokenHash,
    ports::{HandleOwner, KeySnapshot, Lookup, StoreError},
};

use crate::{account, issuer, key, reader::Reader, unit::Unit};

impl Reader<'_> {
    /// Outside a transaction nothing follows from what was seen.
    #[expect(clippy::unused_self, reason = "the counterpart of what a transaction remembers")]
    fn saw_handle(&self, _: &Handle, _: Option<&HandleOwner>) {}
}

impl Unit {
    fn saw_handle(&mut self, handle: &Handle, owner: Option<&HandleOwner>) {
        self.handles_seen.insert(handle.clone(), owner.map(|owner| owner.api_key_id));
    }
}

macro_rules! look_up_on {
    ($runner:ty) => {
        impl Lookup for $runner {
            fn find_session(&mut self, token: &TokenHash) -> Result<Option<Session>, StoreError> {
                self.run(|conn| account::find_session(conn, token))
            }

            fn find_sessions(&mut self, tokens: &[TokenHash]) -> Result<Vec<Session>, StoreError> {
                self.run(|conn| account::find_sessions(conn, tokens))
            }

            fn find_key(&mut self, id: &ApiKeyId) -> Result<Option<ApiKey>, StoreError> {
                self.run(|conn| key::find_key(conn, id))
            }

            fn find_key_snapshots(
                &mut self,
                ids: &[ApiKeyId],
            ) -> Result<Vec<KeySnapshot>, StoreError> {
                self.run(|conn| key::find_states(conn, ids))
            }

            fn find_handle(&mut self, handle: &Handle) -> Result<Option<HandleOwner>, StoreError> {
                let owner = self.run(|conn| key::find_handle(conn, handle))?;
                self.saw_handle(handle, owner.as_ref());
                Ok(owner)
            }

            fn find_login_secret(
                &mut self,
                account: &AccountId,
            ) -> Result<Option<TokenHash>, StoreError> {
                self.run(|conn| account::find_login_secret(conn, account))
            }

            fn issuer_keys(&mut self) -> Result<Vec<IssuerKey>, StoreError> {
                self.run(issuer::issuer_keys)
            }
        }
    };
}

look_up_on!(Reader<'_>);
look_up_on!(Unit);
