//! Housekeeping: what has had its time is deleted, in bounded batches with room for others in between, by one node at a
//! time; and each node wipes what has had its time in its memory, and what a review of keys finds out of date there.

use std::{
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread,
    time::Duration,
};

use sealpost_domain::{
    LeaseToken, Timestamp,
    ports::{Durability, HousekeepingTurn, StoreError, Tx},
};
use sealpost_wallet::random;

use self::lag::Lag;
use crate::{Settings, sealpost::Core};

mod lag;

/// The threads that keep house: one in the database, one in memory, since what is to be wiped must not wait for chores
/// that take long or a database that is away, and one that compares the two, which must not wait for chores either.
pub(crate) struct Housekeeper {
    stop: Arc<Stop>,
    threads: Mutex<Vec<thread::JoinHandle<()>>>,
}

#[derive(Default)]
struct Stop {
    said: Mutex<bool>,
    heard: Condvar,
}

/// What is deleted, and how long it is kept.
struct Chore {
    name: &'static str,
    keep: Duration,
    purge: fn(&mut dyn Tx, Timestamp, u32) -> Result<u64, StoreError>,
}

impl Housekeeper {
    pub(crate) fn start(core: &Arc<Core>) -> Result<Self, std::io::Error> {
        let housekeeper = Self { stop: Arc::default(), threads: Mutex::default() };
        let node = LeaseToken(i64::from_ne_bytes(random().unwrap_or_default()));
        let mut lag = Lag::default();
        housekeeper.every_turn("housekeeper", core, move |core, stop| {
            let chores = core.chores();
            let done_by: Vec<_> =
                chores.iter().filter_map(|chore| core.keep(chore, node, stop)).collect();
            if let Some(earliest) = done_by.into_iter().min() {
                lag.tell(earliest, core.clock.now());
            }
        })?;
        let mut round = Round { every: core.settings.cache_idle / 2, last: core.clock.now() };
        housekeeper.every_turn("wiper", core, move |core, _| {
            let now = core.clock.now();
            core.channels.retire(now);
            if round.take_turn(now) {
                core.known.forget_unused();
            }
        })?;
        housekeeper.every_turn("key-reviewer", core, |core, _| {
            if let Err(error) = core.review_keys() {
                let error: &dyn std::error::Error = &error;
                tracing::warn!(error, "the keys in memory were not compared with the database");
            }
        })?;
        Ok(housekeeper)
    }

    fn every_turn(
        &self,
        name: &str,
        core: &Arc<Core>,
        mut work: impl FnMut(&Core, &Stop) + Send + 'static,
    ) -> Result<(), std::io::Error> {
        let (core, stop) = (Arc::clone(core), Arc::clone(&self.stop));
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || {
            while !stop.wait(core.settings.housekeeping_every) {
                work(&core, &stop);
            }
        })?;
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
        Ok(())
    }

    /// Whether no thread has ended before it was told to.
    pub(crate) fn is_alive(&self) -> bool {
        let threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        !threads.iter().any(thread::JoinHandle::is_finished)
    }

    /// Ends after the batch that is under way.
    pub(crate) fn stop(&self) {
        *self.stop.said.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.stop.heard.notify_all();
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        for thread in threads.drain(..) {
            let name = thread.thread().name().unwrap_or_default().to_owned();
            if thread.join().is_err() {
                tracing::error!(thread = name, "a thread that keeps house had panicked");
            }
        }
    }
}

impl Drop for Housekeeper {
    fn drop(&mut self) {
        self.stop();
    }
}

/// What is done less often than every turn.
struct Round {
    every: Duration,
    last: Timestamp,
}

impl Round {
    /// Whether it is time; if so, the next time counts from now.
    fn take_turn(&mut self, now: Timestamp) -> bool {
        let is_due = now.abs_diff(self.last) >= self.every;
        if is_due {
            self.last = now;
        }
        is_due
    }
}

