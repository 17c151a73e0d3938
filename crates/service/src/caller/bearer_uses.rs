//! Records the hour of the last use of sessions and API tokens.
//!
//! A request compares the current hour with the hour of the last use in memory, and queues only the first use in an
//! hour. A housekeeping thread writes a limited number of queued uses in each run, so that many first uses at the start
//! of an hour do not delay sends. Its commits do not wait for the disk, so a crash can lose the time of a last use.

use std::collections::{BTreeMap, HashSet};

use parking_lot::Mutex;
use sealpost_domain::{Timestamp, ports::Durability, with_causes};
use sealpost_storage::Database;

use super::bearer::{Bearer, BearerHash};

/// The uses that are not written to the database yet. Each hour has the tokens whose first use in that hour was queued.
#[derive(Default)]
pub(crate) struct BearerUses(Mutex<BTreeMap<Timestamp, HashSet<BearerHash>>>);

impl BearerUses {
    /// Queues a use of a token if it is the first use within the hour. Drops the use if too many uses are queued.
    pub(super) fn record(&self, token: BearerHash, bearer: &Bearer, now: Timestamp) {
        let Some(hour) = bearer.first_use_in_hour(now) else { return };
        let mut queue = self.0.lock();
        let of_hour = queue.entry(hour).or_default();
        if of_hour.len() < QUEUED_MAX {
            of_hour.insert(token);
        }
    }

    /// Returns the hour of the newest queued use of a token. Returns `None` if no use of the token is queued.
    pub(crate) fn queued(&self, token: &BearerHash) -> Option<Timestamp> {
        let queue = self.0.lock();
        queue.iter().rev().find(|(_, tokens)| tokens.contains(token)).map(|(hour, _)| *hour)
    }

    /// Writes at most [`USES_PER_WRITE`] queued uses of the oldest hour to the database, in one transaction. Returns
    /// false if no use is queued, or if the transaction fails. The uses of a failed transaction are lost. Blocks the
    /// thread.
    pub(crate) fn store(&self, database: &Database) -> bool {
        let Some((hour, tokens)) = self.take() else { return false };
        let (sessions, api_tokens) = BearerHash::by_kind(&tokens);
        let stored = database.write(Durability::Relaxed, |tx| {
            tx.set_session_uses(&sessions, hour)?;
            tx.set_api_token_uses(&api_tokens, hour)
        });
        if let Err(error) = &stored {
            tracing::warn!(
                error = with_causes(error),
                "the last use of sessions and API tokens was not stored"
            );
        }
        stored.is_ok()
    }

    fn take(&self) -> Option<(Timestamp, Vec<BearerHash>)> {
        let mut queue = self.0.lock();
        let mut oldest = queue.first_entry()?;
        let tokens = oldest.get_mut().extract_if(|_| true).take(USES_PER_WRITE).collect();
        let hour = *oldest.key();
        if oldest.get().is_empty() {
            oldest.remove();
        }
        Some((hour, tokens))
    }
}

/// Maximum number of tokens with a queued use in one hour.
const QUEUED_MAX: usize = 100_000;
/// Maximum number of tokens that one transaction updates. The number is small, because on SQLite sends wait for the
/// transaction.
const USES_PER_WRITE: usize = 200;
