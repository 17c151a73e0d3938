//! Stores secrets of 32 bytes in locked memory, which is not swapped to disk. The operating system limits the amount of
//! locked memory. If the limit is reached, further secrets are stored in memory that is not locked.

use std::sync::Arc;

use parking_lot::Mutex;
use region::LockGuard;
use zeroize::{Zeroize as _, Zeroizing};

/// A pool of memory for secrets. The pool grows by slabs: memory pages with cells for many secrets. A page is unlocked
/// only as a whole, so no slab is freed before the whole pool.
#[derive(Default)]
pub(crate) struct LockedPool {
    slabs: Mutex<Slabs>,
}

#[derive(Default)]
struct Slabs {
    all: Vec<Slab>,
    /// The cells without a secret, each as the index of its slab and its index in the slab.
    free: Vec<(usize, usize)>,
}

struct Slab {
    /// Keeps the slab locked. `None` if the operating system refused to lock the slab, usually because its limit for
    /// locked memory was reached. This field is dropped before `page`, so that the memory is unlocked before it is
    /// freed.
    lock: Option<LockGuard>,
    page: Box<Page>,
}

/// The cells of a slab. The alignment gives each slab its own memory page of 4 KiB, so that unlocking one slab unlocks
/// no other slab.
#[repr(align(4096))]
struct Page([[u8; 32]; SLAB_LEN]);

/// A secret in a [`LockedPool`]. Zeroized on drop.
pub(crate) struct LockedSecret {
    pool: Arc<LockedPool>,
    slab: usize,
    cell: usize,
}

impl LockedPool {
    /// Copies a secret into the pool.
    pub(crate) fn store(self: &Arc<Self>, secret: &[u8; 32]) -> LockedSecret {
        let mut slabs = self.slabs.lock();
        let (slab, cell) = slabs.take_cell();
        if let Some(bytes) = slabs.cell(slab, cell) {
            *bytes = *secret;
        }
        LockedSecret { pool: Arc::clone(self), slab, cell }
    }

    /// Returns whether all memory of the pool is locked.
    pub(crate) fn is_locked(&self) -> bool {
        self.slabs.lock().all.iter().all(|slab| slab.lock.is_some())
    }
}

impl Slabs {
    fn take_cell(&mut self) -> (usize, usize) {
        if let Some(free) = self.free.pop() {
            return free;
        }
        let slab = self.all.len();
        let page = Box::new(Page([[0; 32]; SLAB_LEN]));
        let lock = region::lock(page.0.as_ptr(), size_of::<Page>()).ok();
        self.all.push(Slab { lock, page });
        self.free.extend((1..SLAB_LEN).map(|cell| (slab, cell)));
        (slab, 0)
    }

    fn cell(&mut self, slab: usize, cell: usize) -> Option<&mut [u8; 32]> {
        self.all.get_mut(slab)?.page.0.get_mut(cell)
    }
}

impl LockedSecret {
    /// Returns a copy of the secret. The copy is zeroized on drop. Keep the copy for one operation only.
    pub(crate) fn copy(&self) -> Zeroizing<[u8; 32]> {
        let mut copy = Zeroizing::default();
        if let Some(bytes) = self.pool.slabs.lock().cell(self.slab, self.cell) {
            *copy = *bytes;
        }
        copy
    }
}

impl Drop for LockedSecret {
    fn drop(&mut self) {
        let mut slabs = self.pool.slabs.lock();
        if let Some(bytes) = slabs.cell(self.slab, self.cell) {
            bytes.zeroize();
        }
        slabs.free.push((self.slab, self.cell));
    }
}

/// Number of secrets in a slab. 128 secrets of 32 bytes have the size of a memory page of most machines, 4 KiB.
const SLAB_LEN: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_keep_their_values_and_cells_are_zeroized_and_used_again() {
        let pool = Arc::new(LockedPool::default());
        let numbers: Vec<u8> = (0..200).collect();
        let mut secrets: Vec<_> = numbers.iter().map(|byte| pool.store(&[*byte; 32])).collect();
        assert!(secrets.iter().zip(&numbers).all(|(secret, byte)| *secret.copy() == [*byte; 32]));
        let (slab, cell) = (secrets[7].slab, secrets[7].cell);
        drop(secrets.remove(7));
        assert_eq!(pool.slabs.lock().cell(slab, cell), Some(&mut [0; 32]));
        let again = pool.store(&[9; 32]);
        assert_eq!((again.slab, again.cell, *again.copy()), (slab, cell, [9; 32]));
        assert_eq!(pool.slabs.lock().all.len(), 2);
    }

    #[test]
    fn each_slab_has_its_own_page() {
        let mut slabs = Slabs::default();
        for _ in 0..=SLAB_LEN {
            slabs.take_cell();
        }
        let addresses: Vec<_> = slabs.all.iter().map(|slab| slab.page.0.as_ptr().addr()).collect();
        assert_eq!((addresses.len(), size_of::<Page>()), (2, 4096));
        assert!(addresses.iter().all(|address| address % 4096 == 0), "{addresses:?}");
    }

    #[test]
    fn the_memory_of_a_pool_is_locked() {
        let pool = Arc::new(LockedPool::default());
        let _secret = pool.store(&[7; 32]);
        assert!(pool.is_locked());
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let locked = status.lines().find_map(|line| line.strip_prefix("VmLck:")).unwrap();
        let kib: u64 = locked.trim().trim_end_matches(" kB").parse().unwrap();
        assert!(kib >= 4, "{locked}");
    }
}
