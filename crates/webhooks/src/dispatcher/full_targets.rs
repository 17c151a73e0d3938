//! Tracks full targets. A target is full if its account has so many deliveries in memory that those of another
//! [claim](sealpost_domain::ports::Claim) would not fit. Further deliveries to a full target stay in the database.

use std::{collections::HashSet, time::Duration};

use parking_lot::{Condvar, Mutex};
use sealpost_domain::WebhookId;

/// The full targets of all delivery workers. Wakes the thread that claims due deliveries when a target is no longer
/// full.
#[derive(Debug)]
pub(super) struct FullTargets {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    by_worker: Vec<HashSet<WebhookId>>,
    /// True if a target stopped being full after the last call of [`FullTargets::take`].
    has_room: bool,
}

impl FullTargets {
    pub(super) fn new(workers: usize) -> Self {
        let state = State { by_worker: vec![HashSet::new(); workers], has_room: false };
        Self { state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Replaces the set of full targets of one worker by `full`. If a target has stopped being full, wakes the thread
    /// that sleeps in [`FullTargets::sleep`].
    pub(super) fn set(&self, worker: usize, full: HashSet<WebhookId>) {
        let mut state = self.state.lock();
        let Some(of_worker) = state.by_worker.get_mut(worker) else { return };
        let has_room = of_worker.iter().any(|id| !full.contains(id));
        *of_worker = full;
        if has_room {
            state.has_room = true;
            self.changed.notify_all();
        }
    }

    /// Returns all full targets, so that the next claim (lease) of due deliveries skips them. A later
    /// [`sleep`](Self::sleep) returns early only if a target stops being full after this call.
    pub(super) fn take(&self) -> Vec<WebhookId> {
        let mut state = self.state.lock();
        state.has_room = false;
        state.by_worker.iter().flatten().copied().collect()
    }

    /// Returns all full targets. In contrast to [`take`](Self::take), does not affect [`sleep`](Self::sleep).
    pub(super) fn current(&self) -> HashSet<WebhookId> {
        self.state.lock().by_worker.iter().flatten().copied().collect()
    }

    /// Sleeps for at most `duration`. Returns earlier if a target is no longer full, or if `is_over` returns true after
    /// a call of [`FullTargets::wake`].
    pub(super) fn sleep(&self, duration: Duration, is_over: impl Fn() -> bool) {
        let waits = |state: &mut State| !state.has_room && !is_over();
        self.changed.wait_while_for(&mut self.state.lock(), waits, duration);
    }

    pub(super) fn wake(&self) {
        // Takes the lock once before the notification. Without the lock, a thread that has checked `is_over` but does
        // not wait yet would miss the notification.
        drop(self.state.lock());
        self.changed.notify_all();
    }
}
