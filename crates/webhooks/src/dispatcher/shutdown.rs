//! The signal for the threads of the dispatcher to stop.

use std::time::Duration;

use parking_lot::{Condvar, Mutex};

/// A flag that is set once, to shut the dispatcher down. Setting the flag wakes threads that sleep in
/// [`ShutdownSignal::sleep`].
#[derive(Debug, Default)]
pub(super) struct ShutdownSignal {
    raised: Mutex<bool>,
    changed: Condvar,
}

impl ShutdownSignal {
    pub(super) fn raise(&self) {
        *self.raised.lock() = true;
        self.changed.notify_all();
    }

    pub(super) fn is_raised(&self) -> bool {
        *self.raised.lock()
    }

    /// Sleeps for `duration`, or until the signal is raised.
    pub(super) fn sleep(&self, duration: Duration) {
        let mut raised = self.raised.lock();
        self.changed.wait_while_for(&mut raised, |raised| !*raised, duration);
    }
}
