//! Bounds the memory of all large bodies together. The number of connections and the size of a body have limits of their
//! own, but the product of these limits exceeds the memory of a machine.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// The memory budget for bodies over 16 KiB. Smaller bodies are free: the number of connections bounds them.
pub(crate) struct BodyMemory {
    bytes: usize,
    free: AtomicUsize,
}

impl BodyMemory {
    /// Creates a budget of `bytes`.
    pub(crate) fn new(bytes: usize) -> Self {
        Self { bytes, free: AtomicUsize::new(bytes) }
    }

    /// Returns the memory in use, in bytes.
    pub(crate) fn taken(&self) -> usize {
        self.bytes.saturating_sub(self.free.load(Ordering::Relaxed))
    }

    /// Takes `bytes` of the budget. Returns `false`, and takes nothing, if less is free.
    fn take(&self, bytes: usize) -> bool {
        // Relaxed ordering is enough: the number guards no other memory.
        let less = |free: usize| free.checked_sub(bytes);
        self.free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }
}

/// The memory that one body takes of the budget. Released on drop, at the end of the request.
#[derive(Default)]
pub(crate) struct MemoryShare {
    budget: Option<Arc<BodyMemory>>,
    bytes: usize,
}

impl MemoryShare {
    /// Lets the body grow to `length` bytes. Returns `false` if the budget is exhausted.
    #[must_use]
    pub(super) fn grow(&mut self, budget: &Arc<BodyMemory>, length: usize) -> bool {
        if length <= FREE_LENGTH {
            return true;
        }
        let more = length.saturating_sub(self.bytes);
        if !budget.take(more) {
            return false;
        }
        self.budget.get_or_insert_with(|| Arc::clone(budget));
        self.bytes = self.bytes.saturating_add(more);
        true
    }
}

impl Drop for MemoryShare {
    fn drop(&mut self) {
        if let Some(budget) = &self.budget {
            budget.free.fetch_add(self.bytes, Ordering::Relaxed);
        }
    }
}

/// In bytes. The HTTP library buffers at least as much for each connection.
const FREE_LENGTH: usize = 16 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_bodies_share_the_budget_and_release_it() {
        let memory = Arc::new(BodyMemory::new(100_000));
        let (mut one, mut other) = (MemoryShare::default(), MemoryShare::default());
        assert!(one.grow(&memory, 20_000) && one.grow(&memory, 60_000));
        assert_eq!(memory.taken(), 60_000);
        assert!(other.grow(&memory, 40_000) && !other.grow(&memory, 40_001));
        assert_eq!(memory.taken(), 100_000, "a refused growth takes nothing");
        drop(one);
        assert!(other.grow(&memory, 40_001));
        drop(other);
        assert_eq!(memory.taken(), 0);
    }

    #[test]
    fn small_bodies_are_free() {
        let memory = Arc::new(BodyMemory::new(0));
        let mut share = MemoryShare::default();
        assert!(share.grow(&memory, 1) && share.grow(&memory, FREE_LENGTH));
        assert!(!share.grow(&memory, FREE_LENGTH + 1));
    }
}
