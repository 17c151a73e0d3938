//! Runs the seven housekeeping threads.
//!
//! | thread | task |
//! |---|---|
//! | `housekeeper` | deletes expired rows and updates daily counts |
//! | `wiper` | wipes expired secrets from memory, and evicts unused cache entries |
//! | `key-reviewer` | compares cached keys with the database, and stores that this node runs |
//! | `transferrer` | transfers waiting envelopes to new webhooks |
//! | `relay-keeper` | closes relay connections (opened by receivers) if the webhook, key or token has changed |
//! | `follow-up` | stores token uses, deletes rows of deleted webhooks, informs correspondents of changed keys |
//! | `log-appender` | appends statements to the transparency log |
//!
//! The tasks have separate threads, so that a slow task delays no other. Above all, a slow or unavailable database must
//! not delay the wiping of secrets.

use std::{io, sync::Arc, time::Duration};

use sealpost_domain::{
    Timestamp,
    ports::{Durability, Node},
    with_causes,
};

use super::{
    clock_lag::ClockLag,
    retention::{self, HasWork},
    task::{HousekeepingTask, Interval, run_task},
    waiting::transfer_waiting,
};
use crate::{
    cache::key_cache::CacheEvent,
    periodic_thread::{PeriodicThread, StopSignal},
    sealpost::core::Core,
    transparency::TransparencyLog,
    webhooks::{Webhooks, relay::RelayIntervals},
};

/// The running housekeeping threads. Dropping this value stops them.
pub(crate) struct Housekeeper(Vec<PeriodicThread>);

impl Housekeeper {
    pub(crate) fn start(
        core: &Arc<Core>,
        webhooks: &Webhooks,
        log: &TransparencyLog,
    ) -> io::Result<Self> {
        let mut housekeeper = Self(Vec::new());
        let started_at = core.clock.now();
        let mut lag = ClockLag::default();
        let every = core.settings.housekeeping_every;
        housekeeper.spawn(
            "housekeeper",
            [retention::interval(&core.settings); 2],
            core,
            move |core, stop| {
                let tasks = retention::tasks(&core.settings);
                let done: Vec<_> =
                    tasks.iter().filter_map(|task| run_task(core, task, stop)).collect();
                if let Some(earliest) = done.into_iter().min() {
                    lag.warn(earliest, core.clock.now());
                }
            },
        )?;
        let mut eviction = Interval { every: core.settings.cache_idle / 2, last: core.clock.now() };
        let mut is_locked = core.keyring.is_memory_locked();
        housekeeper.spawn("wiper", [every; 2], core, move |core, _| {
            if is_locked && !core.keyring.is_memory_locked() {
                is_locked = false;
                tracing::warn!(
                    "roots of identities may be swapped: raise the limit of locked memory (LimitMEMLOCK)"
                );
            }
            let now = core.clock.now();
            core.cache.invalidate_on(CacheEvent::SecretsExpired(now));
            if eviction.take(now) {
                core.cache.invalidate_on(CacheEvent::UnusedEvicted);
            }
        })?;
        // The first renewal is due immediately, so that operators see a new node without delay.
        let mut renewal =
            Interval { every: NODE_RENEWED_EVERY, last: started_at.minus(NODE_RENEWED_EVERY) };
        housekeeper.spawn("key-reviewer", [Duration::ZERO, every], core, move |core, _| {
            if renewal.take(core.clock.now()) {
                record_node(core, started_at);
                observe_snapshots(core);
            }
            if let Err(error) = core.review_keys() {
                let error = with_causes(&error);
                tracing::warn!(error, "cached keys were not compared with the database");
            }
        })?;
        let every = core.settings.waiting_transfer_every;
        let work = |core: &Arc<Core>, stop: &_| transfer_waiting(core, stop);
        housekeeper.spawn("transferrer", [every; 2], core, work)?;
        let mut intervals = webhooks.relay_intervals();
        let work = move |webhooks: &Webhooks, _: &_| keep_relays(webhooks, &mut intervals);
        housekeeper.spawn("relay-keeper", [RELAYS_CHECKED_EVERY; 2], webhooks, work)?;
        let mut log_has_failed = false;
        let work = move |log: &TransparencyLog, _: &_| {
            log_has_failed = extend_log(log, log_has_failed);
        };
        housekeeper.spawn("log-appender", [Duration::ZERO, LOG_APPENDED_EVERY], log, work)?;
        let tasks = retention::follow_ups(&core.settings);
        housekeeper.spawn("follow-up", [every; 2], core, move |core, stop| {
            core.bearer_uses.store(&core.store);
            for task in &tasks {
                follow_up(core, task, stop);
            }
        })?;
        Ok(housekeeper)
    }

