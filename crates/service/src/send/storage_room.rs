//! Limits the storage for envelopes, by the free disk space and by the byte quota of each account.

use std::collections::HashMap;

use quick_cache::unsync::Cache;
use sealpost_domain::{
    AccountId, Refusal, Timestamp,
    ports::{AdmissionFacts, StoreError},
};
use sealpost_storage::Transaction;

use super::command::Command;

/// The storage that is available for the envelopes of one batch.
#[derive(Debug, Default)]
pub(crate) struct StorageRoom {
    /// True if the disk has too little free space for envelopes.
    pub(crate) is_short_of_space: bool,
    /// Maximum bytes of stored envelopes that an account may have sent. `None` means no quota.
    pub(crate) bytes_max: Option<u64>,
    /// Bytes of the stored envelopes that each account has sent, including those of this batch. Empty without a quota.
    pub(crate) stored: HashMap<AccountId, u64>,
}

impl StorageRoom {
    /// Refuses an envelope of this size if the disk has too little space, or if the account would exceed its quota.
    pub(super) fn check(&self, account: &AccountId, bytes: usize) -> Result<(), Refusal> {
        if self.is_short_of_space {
            return Err(Refusal::StorageFull);
        }
        match self.bytes_max {
            Some(limit_bytes) if self.after(account, bytes) > limit_bytes => {
                Err(Refusal::StorageQuotaExceeded { limit_bytes })
            }
            _ => Ok(()),
        }
    }

    /// Adds the size of an envelope that will be stored to the bytes of its account.
    pub(super) fn take(&mut self, account: &AccountId, bytes: usize) {
        if self.bytes_max.is_some() {
            self.stored.insert(*account, self.after(account, bytes));
        }
    }

