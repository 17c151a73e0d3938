//! The signal for the threads of the dispatcher to stop.

use std::{
    sync::{Condvar, Mutex, PoisonError},
    time::Duration,
};

use super::locking::lock;

/// A flag that is set once, to shut the dispatcher down. Setting the flag wakes threads that sleep in
/// [`ShutdownSignal::sleep`].
#[derive(Debug, Default)]
pub(super) struct ShutdownSignal {
    raised: Mutex<bool>,
    changed: Condvar,
}

impl ShutdownSignal {
    pub(super) fn raise(&self) {
        *lock(&self.raised) = true;
        self.changed.notify_all();
    }

    pub(super) fn is_raised(&self) -> bool {
        *lock(&self.raised)
    }

    /// Sleeps for `duration`, or until the signal is raised.
    pub(super) fn sleep(&self, duration: Duration) {
        let slept =
            self.changed.wait_timeout_while(lock(&self.raised), duration, |raised| !*raised);
        drop(slept.unwrap_or_else(PoisonError::into_inner));
    }
}
