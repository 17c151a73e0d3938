//! What an owner does. A key that is not the account's is one that does not exist.

use std::sync::Arc;

use sealpost_domain::{
    ApiKeyId, KeyStatus, Refusal,
    ports::{Durability, FactsQuery, KeyFacts},
};

use super::{NO_KEY, Owner, name_of};
use crate::{
    Error, KeyRevoked, Manage, Managed, Operator, OperatorError, Register, Registered,
    credentials::{Caller, NO_SESSION},
};

impl Owner<'_> {
    /// Registers a webhook of a key that may act.
    pub fn register(&self, key: &ApiKeyId, asked: Register) -> Result<Registered, Error> {
        self.with_key(key, |facts| {
            require_active(facts)?;
            if facts.standing.is_blocked() {
                return Err(Refusal::GovernanceBlocked { field: None });
            }
            Ok(())
        })?;
        self.sealpost.vet_and_add(&Caller { session: self.session, key: *key }, asked)
    }

    /// Manages the webhooks of a key. To look and to delete is possible whatever its state; every other change is
    /// for an active key, as it is by the API.
    pub fn manage(&self, key: &ApiKeyId, asked: Manage) -> Result<Managed, Error> {
        self.with_key(key, |facts| match asked {
            Manage::Delete { .. } | Manage::Deliveries(_) | Manage::List => Ok(()),
            Manage::Enable { .. }
            | Manage::Recover(_)
            | Manage::Redeliver { .. }
            | Manage::RotateSecret { .. } => require_active(facts),
        })?;
        self.sealpost.go_on(key, asked)
    }

    /// Revokes a key for good, and writes down in the audit trail who did it.
    pub fn revoke(&self, key: &ApiKeyId) -> Result<KeyRevoked, Error> {
        self.with_key(key, |facts| match facts.status {
            KeyStatus::Revoked => Err(REVOKED),
            KeyStatus::Active | KeyStatus::Deactivated | KeyStatus::Rotating => Ok(()),
        })?;
        let core = &self.sealpost.core;
        let actor = format!("account:{}", self.account_id);
        let operator = Operator::new(Arc::clone(&core.store), Arc::clone(&core.clock), actor);
        let revoked = operator.revoke_key(key);
        core.known.forget_refusals_of(key);
        core.known.forget_secrets(key);
        core.channels.end(key);
        revoked.map_err(|error| match error {
            OperatorError::Store(fault) => fault.into(),
            OperatorError::Wallet(fault) => fault.into(),
            // Somebody else has revoked it in between.
            OperatorError::IllegalTransition(_)
            | OperatorError::NotFound(_)
            | OperatorError::Pointless(_) => REVOKED.into(),
        })
    }

    /// Ends one of the sessions that are shown; one that has ended already is no fault.
    pub fn end_session(&self, name: &str) -> Result<(), Error> {
        let store = &self.sealpost.core.store;
        for session in
            self.live_sessions()?.into_iter().filter(|session| name_of(&session.token) == name)
        {
            store.write(Durability::Durable, |tx| tx.delete_session(&session.token))?;
            self.sealpost.core.known.forget_session(&session.token);
        }
        Ok(())
    }

    /// Judges a key of the account, while the session is live.
    fn with_key(
        &self,
        key: &ApiKeyId,
        judge: impl Fn(&KeyFacts) -> Result<(), Refusal>,
    ) -> Result<(), Error> {
        let core = &self.sealpost.core;
        // The transaction locks rows that the key's sends wait for: nobody gets as far with a key of somebody else's.
        let shown = core.store.lookup()?.find_key(key)?;
        if shown.is_none_or(|key| key.account_id != self.account_id) {
            return Err(NO_KEY.into());
        }
        let wanted = FactsQuery {
            sessions: vec![self.session],
            callers: vec![*key],
            ..FactsQuery::default()
        };
        let judged = core.store.write(Durability::Relaxed, |tx| {
            let facts = tx.lock_facts(&wanted)?;
            let session = facts.sessions.get(&self.session);
            if !session.is_some_and(|session| session.is_live(core.clock.now())) {
                return Ok(Err(NO_SESSION));
            }
            let key = facts.keys.get(key).filter(|key| key.account_id == self.account_id);
            Ok(key.ok_or(NO_KEY).and_then(|key| judge(key)))
        })?;
        Ok(judged?)
    }
}

fn require_active(facts: &KeyFacts) -> Result<(), Refusal> {
    match facts.status {
        KeyStatus::Active => Ok(()),
        status @ (KeyStatus::Deactivated | KeyStatus::Revoked | KeyStatus::Rotating) => {
            Err(Refusal::KeyInactive { status, field: None })
        }
    }
}

const REVOKED: Refusal = Refusal::KeyInactive { status: KeyStatus::Revoked, field: None };
