//! Confirmation by the login secret. A stolen session alone cannot make the changes of a [`ConfirmedOwner`].

use std::time::Duration;

use sealpost_domain::{ApiKeyId, RequestSource, ports::Durability};
use sealpost_storage::Abort;
use sealpost_wallet::LoginSecret;

use super::{account_owner::Owner, actions};
use crate::{
    account::{
        api_tokens::{ApiTokenCreated, CreateApiToken, create_token},
        export::{ExportPosition, begin_export},
        recovery::{
            OwnerProof, SecretsReplaced, check_owner, record_wrong_secret, replace_secrets,
        },
        session::{Scope, end_sessions},
    },
    caller::authenticated::AccountSession,
    error::Error,
    operator::keys::KeyRevoked,
    sealpost::core::Core,
};

/// An owner who has given the login secret within the last five minutes.
pub struct ConfirmedOwner<'a>(Owner<'a>);

/// The reason that an owner is not confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfirmationFault {
    /// The session is not confirmed, and the request contains no login secret.
    Missing,
    /// The request contains a wrong login secret.
    Wrong,
}

impl<'a> Owner<'a> {
    /// Returns whether the login secret was given in this session within the last five minutes.
    pub async fn is_confirmed(&self) -> Result<bool, Error> {
        let session = self.session;
        self.sealpost.block(move |core| is_confirmed(core, &session)).await
    }

    /// Confirms the owner. Needs the login secret, unless it was given within the last five minutes.
    pub async fn confirm(
        self,
        login_secret: Option<String>,
    ) -> Result<Result<ConfirmedOwner<'a>, ConfirmationFault>, Error> {
        let (session, source) = (self.session, self.source.clone());
        let confirmed =
            self.sealpost.block(move |core| confirm(core, &session, login_secret, &source));
        Ok(confirmed.await?.map(|()| ConfirmedOwner(self)))
    }
}

impl ConfirmedOwner<'_> {
    /// Revokes a key permanently and records the owner in the audit trail.
    pub async fn revoke(&self, key: &ApiKeyId) -> Result<KeyRevoked, Error> {
        let key = *key;
        self.block(move |core, session, source| actions::revoke(core, session, &key, source)).await
    }

    /// Creates an API token.
    pub async fn create_api_token(&self, create: CreateApiToken) -> Result<ApiTokenCreated, Error> {
        self.block(move |core, session, source| {
            create_token(core, session, create, &OwnerProof::Confirmed, source)
        })
        .await
    }

    /// Replaces the login secret and the recovery code. Sessions and API tokens stay.
    pub async fn replace_secrets(&self) -> Result<SecretsReplaced, Error> {
        self.block(|core, session, source| {
            replace_secrets(core, session, &OwnerProof::Confirmed, source)
        })
        .await
    }

    /// Begins an export of the account.
    pub async fn begin_export(&self) -> Result<ExportPosition, Error> {
        self.block(|core, session, source| {
            begin_export(core, session, &OwnerProof::Confirmed, source)
        })
        .await
    }

    /// Ends every session of the account. API tokens stay.
    pub async fn end_all_sessions(&self) -> Result<(), Error> {
        self.block(|core, session, source| end_sessions(core, session, Scope::Account, source))
            .await
    }

    async fn block<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Core, &AccountSession, &RequestSource) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let Self(owner) = self;
        let (session, source) = (owner.session, owner.source.clone());
        owner.sealpost.block(move |core| work(core, &session, &source)).await
    }
}

fn is_confirmed(core: &Core, session: &AccountSession) -> Result<bool, Error> {
    let confirmed_at = core.store.read(|reader| reader.session_confirmed_at(&session.token))?;
    let now = core.clock.now();
    Ok(confirmed_at.is_some_and(|at| now.abs_diff(at) < CONFIRMED_FOR))
}

fn confirm(
    core: &Core,
    session: &AccountSession,
    login_secret: Option<String>,
    source: &RequestSource,
) -> Result<Result<(), ConfirmationFault>, Error> {
    if is_confirmed(core, session)? {
        return Ok(Ok(()));
    }
    let Some(login_secret) = login_secret else { return Ok(Err(ConfirmationFault::Missing)) };
    if LoginSecret::hash_of(&login_secret).is_none() {
        return Ok(Err(ConfirmationFault::Wrong));
    }
    let proof = OwnerProof::Secret(login_secret);
    let confirmed = core.store.write_or_refuse(Durability::Relaxed, |tx| {
        check_owner(core, tx, session, &proof)?;
        tx.confirm_session(&session.token, core.clock.now())?;
        Ok(())
    });
    record_wrong_secret(core, session, source, "confirmation on the dashboard", &confirmed)?;
    match confirmed {
        Ok(()) => Ok(Ok(())),
        Err(Abort::Refused(_)) => Ok(Err(ConfirmationFault::Wrong)),
        Err(Abort::Store(error)) => Err(error.into()),
    }
}

/// Time after which the login secret must be given again.
const CONFIRMED_FOR: Duration = Duration::from_mins(5);