    fn after(&self, account: &AccountId, bytes: usize) -> u64 {
        let stored = self.stored.get(account).copied().unwrap_or(0);
        stored.saturating_add(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

/// Caches the number of stored bytes of each account, so that the committer need not read it from the database for
/// every batch.
///
/// The committer handles all sends of this node, and updates the cache after each commit. Only deletions and sends of
/// other nodes make a cached number wrong. Therefore entries have a maximum age.
#[derive(Debug)]
pub(super) struct StoredBytesCache {
    bytes_max: Option<u64>,
    entries: Cache<AccountId, CachedBytes>,
}

#[derive(Debug, Clone, Copy)]
struct CachedBytes {
    bytes: u64,
    read_at: Timestamp,
}

impl StoredBytesCache {
    pub(super) fn new(bytes_max: Option<u64>, entries_max: usize) -> Self {
        Self { bytes_max, entries: Cache::new(entries_max) }
    }

    /// Returns the storage that is available for a batch. Reads the stored bytes of accounts whose cache entry is
    /// missing or too old.
    pub(super) fn room(
        &mut self,
        tx: &mut Transaction,
        facts: &AdmissionFacts,
        commands: &[&Command],
        now: Timestamp,
    ) -> Result<StorageRoom, StoreError> {
        let Some(bytes_max) = self.bytes_max else { return Ok(StorageRoom::default()) };
        let (mut stored, mut old) = (HashMap::new(), Vec::new());
        for (account, added) in bytes_by_account(facts, commands) {
            match self.entries.get(&account) {
                Some(entry) if !entry.is_old(added, bytes_max, now) => {
                    stored.insert(account, entry.bytes);
                }
                _ => old.push(account),
            }
        }
        if !old.is_empty() {
            for (account, bytes) in tx.stored_bytes(&old)? {
                self.entries.insert(account, CachedBytes { bytes, read_at: now });
                stored.insert(account, bytes);
            }
        }
        Ok(StorageRoom { is_short_of_space: false, bytes_max: Some(bytes_max), stored })
    }

    /// Updates the cache after a commit. `stored` contains the bytes of each account, including the batch.
    pub(super) fn committed(&mut self, stored: HashMap<AccountId, u64>) {
        for (account, bytes) in stored {
            if let Some(mut entry) = self.entries.get_mut(&account) {
                entry.bytes = bytes;
            }
        }
    }

    /// Removes all entries after a failed commit, because the batch may be stored nevertheless.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }
}

impl CachedBytes {
    /// Returns true if the entry is too old to decide about `added` further bytes. The closer these bytes bring the
    /// account to its quota, the shorter is the maximum age. An entry from the future is also too old: the clock was
    /// set back.
    fn is_old(self, added: u64, bytes_max: u64, now: Timestamp) -> bool {
        let after = self.bytes.saturating_add(added);
        let age_max_ms = if after > bytes_max {
            AGE_MAX_BEYOND_MS
        } else if after > bytes_max / 2 {
            AGE_MAX_NEAR_MS
        } else {
            AGE_MAX_FAR_MS
        };
        let age_ms = now.as_millis().saturating_sub(self.read_at.as_millis());
        !(0..age_max_ms).contains(&age_ms)
    }
}

/// Returns the bytes of the batch's envelopes for each account that sends them.
fn bytes_by_account(facts: &AdmissionFacts, commands: &[&Command]) -> HashMap<AccountId, u64> {
    let mut bytes = HashMap::new();
    for command in commands.iter().filter(|command| command.pending.is_some()) {
        if let Some(key) = facts.keys.get(&command.caller.key) {
            let sum: &mut u64 = bytes.entry(key.account_id).or_default();
            *sum = sum.saturating_add(u64::try_from(command.bytes()).unwrap_or(u64::MAX));
        }
    }
    bytes
}

/// Maximum age of a cache entry in milliseconds, if the account uses at most half of its quota after the batch.
const AGE_MAX_FAR_MS: i64 = 60_000;
/// Maximum age of a cache entry in milliseconds, if the account uses more than half of its quota, but not more than the
/// quota, after the batch.
const AGE_MAX_NEAR_MS: i64 = 5_000;
/// Maximum age of a cache entry in milliseconds, if the batch would make the account exceed its quota. The age is
/// short, so that sends are accepted again soon after deletions have freed bytes.
const AGE_MAX_BEYOND_MS: i64 = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn account() -> AccountId {
        AccountId::new(Timestamp::from_millis(1), [1; 10])
    }

    #[test]
    fn the_envelope_that_would_cross_the_quota_has_no_room() {
        let mut room = StorageRoom {
            bytes_max: Some(100),
            stored: HashMap::from([(account(), 60)]),
            ..StorageRoom::default()
        };
        let refusal = Err(Refusal::StorageQuotaExceeded { limit_bytes: 100 });
        assert_eq!(room.check(&account(), 40), Ok(()));
        assert_eq!(room.check(&account(), 41), refusal);
        room.take(&account(), 30);
        assert_eq!(room.check(&account(), 10), Ok(()));
        assert_eq!(room.check(&account(), 11), refusal);
    }

    #[test]
    fn without_a_quota_only_the_disk_limits() {
        let mut room = StorageRoom::default();
        room.take(&account(), usize::MAX);
        assert_eq!(room.check(&account(), usize::MAX), Ok(()));
        room.is_short_of_space = true;
        assert_eq!(room.check(&account(), 1), Err(Refusal::StorageFull));
    }

    #[test]
    fn an_entry_is_read_again_sooner_near_the_quota() {
        let read_at = Timestamp::from_millis(100_000);
        let is_old = |bytes, added, after_ms: i64| {
            let now = Timestamp::from_millis(100_000 + after_ms);
            CachedBytes { bytes, read_at }.is_old(added, 1000, now)
        };
        assert!(!is_old(0, 500, 59_999) && is_old(0, 500, 60_000));
        assert!(!is_old(0, 501, 4_999) && is_old(0, 501, 5_000));
        assert!(!is_old(1000, 1, 999) && is_old(1000, 1, 1_000));
        assert!(is_old(0, 1, -1), "the clock was set back");
    }
}
