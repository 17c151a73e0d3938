//! The owner of an account as the author of critical acts. A stolen session alone cannot perform these acts. They need
//! the login secret, either in the request or given in the same session within the last five minutes.

use std::time::Duration;

use sealpost_domain::{Refusal, RequestSource, ports::Durability};
use sealpost_storage::{Abort, Transaction};
use sealpost_wallet::{LoginSecret, same_hash};

use super::audited::{ActionRecord, Author, perform};
use crate::{
    account::{Accounts, activity::ActOrigin},
    caller::credentials::{AccountSession, NO_SESSION},
    error::Error,
    owner::Owner,
    sealpost::core::Core,
};

/// The owner of an account, with a session and a proof that the session is not stolen. Each act checks the session and
/// the proof.
#[derive(Clone)]
pub struct ProvenOwner {
    pub(crate) session: AccountSession,
    source: RequestSource,
    proof: OwnerProof,
}

#[derive(Clone)]
enum OwnerProof {
    /// The login secret was given in this session within the last five minutes.
    Confirmed,
    /// The current login secret, as the request contains it. Not verified yet.
    Secret(String),
}

/// The reason that an owner is not confirmed.
#[derive(Debug)]
pub enum ConfirmationRefusal {
    /// The session has ended, or the service failed.
    Failed(Error),
    /// The session is not confirmed, and the request contains no login secret.
    Missing,
    /// The request contains a wrong login secret.
    Wrong,
}

impl From<Error> for ConfirmationRefusal {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl AccountSession {
    /// Returns the owner of the account. `login_secret` is the login secret in the request, which each act verifies.
    pub fn with_secret(self, login_secret: String, source: RequestSource) -> ProvenOwner {
        ProvenOwner { session: self, source, proof: OwnerProof::Secret(login_secret) }
    }
}

impl Owner<'_> {
    /// Returns whether the login secret was given in this session within the last five minutes.
    pub async fn is_confirmed(&self) -> Result<bool, Error> {
        let session = self.session;
        let core = &self.accounts.core;
        core.block(core, move |core| is_confirmed(core, &session)).await
    }

    /// Checks that the client of the session knows the login secret. `login_secret` may be `None` if the secret was
    /// given in this session within the last five minutes. Refuses a session that has ended.
    pub async fn confirm(
        &self,
        login_secret: Option<String>,
    ) -> Result<ProvenOwner, ConfirmationRefusal> {
        let (session, source) = (self.session, self.source.clone());
        let confirm =
            move |accounts: &Accounts| Ok(accounts.confirm(session, source, login_secret));
        self.accounts.core.block(self.accounts, confirm).await?
    }
}

impl ProvenOwner {
    pub(crate) fn origin(&self) -> ActOrigin {
        self.session.act_from(&self.source)
    }

    /// Locks the account. Then checks that the account is open, the session is live, and the proof is valid.
    fn check(&self, core: &Core, tx: &mut Transaction) -> Result<(), Abort> {
        let AccountSession { token, account_id } = &self.session;
        let is_open = tx.lock_account(account_id)?;
        let stored = tx.find_session(token)?;
        if !is_open || !stored.is_some_and(|session| session.is_live(core.clock.now())) {
            return Err(NO_SESSION.into());
        }
        let OwnerProof::Secret(login_secret) = &self.proof else {
            // [`Owner::confirm`] has already checked the age of the confirmation. Another session deletes the
            // confirmation if it replaces the secrets.
            let is_confirmed = tx.session_confirmed_at(token)?.is_some();
            return if is_confirmed { Ok(()) } else { Err(NO_SESSION.into()) };
        };
        let stored = tx.find_login_secret(account_id)?;
        let given = LoginSecret::hash_of(login_secret);
        let is_right = given.zip(stored).is_some_and(|(given, stored)| same_hash(&given, &stored));
        if is_right { Ok(()) } else { Err(WRONG_SECRET.into()) }
    }
}

impl Accounts {
    /// Performs an act of the owner in one transaction. The transaction first checks the account, the session and the
    /// login secret, and refuses the act if one of these checks fails. `attempted` names the act in the activity log if
    /// the login secret is wrong.
    pub(crate) fn act_as_owner<T>(
        &self,
        owner: &ProvenOwner,
        attempted: &str,
        mut act: impl FnMut(&mut Transaction) -> Result<T, Abort>,
    ) -> Result<T, Error> {
        let done = self.core.store.write_or_refuse(Durability::Durable, |tx| {
            owner.check(&self.core, tx)?;
            act(tx)
        });
        self.record_wrong_secret(owner, attempted, &done)?;
        Ok(done?)
    }

    /// Does the same as [`Accounts::act_as_owner`], and records the act in the audit trail.
    pub(super) fn audited_act_as_owner<T>(
        &self,
        owner: &ProvenOwner,
        attempted: &str,
        mut act: impl FnMut(&mut Transaction) -> Result<(T, ActionRecord), Abort>,
    ) -> Result<T, Error> {
        let author = Author::Owner(owner.session.account_id);
        let done = perform(&self.core.store, &*self.core.clock, &author, |tx| {
            owner.check(&self.core, tx)?;
            act(tx)
        });
        self.record_wrong_secret(owner, attempted, &done)?;
        Ok(done?)
    }

    /// Stores an activity entry if `done` is the refusal of a wrong login secret.
    fn record_wrong_secret<T>(
        &self,
        owner: &ProvenOwner,
        attempted: &str,
        done: &Result<T, Abort>,
    ) -> Result<(), Error> {
        if matches!(done, Err(Abort::Refused(refusal)) if *refusal == WRONG_SECRET) {
            let account = &owner.session.account_id;
            self.record_failed_login(account, &owner.source, Some(attempted))?;
        }
        Ok(())
    }

    fn confirm(
        &self,
        session: AccountSession,
        source: RequestSource,
        login_secret: Option<String>,
    ) -> Result<ProvenOwner, ConfirmationRefusal> {
        if is_confirmed(&self.core, &session)? {
            return Ok(ProvenOwner { session, source, proof: OwnerProof::Confirmed });
        }
        let login_secret = login_secret.ok_or(ConfirmationRefusal::Missing)?;
        if LoginSecret::hash_of(&login_secret).is_none() {
            return Err(ConfirmationRefusal::Wrong);
        }
        let owner = session.with_secret(login_secret, source);
        let confirmed = self.core.store.write_or_refuse(Durability::Relaxed, |tx| {
            owner.check(&self.core, tx)?;
            tx.confirm_session(&session.token, self.core.clock.now())?;
            Ok(())
        });
        self.record_wrong_secret(&owner, "confirmation on the dashboard", &confirmed)?;
        match confirmed {
            Ok(()) => Ok(ProvenOwner { proof: OwnerProof::Confirmed, ..owner }),
            Err(Abort::Refused(WRONG_SECRET)) => Err(ConfirmationRefusal::Wrong),
            Err(abort) => Err(Error::from(abort).into()),
        }
    }
}

fn is_confirmed(core: &Core, session: &AccountSession) -> Result<bool, Error> {
    let confirmed_at = core.store.read(|reader| reader.session_confirmed_at(&session.token))?;
    let now = core.clock.now();
    Ok(confirmed_at.is_some_and(|at| now.abs_diff(at) < CONFIRMED_FOR))
}

/// Time after which the login secret must be given again.
const CONFIRMED_FOR: Duration = Duration::from_mins(5);
/// The refusal of a request that has a valid session but a wrong login secret.
pub(super) const WRONG_SECRET: Refusal = Refusal::Unauthorized(
    "the login_secret is wrong; it is the newest one of this account (ls_...)",
);