impl Stop {
    /// Waits for `span`; `true` as soon as it is said to stop.
    fn wait(&self, span: Duration) -> bool {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.heard.wait_timeout_while(said, span, |said| !*said);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

impl Core {
    fn chores(&self) -> [Chore; 10] {
        [
            Chore {
                name: "sessions",
                keep: Duration::ZERO,
                purge: |tx, before, limit| tx.purge_sessions(before, limit),
            },
            Chore {
                name: "remembered",
                keep: self.settings.idempotency_ttl,
                purge: |tx, before, limit| tx.purge_idempotency_keys(before, limit),
            },
            Chore {
                name: "envelopes_counted",
                keep: COUNTED_AFTER,
                purge: |tx, before, limit| tx.count_envelopes(before, limit),
            },
            Chore {
                name: "attempts_counted",
                keep: COUNTED_AFTER,
                purge: |tx, before, limit| tx.count_attempts(before, limit),
            },
            Chore {
                name: "daily_counts",
                keep: DAYS_KEPT,
                purge: |tx, before, limit| tx.purge_daily_counts(before, limit),
            },
            Chore {
                name: "envelopes",
                keep: self.settings.retention,
                purge: |tx, before, limit| tx.purge_envelopes(before, limit),
            },
            Chore {
                name: "attempts",
                keep: self.settings.retention,
                purge: |tx, before, limit| tx.purge_attempts(before, limit),
            },
            Chore {
                name: "former_webhooks",
                keep: Duration::ZERO,
                purge: |tx, _, limit| tx.purge_deleted_webhooks(limit),
            },
            Chore {
                name: "retired_secrets",
                keep: Duration::ZERO,
                purge: |tx, now, limit| tx.purge_retired_secrets(now, limit),
            },
            Chore {
                name: "channels",
                keep: self.settings.retention,
                purge: |tx, before, limit| {
                    tx.purge_channels(before, Settings::CHANNEL_LIFE_MAX, limit)
                },
            },
        ]
    }

    /// Does a chore, and tells by which instant; `None` where another node does it or it was not done.
    fn keep(&self, chore: &Chore, node: LeaseToken, stop: &Stop) -> Option<Timestamp> {
        self.keep_going(chore, node, stop).unwrap_or_else(|error| {
            let error: &dyn std::error::Error = &error;
            tracing::warn!(error, chore = chore.name, "a chore was not done");
            None
        })
    }

    /// Does a chore until nothing is left of it, unless another node does it. Between batches everybody else gets
    /// their turn.
    ///
    /// What is deleted is lost, and the clock may be wrong: set ahead by a machine that was restored, or from its start. So
    /// a chore goes by a time of its own, which follows the clock at ten times its speed at the most: a step each turn of a node,
    /// however many batches it has. Where clocks are right nobody notices, and after a long stop it catches up; where one
    /// is not there is time to set it.
    fn keep_going(
        &self,
        chore: &Chore,
        node: LeaseToken,
        stop: &Stop,
    ) -> Result<Option<Timestamp>, StoreError> {
        let limit = self.settings.housekeeping_batch;
        let mut pace = self.settings.housekeeping_every.saturating_mul(10).max(PACE_MIN);
        loop {
            let now = self.clock.now();
            let turn = HousekeepingTurn { task: chore.name, node, now, held_for: HELD_FOR, pace };
            let done = self.store.write(Durability::Relaxed, |tx| {
                let Some(by) = tx.take_housekeeping_turn(&turn)? else { return Ok(None) };
                let purged = (chore.purge)(tx, by.minus(chore.keep), limit)?;
                Ok(Some((by, purged)))
            })?;
            let Some((by, purged)) = done else { return Ok(None) };
            if purged < u64::from(limit) || stop.wait(PAUSE) {
                return Ok(Some(by));
            }
            pace = Duration::ZERO;
        }
    }
}

/// Envelopes and attempts are counted in the order of ids and numbers that are made a moment before they are stored: this
/// is longer than any commit takes.
const COUNTED_AFTER: Duration = Duration::from_mins(1);
/// A little longer than any page looks back.
const DAYS_KEPT: Duration = Duration::from_hours(24 * 40);
/// How long a node has a chore before another may take it.
const HELD_FOR: Duration = Duration::from_mins(2);
/// How far a chore's time moves in a turn at the least: ten times what a turn takes by default.
const PACE_MIN: Duration = Duration::from_mins(10);
const PAUSE: Duration = Duration::from_millis(20);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_is_due_when_its_time_is_over_or_the_clock_was_set_back_as_far() {
        let mut round =
            Round { every: Duration::from_millis(100), last: Timestamp::from_millis(1_000) };
        for (now, is_due) in [
            (1_000, false),
            (1_099, false),
            (1_100, true),
            (1_199, false),
            (1_200, true),
            (1_101, false),
            (1_100, true),
        ] {
            assert_eq!(round.take_turn(Timestamp::from_millis(now)), is_due, "{now}");
        }
    }
}