    fn spawn<S: Clone + Send + 'static>(
        &mut self,
        name: &str,
        pauses: [Duration; 2],
        service: &S,
        mut work: impl FnMut(&S, &StopSignal) + Send + 'static,
    ) -> io::Result<()> {
        let service = service.clone();
        self.0.push(PeriodicThread::start(name, pauses, move |stop| work(&service, stop))?);
        Ok(())
    }

    /// Returns true if all threads run, or if they were stopped.
    pub(crate) fn is_alive(&self) -> bool {
        self.0.iter().all(PeriodicThread::is_alive)
    }

    /// Stops the threads. Each thread finishes its current batch.
    pub(crate) fn stop(&self) {
        self.0.iter().for_each(PeriodicThread::begin_stop);
        self.0.iter().for_each(PeriodicThread::stop);
    }
}

/// Closes the connections of relays (webhooks whose receivers connect to the service) that must end.
fn keep_relays(webhooks: &Webhooks, intervals: &mut RelayIntervals) {
    if let Err(error) = webhooks.keep_relays(intervals) {
        tracing::warn!(error = with_causes(&error), "the connections of relays were not checked");
    }
}

/// Appends [statements](sealpost_domain::ports::StatementKind) to the transparency log. Returns true if this failed.
/// `had_failed` is the result of the previous call: only the first of consecutive failures causes a warning.
fn extend_log(log: &TransparencyLog, had_failed: bool) -> bool {
    let Err(error) = log.append_statements() else { return false };
    if !had_failed {
        tracing::warn!(
            error = with_causes(&error),
            "the transparency log was not extended; it is tried again"
        );
    }
    true
}

/// Runs a task if it has work.
fn follow_up(core: &Core, (task, has_work): &(HousekeepingTask, HasWork), stop: &StopSignal) {
    match core.store.read(has_work) {
        Ok(false) => {}
        Ok(true) => drop(run_task(core, task, stop)),
        Err(error) => {
            tracing::warn!(
                error = with_causes(&error),
                task = task.name,
                "the work of a task was not looked up"
            );
        }
    }
}

/// Stores that this node is running, for the list that operators see.
fn record_node(core: &Core, started_at: Timestamp) {
    let now = core.clock.now();
    let host = core.settings.node_name.clone().unwrap_or_else(|| "unnamed".to_owned());
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let base_url = core.base_url.clone();
    let node = Node { id: core.node, host, version, base_url, started_at, seen_at: now };
    let stored = core.store.write(Durability::Relaxed, |tx| {
        // Uses the earlier clock. A node with a clock that is ahead would otherwise delete the rows of all other nodes.
        let earlier = now.min(tx.shared_time(now)?);
        tx.record_node(&node, earlier.minus(NODE_KEPT))
    });
    if let Err(error) = stored {
        tracing::warn!(error = with_causes(&error), "the row of this node was not stored");
    }
}

/// Updates the metrics of the oldest open snapshot of the database. An old snapshot slows PostgreSQL down, which keeps
/// all row versions that the snapshot may read.
fn observe_snapshots(core: &Core) {
    match core.store.oldest_snapshot() {
        Ok(oldest) => {
            let age = oldest.as_ref().and_then(|oldest| oldest.age).unwrap_or_default();
            let transactions = oldest.and_then(|oldest| oldest.transactions).unwrap_or_default();
            metrics::gauge!("sealpost_oldest_snapshot_seconds").set(age.as_secs_f64());
            let transactions = f64::from(u32::try_from(transactions).unwrap_or(u32::MAX));
            metrics::gauge!("sealpost_oldest_snapshot_transactions").set(transactions);
        }
        Err(error) => {
            tracing::warn!(error = with_causes(&error), "the oldest snapshot was not looked up");
        }
    }
}

const NODE_RENEWED_EVERY: Duration = Duration::from_mins(1);
/// Pause between two runs that append statements to the transparency log. With this pause, a change is in the log
/// within two seconds.
const LOG_APPENDED_EVERY: Duration = Duration::from_secs(1);
/// Pause between two checks of the connections of relays. With this pause, a connection closes within two seconds after
/// its session has ended.
const RELAYS_CHECKED_EVERY: Duration = Duration::from_secs(1);
/// Time after which the row of a stopped node is deleted.
const NODE_KEPT: Duration = Duration::from_hours(24);

impl Drop for Housekeeper {
    fn drop(&mut self) {
        self.stop();
    }
}
