//! Bounds the number of deliveries in memory.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::settings::Settings;

/// Counts the deliveries in memory: queued, in flight, or waiting for their outcome to be recorded.
///
/// A caller first checks the free capacity and then acquires it, in two steps. Concurrent callers may therefore exceed
/// the maximum slightly.
#[derive(Debug)]
pub(crate) struct Capacity {
    used: AtomicUsize,
    max: usize,
    claims_max: usize,
}

impl Capacity {
    pub(crate) fn new(settings: &Settings) -> Self {
        let max = settings.queue_max;
        let reserve = max / CLAIM_RESERVE_DIVISOR;
        Self { used: AtomicUsize::new(0), max, claims_max: max - reserve }
    }

    pub(crate) fn free(&self) -> usize {
        self.max.saturating_sub(self.used())
    }

    /// Returns the number of deliveries that may be claimed from the database now. A part of the capacity is reserved
    /// for deliveries from the send path.
    pub(crate) fn free_for_claims(&self) -> usize {
        self.claims_max.saturating_sub(self.used())
    }

    pub(crate) fn claims_max(&self) -> usize {
        self.claims_max
    }

    pub(crate) fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    pub(crate) fn acquire(&self, count: usize) {
        self.used.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn release(&self, count: usize) {
        self.used.fetch_sub(count, Ordering::Relaxed);
    }
}

/// Reserves a part of the capacity for newly sent deliveries: the maximum divided by this number. Deliveries claimed
/// from the database cannot use this part.
const CLAIM_RESERVE_DIVISOR: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_capacity_is_never_negative() {
        let capacity = Capacity::new(&Settings { queue_max: 2, ..Settings::default() });
        capacity.acquire(3);
        assert_eq!(capacity.free(), 0);
        capacity.release(2);
        assert_eq!(capacity.free(), 1);
    }
}
