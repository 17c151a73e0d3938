//! The author of acts on one API key: a caller of the API, or the owner of the account.

use std::sync::Arc;

use sealpost_domain::{
    AccountId, ActivityKind, ApiKeyId, Refusal, RequestSource,
    ports::{Durability, StoreError},
};
use sealpost_storage::{Abort, Transaction};

use crate::{
    account::activity::ActOrigin,
    caller::{
        admission::{Limited, Purpose, check_state, check_token, query_of},
        credentials::{Caller, CallerId},
    },
    error::Error,
    owner::Owner,
    sealpost::core::Core,
};

/// The author of acts on one API key: a caller of the API, or the owner of the key's account.
#[derive(Clone)]
pub struct Actor {
    id: CallerId,
    origin: ActOrigin,
    /// The caller. Each act of a caller counts against the limits of the key.
    ///
    /// `None` for the owner, authenticated by a session. The acts of the owner count against no limit. Some of these
    /// acts are possible even if the key is not active.
    caller: Option<Caller>,
}

impl Caller {
    /// Returns the caller as the author of an act. The activity log names the client of the request.
    pub fn acting(&self, source: &RequestSource) -> Actor {
        Actor { id: self.id, origin: self.act_from(source), caller: Some(self.clone()) }
    }
}

impl Owner<'_> {
    /// Returns the owner as the author of acts on a key. Does not check that the account owns the key: each act checks
    /// this.
    pub fn acting_on(&self, key: &ApiKeyId) -> Actor {
        let id = CallerId { session: self.session.token, key: *key };
        Actor { id, origin: self.session.act_from(&self.source), caller: None }
    }
}

impl Actor {
    /// Returns the account that owns the key.
    pub fn account_id(&self) -> AccountId {
        self.origin.account_id
    }
}

/// A request of an actor for one act.
pub(crate) struct ActRequest {
    pub(super) actor: Actor,
    purpose: Purpose,
    core: Arc<Core>,
}

impl Core {
    /// Runs `act` on the blocking pool. Before `act`, a short transaction checks the session of the author and the
    /// state of the key. It also counts the request if the author is a caller. If the rate-limit cache contains a
    /// refusal for the caller, returns this refusal without using the pool.
    ///
    /// `act` changes data with [`ActRequest::write`], which checks session and key again.
    pub(crate) async fn act<S: Clone + Send + 'static, T: Send + 'static>(
        self: &Arc<Self>,
        service: &S,
        actor: &Actor,
        purpose: Purpose,
        act: impl FnOnce(&S, &ActRequest) -> Result<T, Error> + Send + 'static,
    ) -> Limited<T> {
        let request = ActRequest { actor: actor.clone(), purpose, core: Arc::clone(self) };
        if let Some(caller) = &actor.caller {
            return self.ask_as(service, caller, purpose, move |it| act(it, &request)).await;
        }
        let act = move |service: &S| {
            request.admit_owner()?;
            act(service, &request)
        };
        Limited { result: self.block(service, act).await, limits: None }
    }
}

impl ActRequest {
    /// Returns the key that the act concerns.
    pub(crate) fn key(&self) -> &ApiKeyId {
        &self.actor.id.key
    }

    /// Runs `act` in one transaction. The transaction first locks the key, and checks session and key like the
    /// admission. Another request may have ended the session or revoked the key since the admission. A session that
    /// ends after this check, while the transaction runs, counts as ended after the act.
    pub(super) fn write<T>(
        &self,
        mut act: impl FnMut(&mut Transaction) -> Result<T, Abort>,
    ) -> Result<T, Abort> {
        self.core.store.write_or_refuse(Durability::Durable, |tx| {
            self.check(tx)?;
            act(tx)
        })
    }

    /// Stores an entry about the act in the activity log of the account, with the actor as author.
    pub(super) fn record(
        &self,
        tx: &mut Transaction,
        kind: ActivityKind,
        detail: String,
    ) -> Result<(), StoreError> {
        self.core.record(tx, &self.actor.origin, kind, Some(detail))
    }

    fn admit_owner(&self) -> Result<(), Error> {
        // Refuses a key of another account before the transaction begins. The transaction locks rows that the key's own
        // requests to send messages need.
        let found = self.core.store.read(|reader| reader.find_key(self.key()))?;
        if found.is_none_or(|key| key.account_id != self.actor.account_id()) {
            return Err(Refusal::KeyNotFound { field: None }.into());
        }
        Ok(self.core.store.write_or_refuse(Durability::Relaxed, |tx| self.check(tx))?)
    }

    /// Locks the key until the transaction ends. Then checks the session of the actor and the state of the key.
    fn check(&self, tx: &mut Transaction) -> Result<(), Abort> {
        let Self { actor, purpose, core } = self;
        let facts = tx.lock_facts(&query_of(&actor.id))?;
        let key = check_token(&facts, &actor.id, core.clock.now())?;
        let may_be_inactive = actor.caller.is_none() && *purpose == Purpose::Inspect;
        if may_be_inactive { Ok(()) } else { Ok(check_state(key, *purpose)?) }
    }
}
