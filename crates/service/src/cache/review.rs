//! Compares cached keys with the database, to find changes by other nodes and by operators. Also stores the last use of
//! sessions.
//!
//! A request detects such a change only for the keys that the request uses. Without the comparison, an unused key would
//! keep its secrets in memory until they expire.

use sealpost_domain::ports::{Durability, StoreError};

use super::event::CacheEvent;
use crate::sealpost::core::Core;

impl Core {
    /// Compares cached keys with the database, and removes those that have changed. Blocks the thread.
    pub(crate) fn review_keys(&self) -> Result<(), StoreError> {
        for page in self.cache.keys_with_secrets().chunks(PAGE) {
            // Each page holds a connection only briefly, because sends need connections of the same pool for their
            // look-ups.
            let snapshots = self.store.read(|reader| reader.find_key_snapshots(page))?;
            for snapshot in &snapshots {
                self.cache.invalidate_on(CacheEvent::KeyReviewed(snapshot));
            }
        }
        Ok(())
    }

    /// Stores the last use of sessions, at most once an hour for each session. The commit does not wait for the disk,
    /// so a crash may lose a stored use. Blocks the thread.
    pub(crate) fn store_session_uses(&self) -> Result<(), StoreError> {
        let (hour, sessions) = self.cache.session_uses.take(self.clock.now());
        for page in sessions.chunks(SESSIONS_PER_WRITE) {
            self.store.write(Durability::Relaxed, |tx| tx.set_last_use(page, hour))?;
        }
        Ok(())
    }
}

const PAGE: usize = 512;
/// Maximum number of sessions that one transaction updates. It is small because sends on SQLite wait for the
/// transaction.
const SESSIONS_PER_WRITE: usize = 200;
