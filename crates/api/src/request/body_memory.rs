//! Limits the memory of large request bodies: for all accounts together, and for each account. Without this limit, many
//! connections with large bodies could need more memory than the machine has.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use sealpost_domain::AccountId;

/// The memory budget for bodies over 16 KiB. Smaller bodies are not counted, because the maximum number of connections
/// limits their memory.
pub(crate) struct BodyMemory {
    bytes_max: usize,
    bytes_per_account_max: usize,
    taken: Mutex<Taken>,
}

/// The memory that large bodies use now, in bytes.
#[derive(Default)]
struct Taken {
    total: usize,
    /// Memory by account, in bytes. Contains only accounts with a large body in memory.
    by_account: HashMap<AccountId, usize>,
}

impl BodyMemory {
    /// Creates a budget of `bytes_max`, of which one account can use at most `bytes_per_account_max`.
    pub(crate) fn new(bytes_max: usize, bytes_per_account_max: usize) -> Self {
        Self { bytes_max, bytes_per_account_max, taken: Mutex::default() }
    }

    /// Returns the memory that large bodies use now, in bytes.
    pub(crate) fn taken(&self) -> usize {
        self.taken.lock().total
    }

    /// Takes `bytes` for an account. Returns false and takes nothing if this would exceed the budget or the quota of
    /// the account.
    fn take(&self, account: AccountId, bytes: usize) -> bool {
        let mut taken = self.taken.lock();
        let of_account = taken.by_account.get(&account).copied().unwrap_or_default();
        let (total, of_account) =
            (taken.total.saturating_add(bytes), of_account.saturating_add(bytes));
        if total > self.bytes_max || of_account > self.bytes_per_account_max {
            return false;
        }
        taken.total = total;
        taken.by_account.insert(account, of_account);
        true
    }

    fn release(&self, account: AccountId, bytes: usize) {
        let mut taken = self.taken.lock();
        taken.total = taken.total.saturating_sub(bytes);
        if let Some(of_account) = taken.by_account.get_mut(&account) {
            *of_account = of_account.saturating_sub(bytes);
            if *of_account == 0 {
                taken.by_account.remove(&account);
            }
        }
    }
}

/// The part of the memory budget that one large body uses. Dropping the share at the end of the request releases the
/// memory.
pub(crate) struct MemoryShare {
    budget: Arc<BodyMemory>,
    account: AccountId,
    bytes: usize,
}

impl MemoryShare {
    /// Creates an empty share for a body that belongs to a request of `account`.
    pub(super) fn new(budget: &Arc<BodyMemory>, account: AccountId) -> Self {
        Self { budget: Arc::clone(budget), account, bytes: 0 }
    }

    /// Enlarges the share to `length` bytes. Returns false, without a change, if the budget or the account's quota has
    /// too little left.
    #[must_use]
    pub(super) fn grow(&mut self, length: usize) -> bool {
        let more = length.saturating_sub(self.bytes);
        if more == 0 {
            return true;
        }
        let is_taken = self.budget.take(self.account, more);
        if is_taken {
            self.bytes = length;
        }
        is_taken
    }
}

impl Drop for MemoryShare {
    fn drop(&mut self) {
        self.budget.release(self.account, self.bytes);
    }
}

/// Maximum length in bytes of a body that needs neither a session nor a share of the budget. The HTTP library buffers
/// at least this much for each connection anyway.
pub(super) const FREE_LENGTH_MAX: usize = 16 * 1024;

#[cfg(test)]
mod tests {
    use sealpost_domain::Timestamp;

    use super::*;

    fn account(nth: u8) -> AccountId {
        AccountId::new(Timestamp::from_millis(0), [nth; 10])
    }

    #[test]
    fn large_bodies_share_the_budget_and_release_it() {
        let memory = Arc::new(BodyMemory::new(100_000, 100_000));
        let mut one = MemoryShare::new(&memory, account(1));
        let mut other = MemoryShare::new(&memory, account(2));
        assert!(one.grow(20_000) && one.grow(60_000) && one.grow(60_000));
        assert_eq!(memory.taken(), 60_000);
        assert!(other.grow(40_000) && !other.grow(40_001));
        assert_eq!(memory.taken(), 100_000, "a refused growth takes nothing");
        drop(one);
        assert!(other.grow(40_001));
        drop(other);
        assert_eq!(memory.taken(), 0);
        assert!(memory.taken.lock().by_account.is_empty());
    }

    #[test]
    fn an_account_cannot_take_more_than_its_share() {
        let memory = Arc::new(BodyMemory::new(100_000, 50_000));
        let of = |nth| MemoryShare::new(&memory, account(nth));
        let (mut first, mut second, mut other) = (of(1), of(1), of(2));
        assert!(first.grow(30_000) && second.grow(20_000));
        assert!(!first.grow(30_001) && !second.grow(20_001));
        assert!(other.grow(50_000));
        drop(second);
        assert!(first.grow(50_000) && !first.grow(50_001));
    }
}
