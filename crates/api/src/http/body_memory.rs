//! How much memory bodies may take together. Their number is bounded by that of the connections and each of them by a
//! limit, but the product of the two is more than a machine has: so the large ones share a budget of bytes.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// What is left for bodies. The small ones take nothing of it: as many as there are connections are little.
pub(crate) struct BodyMemory {
    bytes: usize,
    left: AtomicUsize,
}

impl BodyMemory {
    /// As many bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        Self { bytes, left: AtomicUsize::new(bytes) }
    }

    /// What bodies take now.
    pub(crate) fn taken(&self) -> usize {
        self.bytes.saturating_sub(self.left.load(Ordering::Relaxed))
    }

    /// What is left, less `bytes`, where there is so much.
    fn take(&self, bytes: usize) -> bool {
        // The number alone is shared, and nothing is read by it: no order is needed.
        let less = |left: usize| left.checked_sub(bytes);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }
}

/// What one body takes of the memory for as long as its request goes on.
#[derive(Default)]
pub(crate) struct Share {
    of: Option<Arc<BodyMemory>>,
    bytes: usize,
}

impl Share {
    /// Lets the body become this long, or says that there is no room.
    #[must_use]
    pub(crate) fn grow(&mut self, memory: &Arc<BodyMemory>, length: usize) -> bool {
        if length <= SMALL {
            return true;
        }
        let more = length.saturating_sub(self.bytes);
        if !memory.take(more) {
            return false;
        }
        self.of.get_or_insert_with(|| Arc::clone(memory));
        self.bytes = self.bytes.saturating_add(more);
        true
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if let Some(memory) = &self.of {
            memory.left.fetch_add(self.bytes, Ordering::Relaxed);
        }
    }
}

/// In bytes; what the HTTP library itself holds of a connection is not less.
const SMALL: usize = 16 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_bodies_share_what_there_is_and_give_it_back() {
        let memory = Arc::new(BodyMemory::new(100_000));
        let (mut one, mut other) = (Share::default(), Share::default());
        assert!(one.grow(&memory, 20_000) && one.grow(&memory, 60_000));
        assert_eq!(memory.taken(), 60_000);
        assert!(other.grow(&memory, 40_000) && !other.grow(&memory, 40_001));
        assert_eq!(memory.taken(), 100_000, "what was refused took nothing");
        drop(one);
        assert!(other.grow(&memory, 40_001));
        drop(other);
        assert_eq!(memory.taken(), 0);
    }

    #[test]
    fn small_bodies_take_nothing_of_it() {
        let memory = Arc::new(BodyMemory::new(0));
        let mut share = Share::default();
        assert!(share.grow(&memory, 1) && share.grow(&memory, SMALL));
        assert!(!share.grow(&memory, SMALL + 1));
    }
}
