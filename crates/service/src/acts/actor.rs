//! The author of acts on one API key: a caller of the API, or the owner of the account.

use std::sync::Arc;

use sealpost_domain::{
    AccountId, ApiKeyId, Refusal, RequestSource,
    ports::{AdmissionFacts, Durability},
};

use crate::{
    account::activity::ActOrigin,
    caller::{
        admission::{Limited, Purpose, check_state, query_of},
        credentials::{Caller, CallerId, NO_SESSION},
    },
    error::Error,
    owner::account_owner::Owner,
    sealpost::core::Core,
};

/// The author of acts on one API key.
#[derive(Clone)]
pub enum Actor {
    /// A caller of the API, whose credentials are for the key. Each act counts against the limits of the key.
    Caller(Caller, RequestSource),
    /// The owner of the key's account. The acts of the owner count against no limit. Some of these acts are possible
    /// even if the key is not active.
    Owner(KeyOwner),
}

/// The owner of an account, authenticated by a session, as the author of acts on one key.
#[derive(Clone)]
pub struct KeyOwner {
    id: CallerId,
    origin: ActOrigin,
}

impl Caller {
    /// Returns the caller as the author of an act. The activity log names the client of the request.
    pub fn acting(&self, source: RequestSource) -> Actor {
        Actor::Caller(self.clone(), source)
    }
}

impl Owner<'_> {
    /// Returns the owner as the author of acts on a key. Does not check that the account owns the key: each act checks
    /// this.
    pub fn acting_on(&self, key: &ApiKeyId) -> Actor {
        let id = CallerId { session: self.session.token, key: *key };
        Actor::Owner(KeyOwner { id, origin: self.session.act_from(&self.source) })
    }
}

impl Actor {
    /// Returns the key that the act concerns.
    pub(crate) fn key(&self) -> &ApiKeyId {
        match self {
            Self::Caller(caller, _) => &caller.id.key,
            Self::Owner(owner) => &owner.id.key,
        }
    }

    /// Returns the author for the activity log.
    pub(super) fn origin(&self) -> ActOrigin {
        match self {
            Self::Caller(caller, source) => caller.act_from(source),
            Self::Owner(owner) => owner.origin.clone(),
        }
    }

    /// Returns the account that owns the key.
    pub fn account_id(&self) -> AccountId {
        match self {
            Self::Caller(caller, _) => caller.account_id,
            Self::Owner(owner) => owner.origin.account_id,
        }
    }
}

impl Core {
    /// Runs `act` on the blocking pool. Before `act`, a short transaction checks the session of the author and the
    /// state of the key. It also counts the request if the author is a caller. If the rate-limit cache contains a
    /// refusal for the caller, returns this refusal without using the pool.
    pub(crate) async fn act<S: Clone + Send + 'static, T: Send + 'static>(
        self: &Arc<Self>,
        service: &S,
        actor: &Actor,
        purpose: Purpose,
        act: impl FnOnce(&S, &Actor) -> Result<T, Error> + Send + 'static,
    ) -> Limited<T> {
        let author = actor.clone();
        let act = move |service: &S| act(service, &author);
        match actor {
            Actor::Caller(caller, _) => self.ask_as(service, caller, purpose, act).await,
            Actor::Owner(key_owner) => {
                let (core, key_owner) = (Arc::clone(self), key_owner.clone());
                let result = self.block(service, move |service| {
                    core.admit_owner(&key_owner, purpose)?;
                    act(service)
                });
                Limited { result: result.await, limits: None }
            }
        }
    }

    fn admit_owner(&self, owner: &KeyOwner, purpose: Purpose) -> Result<(), Error> {
        // Refuses a key of another account before the transaction begins. The transaction locks rows that the key's own
        // requests to send messages need.
        let found = self.store.read(|reader| reader.find_key(&owner.id.key))?;
        if found.is_none_or(|key| key.account_id != owner.origin.account_id) {
            return Err(NO_KEY.into());
        }
        self.store.write_or_refuse(Durability::Relaxed, |tx| {
            let facts = tx.lock_facts(&query_of(&owner.id))?;
            Ok(self.check_owner(&facts, owner, purpose)?)
        })?;
        Ok(())
    }

    fn check_owner(
        &self,
        facts: &AdmissionFacts,
        owner: &KeyOwner,
        purpose: Purpose,
    ) -> Result<(), Refusal> {
        let session = facts.sessions.get(&owner.id.session);
        if !session.is_some_and(|session| session.is_live(self.clock.now())) {
            return Err(NO_SESSION);
        }
        let key = facts.keys.get(&owner.id.key);
        let key = key.filter(|key| key.account_id == owner.origin.account_id).ok_or(NO_KEY)?;
        if purpose == Purpose::Inspect { Ok(()) } else { check_state(key, purpose) }
    }
}

const NO_KEY: Refusal = Refusal::KeyNotFound { field: None };
