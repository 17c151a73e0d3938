//! A cache of facts for SQLite, valid for one state of the database. Facts are the rows that admission depends on.
//!
//! The database contains a number that identifies its state. Every change of a fact replaces this number, in the same
//! transaction. A batch that finds the same number reads none of the cached facts again. A change of any fact
//! invalidates all entries. PostgreSQL has a version for each key instead.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use sealpost_domain::{ApiKeyId, GovernanceReason, Session, TokenHash};

/// The facts that a batch reads without a lock: facts versions (numbers that change with their keys), sessions and
/// governance decisions.
#[derive(Debug, Default)]
pub(crate) struct SharedFacts {
    /// The facts version of each API key: a number that changes with the key. A key without a stored version has
    /// version 0.
    pub(crate) versions: HashMap<ApiKeyId, i64>,
    pub(crate) sessions: HashMap<TokenHash, Session>,
    /// Open governance decisions that affect each key. Decisions on the key come first, then those on its account, then
    /// those on the partner of the account.
    pub(crate) decisions: HashMap<ApiKeyId, Vec<GovernanceReason>>,
}

/// The cached facts, and the number of the database state at which they were read.
#[derive(Debug)]
pub(crate) struct RecentFacts {
    current: Mutex<(i64, SharedFacts)>,
    /// Maximum number of keys, and of sessions, in the cache.
    max: usize,
}

impl RecentFacts {
    pub(crate) fn new(max: usize) -> Self {
        Self { current: Mutex::default(), max }
    }

    /// Returns the facts of these keys and session tokens; `None` if any of them is not cached for this state of the
    /// database.
    pub(crate) fn get(
        &self,
        state: i64,
        keys: &[ApiKeyId],
        tokens: &[TokenHash],
    ) -> Option<SharedFacts> {
        let current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, facts) = Some(&*current).filter(|(cached, _)| *cached == state)?;
        let version = |key: &ApiKeyId| Some((*key, *facts.versions.get(key)?));
        let session = |token: &TokenHash| Some((*token, facts.sessions.get(token)?.clone()));
        let decisions = |key: &ApiKeyId| Some((*key, facts.decisions.get(key)?.clone()));
        Some(SharedFacts {
            versions: keys.iter().map(version).collect::<Option<_>>()?,
            sessions: tokens.iter().map(session).collect::<Option<_>>()?,
            decisions: keys.iter().filter_map(decisions).collect(),
        })
    }

    /// Adds facts that were read at `state`, a number that identifies the state of the database. First removes the
    /// cached facts if they belong to another state, or if the cache would become too large.
    pub(crate) fn insert(&self, state: i64, read: &SharedFacts) {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let (cached, facts) = &mut *current;
        let keys = facts.versions.len().saturating_add(read.versions.len());
        let sessions = facts.sessions.len().saturating_add(read.sessions.len());
        if *cached != state || keys.max(sessions) > self.max {
            (*cached, *facts) = (state, SharedFacts::default());
        }
        if read.versions.len().max(read.sessions.len()) <= self.max {
            facts.versions.extend(&read.versions);
            facts.sessions.extend(read.sessions.iter().map(|(token, it)| (*token, it.clone())));
            facts.decisions.extend(read.decisions.iter().map(|(key, it)| (*key, it.clone())));
        }
    }

    pub(crate) fn clear(&self) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Default::default();
    }
}

#[cfg(test)]
mod tests {
    use sealpost_domain::Timestamp;

    use super::*;

    fn keys(from: u8, count: u8) -> Vec<ApiKeyId> {
        (from..from + count).map(|n| ApiKeyId::new(Timestamp::from_millis(1), [n; 10])).collect()
    }

    fn insert(recent: &RecentFacts, state: i64, keys: &[ApiKeyId]) {
        let versions = keys.iter().map(|key| (*key, 0)).collect();
        recent.insert(state, &SharedFacts { versions, ..SharedFacts::default() });
    }

    #[test]
    fn facts_are_valid_for_their_state_alone() {
        let recent = RecentFacts::new(9);
        insert(&recent, 5, &keys(1, 2));
        insert(&recent, 5, &keys(3, 1));
        assert_eq!(recent.get(5, &keys(1, 3), &[]).unwrap().versions.len(), 3);
        assert!(recent.get(6, &keys(1, 1), &[]).is_none());
        insert(&recent, 6, &keys(1, 1));
        assert!(recent.get(5, &keys(1, 1), &[]).is_none());
        recent.clear();
        assert!(recent.get(6, &keys(1, 1), &[]).is_none());
    }

    #[test]
    fn a_missing_key_or_session_is_a_miss() {
        let recent = RecentFacts::new(9);
        insert(&recent, 5, &keys(1, 2));
        assert!(recent.get(5, &keys(2, 2), &[]).is_none());
        assert!(recent.get(5, &keys(1, 2), &[TokenHash([1; 32])]).is_none());
    }

    #[test]
    fn the_number_of_keys_is_bounded() {
        let recent = RecentFacts::new(3);
        insert(&recent, 5, &keys(1, 2));
        insert(&recent, 5, &keys(3, 2));
        assert!(recent.get(5, &keys(1, 1), &[]).is_none(), "the others were evicted");
        assert!(recent.get(5, &keys(3, 2), &[]).is_some());
        insert(&recent, 5, &keys(1, 4));
        assert!(recent.get(5, &keys(1, 4), &[]).is_none(), "too many for the cache");
    }
}
