//! Housekeeping: what has had its time is deleted, in bounded batches with room for others in between, by one node at a
//! time.

use std::{
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread,
    time::Duration,
};

use sealpost_domain::{
    LeaseToken, Timestamp,
    ports::{Durability, StoreError, Tx},
};
use sealpost_wallet::random;

use crate::{Settings, sealpost::Core};

/// The thread that keeps house.
pub(crate) struct Housekeeper {
    stop: Arc<Stop>,
    thread: Mutex<Option<thread::JoinHandle<()>>>,
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
    pub(crate) fn start(core: Arc<Core>) -> Result<Self, std::io::Error> {
        let stop = Arc::new(Stop::default());
        let heard = Arc::clone(&stop);
        let node = LeaseToken(i64::from_ne_bytes(random().unwrap_or_default()));
        let thread = thread::Builder::new().name("housekeeper".to_owned()).spawn(move || {
            while !heard.wait(core.settings.housekeeping_every) {
                let now = core.clock.now();
                core.channels.retire(now);
                core.known.forget_unused(now, core.settings.cache_idle);
                for chore in core.chores() {
                    if let Err(error) = core.keep(&chore, node, &heard) {
                        let error: &dyn std::error::Error = &error;
                        tracing::warn!(error, chore = chore.name, "a chore was not done");
                    }
                }
            }
        })?;
        Ok(Self { stop, thread: Mutex::new(Some(thread)) })
    }

    /// Ends after the batch that is under way.
    pub(crate) fn stop(&self) {
        *self.stop.said.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.stop.heard.notify_all();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if thread.is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the housekeeper had panicked");
        }
    }
}

impl Drop for Housekeeper {
    fn drop(&mut self) {
        self.stop();
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
                purge: |tx, before, limit| tx.purge_remembered(before, limit),
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
                purge: |tx, _, limit| tx.purge_former_webhooks(limit),
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

    /// Does a chore until nothing is left of it, unless another node does it. Between batches everybody else gets
    /// their turn.
    fn keep(&self, chore: &Chore, node: LeaseToken, stop: &Stop) -> Result<(), StoreError> {
        let limit = self.settings.housekeeping_batch;
        loop {
            let now = self.clock.now();
            let purged = self.store.write(Durability::Relaxed, |tx| {
                if !tx.take_chore(chore.name, node, now, now.plus(HELD_FOR))? {
                    return Ok(None);
                }
                (chore.purge)(tx, now.minus(chore.keep), limit).map(Some)
            })?;
            match purged {
                Some(purged) if purged >= u64::from(limit) => {}
                Some(_) | None => return Ok(()),
            }
            if stop.wait(PAUSE) {
                return Ok(());
            }
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
const PAUSE: Duration = Duration::from_millis(20);
