//! Who is let in: the contract's order of checks from the session to the limits, decided on facts that the
//! transaction holds locked. Every authenticated request passes here, alone or in a batch.

use sealpost_domain::{
    AccountId, Code, KeyStatus, Refusal, Timestamp, TokenHash, Usage,
    ports::{AdmissionFacts, Durability, FactsQuery, KeyFacts, StoreError, Tx, WriteSet},
};
use sealpost_limits::{Terms, admit_request};

use crate::{
    Credentials, Error, Limited, Limits, Sealpost,
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
    pub(crate) limits: Limits,
}

/// Admits one request and counts it.
pub(crate) fn admit(
    facts: &mut AdmissionFacts,
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

/// Where the limits stand, where `admitted` got as far as them.
pub(crate) fn limits_reached(
    admitted: &Result<(), Refusal>,
    facts: &AdmissionFacts,
    caller: &Caller,
    now: Timestamp,
) -> Option<Limits> {
    if admitted.as_ref().is_err_and(|refusal| refusal.code() != Code::RateLimitExceeded) {
        return None;
    }
    let plan = facts.keys.get(&caller.key)?.plan;
    let usage = *facts.usage.get(&caller.key)?;
    Some(Limits { plan, usage, now })
}

impl Sealpost {
    /// Admits one request and does its work, in one transaction. What `work` refuses has been counted. Where the work
    /// writes nothing the commit need not wait for the disk, with the key's usage locked: it has nothing to lose but a
    /// count.
    pub(crate) fn admitted<T>(
        &self,
        caller: &Caller,
        act: Act,
        durability: Durability,
        mut work: impl FnMut(&mut dyn Tx, &Admitted<'_>) -> Result<Result<T, Refusal>, StoreError>,
    ) -> Limited<T> {
        if let Some(turned_away) = self.turn_away(caller) {
            return turned_away;
        }
        let done = self.core.store.write(durability, |tx| {
            let now = self.core.clock.now();
            let mut facts = tx.lock_facts(&alone(caller))?;
            let admitted = admit(&mut facts, caller, act, now);
            let limits = limits_reached(&admitted, &facts, caller, now);
            if let Err(refusal) = admitted {
                return Ok((Err(refusal), limits));
            }
            let (Some(key), Some(reached)) = (facts.keys.get(&caller.key), limits) else {
                return Err(StoreError::Corrupt("usage of a key"));
            };
            let usage = vec![(caller.key, reached.usage)];
            tx.apply(&WriteSet { usage, ..WriteSet::default() })?;
            let done = work(tx, &Admitted { key, limits: reached })?;
            Ok((done, limits))
        });
        match done {
            Ok((result, limits)) => {
                if let Err(refusal) = &result {
                    self.core.channels.heed_refusal(&caller.key, None, refusal);
                    self.core.known.heed(caller, None, refusal);
                    if let Some(limits) = limits {
                        self.core.remember_refusal(caller, refusal, limits);
                    }
                }
                Limited { result: result.map_err(Error::from), limits }
            }
            Err(fault) => Limited::unasked(fault),
        }
    }

    /// What memory and look-ups are enough to refuse. The transaction has the last word, but it locks rows of the key
    /// that the caller names, and sends of that key wait for it: nobody gets as far who has no session, or one of another
    /// account.
    fn turn_away<T>(&self, caller: &Caller) -> Option<Limited<T>> {
        let account = match self.known_account(&caller.session) {
            Ok(account) => account,
            Err(error) => return Some(Limited::unasked(error)),
        };
        let known = self.core.known_refusal(caller);
        known.or_else(|| self.check_owner(caller, account).err().map(Limited::unasked))
    }

    /// The account of a session that is live as far as memory can tell.
    fn known_account(&self, token: &TokenHash) -> Result<AccountId, Error> {
        let session = match self.core.known.session(token) {
            Some(session) => Some(session),
            None => self.core.learn_sessions(vec![*token])?.pop(),
        };
        self.live_account(session)
    }

    fn check_owner(&self, caller: &Caller, account: AccountId) -> Result<(), Error> {
        let owner = match self.core.known.key(&caller.key) {
            Some(key) => Some(key.account_id),
            // Not remembered: what is remembered of a key are its secrets, which most of these requests need none of.
            None => self.core.store.lookup()?.find_key(&caller.key)?.map(|key| key.account_id),
        };
        match owner {
            Some(owner) if owner == account => Ok(()),
            Some(_) => Err(FOREIGN_KEY.into()),
            None => {
                // What memory says of the session is no reason to say which keys there are.
                self.require_session(&caller.session)?;
                Err(Refusal::KeyNotFound { field: None }.into())
            }
        }
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

fn alone(caller: &Caller) -> FactsQuery {
    FactsQuery {
        sessions: vec![caller.session],
        callers: vec![caller.key],
        ..FactsQuery::default()
    }
}
