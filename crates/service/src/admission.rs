//! Who is let in: the contract's order of checks from the session to the limits, decided on facts that the
//! transaction holds locked. Every authenticated request passes here, alone or in a batch.

use sealpost_domain::{
    KeyStatus, Refusal, Timestamp, Usage,
    ports::{Changes, Durability, Facts, KeyFacts, StoreError, Tx, Wanted},
};
use sealpost_limits::{Terms, admit_request};

use crate::{
    Credentials, Error, Sealpost,
    credentials::{Caller, FOREIGN_KEY, NO_SESSION},
};

/// What the caller is about to do, as governance sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// Send, open, register: what governance can block.
    Execute,
    /// Look and tidy up: what goes on under governance.
    Manage,
}

/// An admitted caller, as a use case sees it inside its transaction.
pub(crate) struct Admitted<'a> {
    pub(crate) key: &'a KeyFacts,
    pub(crate) usage: Usage,
    pub(crate) now: Timestamp,
}

/// Admits one request and counts it.
pub(crate) fn admit(
    facts: &mut Facts,
    caller: &Caller,
    act: Act,
    now: Timestamp,
) -> Result<(), Refusal> {
    let session = facts.sessions.get(&caller.session).filter(|session| session.is_live(now));
    let session = session.ok_or(NO_SESSION)?;
    let key = facts.keys.get(&caller.key).ok_or(Refusal::KeyNotFound { field: None })?;
    if key.account_id != session.account_id {
        return Err(FOREIGN_KEY);
    }
    if key.status != KeyStatus::Active {
        return Err(Refusal::KeyInactive { status: key.status, field: None });
    }
    if act == Act::Execute && key.standing.is_blocked() {
        return Err(Refusal::GovernanceBlocked { field: None });
    }
    let usage = facts.usage.entry(caller.key).or_insert(Usage::UNUSED);
    admit_request(&Terms::of(&key.plan), usage, now)
}

impl Sealpost {
    /// Admits one request and does its work, in one transaction. What `work` refuses has been counted.
    pub(crate) fn admitted<T>(
        &self,
        caller: &Caller,
        act: Act,
        mut work: impl FnMut(&mut dyn Tx, &Admitted<'_>) -> Result<Result<T, Refusal>, StoreError>,
    ) -> Result<T, Error> {
        let done = self.core.store.write(Durability::Durable, |tx| {
            let now = self.core.clock.now();
            let mut facts = tx.lock_facts(&alone(caller))?;
            if let Err(refusal) = admit(&mut facts, caller, act, now) {
                return Ok(Err(refusal));
            }
            let (Some(key), Some(usage)) =
                (facts.keys.get(&caller.key), facts.usage.get(&caller.key))
            else {
                return Err(StoreError::Corrupt("usage of a key"));
            };
            tx.apply(&Changes { usage: vec![(caller.key, *usage)], ..Changes::default() })?;
            work(tx, &Admitted { key, usage: *usage, now })
        })?;
        Ok(done?)
    }

    /// The caller, or what is wrong with the credentials; a caller who cannot be told which key is at fault
    /// without a session is asked for the session first.
    pub(crate) fn identify(&self, credentials: &Credentials) -> Result<Caller, Error> {
        match credentials.read()? {
            Ok(caller) => Ok(caller),
            Err(unkeyed) => {
                self.require_session(&unkeyed.session)?;
                Err(unkeyed.refusal.into())
            }
        }
    }
}

fn alone(caller: &Caller) -> Wanted {
    Wanted { sessions: vec![caller.session], callers: vec![caller.key], recipients: Vec::new() }
}
