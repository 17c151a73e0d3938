//! The signal that stops the housekeeping threads.

use std::{
    sync::{Condvar, Mutex, PoisonError},
    time::Duration,
};

#[derive(Default)]
pub(super) struct StopSignal {
    is_set: Mutex<bool>,
    changed: Condvar,
}

impl StopSignal {
    pub(super) fn set(&self) {
        *self.is_set.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_all();
    }

    /// Waits for `span`, or until the signal is set. Returns true if the signal is set.
    pub(super) fn wait(&self, span: Duration) -> bool {
        let is_set = self.is_set.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(is_set, span, |is_set| !*is_set);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}
