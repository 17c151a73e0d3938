//! What the dispatcher's threads share: the room in memory, the word to stop, and who is still running.

use std::{
    collections::HashSet,
    mem,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use sealpost_domain::{LeaseToken, WebhookId};

use crate::{
    settings::Settings,
    stats::{Counters, Gauges},
};

/// Shared by all threads of one dispatcher.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) room: Room,
    pub(crate) stop: Stop,
    pub(crate) waiting: Waiting,
    pub(crate) tokens: Tokens,
    pub(crate) counters: Counters,
    /// One for each thread that sends.
    pub(crate) lanes: Vec<Gauges>,
    running: AtomicUsize,
    /// How many threads run while all is well: those that send, the settler and the sweeper.
    full_strength: usize,
}

impl Shared {
    pub(crate) fn new(settings: &Settings, token_start: u64) -> Self {
        Self {
            room: Room { taken: AtomicUsize::new(0), max: settings.queue_max },
            stop: Stop::default(),
            waiting: Waiting::default(),
            tokens: Tokens { start: token_start, issued: AtomicU64::new(0) },
            counters: Counters::default(),
            lanes: (0..settings.lanes()).map(|_| Gauges::default()).collect(),
            running: AtomicUsize::new(0),
            full_strength: settings.lanes() + 2,
        }
    }

    /// Whether every thread is running.
    pub(crate) fn is_whole(&self) -> bool {
        self.running.load(Ordering::Relaxed) == self.full_strength
    }

    /// Whether a thread has ended that nobody told to.
    pub(crate) fn is_broken(&self) -> bool {
        !self.is_whole() && !self.stop.was_said()
    }
}

/// How many deliveries are in memory: queued, under way, or waiting for their outcome to be written. The maximum
/// is what is asked for, not a wall: two that ask at the same time may together take a little more.
#[derive(Debug)]
pub(crate) struct Room {
    taken: AtomicUsize,
    max: usize,
}

impl Room {
    pub(crate) fn free(&self) -> usize {
        self.max.saturating_sub(self.taken.load(Ordering::Relaxed))
    }

    /// What is left for what is asked of the database: a quarter of all stays free for what is being sent. Where no room at
    /// all is left, a target that has some queued would be refused more, and would wait for the end of a lease.
    pub(crate) fn free_for_claims(&self) -> usize {
        self.claims_max().saturating_sub(self.taken())
    }

    pub(crate) fn claims_max(&self) -> usize {
        self.max - self.max / 4
    }

    pub(crate) fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    pub(crate) fn take(&self, places: usize) {
        self.taken.fetch_add(places, Ordering::Relaxed);
    }

    pub(crate) fn give_back(&self, places: usize) {
        self.taken.fetch_sub(places, Ordering::Relaxed);
    }
}

/// The word to stop, which sleepers hear at once.
#[derive(Debug, Default)]
pub(crate) struct Stop {
    said: Mutex<bool>,
    heard: Condvar,
}

impl Stop {
    pub(crate) fn say(&self) {
        *lock(&self.said) = true;
        self.heard.notify_all();
    }

    pub(crate) fn was_said(&self) -> bool {
        *lock(&self.said)
    }

    /// Waits for `span`, or less where it is said to stop.
    pub(crate) fn wait(&self, span: Duration) {
        let waited = self.heard.wait_timeout_while(lock(&self.said), span, |said| !*said);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }
}

/// Webhooks that have something queued: what lanes have told since the sweeper took it last.
#[derive(Debug, Default)]
pub(crate) struct Waiting(Mutex<HashSet<WebhookId>>);

impl Waiting {
    pub(crate) fn tell(&self, of: impl Iterator<Item = WebhookId>) {
        lock(&self.0).extend(of);
    }

    pub(crate) fn take(&self) -> Vec<WebhookId> {
        mem::take(&mut *lock(&self.0)).into_iter().collect()
    }
}

/// Fresh lease tokens: a random start and a count, mixed. Distinct within the node, and as good as random among nodes.
#[derive(Debug)]
pub(crate) struct Tokens {
    start: u64,
    issued: AtomicU64,
}

impl Tokens {
    /// The finaliser of splitmix64, which is a bijection.
    pub(crate) fn issue(&self) -> LeaseToken {
        let count = self.issued.fetch_add(1, Ordering::Relaxed);
        let mut mixed = self.start.wrapping_add(count.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        LeaseToken((mixed ^ (mixed >> 31)).cast_signed())
    }
}

/// Counts a thread as running until it ends, however it ends.
pub(crate) struct Running(Arc<Shared>);

impl Running {
    pub(crate) fn begin(shared: &Arc<Shared>) -> Self {
        shared.running.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(shared))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.0.stop.was_said() {
            let ended = thread::current().name().unwrap_or_default().to_owned();
            tracing::error!(thread = ended, "a dispatcher thread has ended; nothing more is taken");
        }
        self.0.running.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A panic elsewhere leaves nothing half-done behind these locks.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn lease_tokens_do_not_repeat() {
        let tokens = Shared::new(&Settings::default(), 7).tokens;
        let issued: HashSet<_> = (0..10_000).map(|_| tokens.issue()).collect();
        assert_eq!(issued.len(), 10_000);
    }

    #[test]
    fn room_never_goes_below_nothing() {
        let settings = Settings { queue_max: 2, ..Settings::default() };
        let room = Shared::new(&settings, 0).room;
        room.take(3);
        assert_eq!(room.free(), 0);
        room.give_back(2);
        assert_eq!(room.free(), 1);
    }
}
