//! Locks a mutex even if a thread has panicked while it held the lock.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex and ignores poisoning. This is safe, because a panic leaves no inconsistent data behind the locks of
/// the dispatcher.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
