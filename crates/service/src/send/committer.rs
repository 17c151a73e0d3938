//! Commits sends (requests to send a message) in batches (group commit). One thread commits all sends of the node.
//!
//! The thread takes all waiting commands, commits them in one transaction, and repeats. Concurrent sends therefore
//! share one disk sync. No timer delays a commit to fill a batch.
//!
//! Several committers are slower than one, because their batches are smaller and wait for the same rows. On PostgreSQL,
//! two committers were 4 % slower, and three were 12 % slower.

use std::{sync::Arc, thread, time::Instant};

use sealpost_domain::{
    LeasedDelivery, Refusal,
    ports::{Durability, Relays, StoreError, WriteSet},
};
use sealpost_storage::Database;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use super::{
    batch::{BatchLease, BatchNode, BatchTimes, contacts_query, decide, facts_query},
    command::{Command, CommandGroup, Decided},
    commit_metrics::CommitMetrics,
    storage_room::StoredBytesCache,
};
use crate::{error::Error, sealpost::core::Core, settings::Settings};

pub(crate) struct Committer {
    queue: mpsc::Sender<QueuedGroup>,
    /// Limits the total size of the sealed messages in the queue. Each byte needs one permit.
    capacity: Arc<Semaphore>,
    bytes_max: u32,
    thread: thread::JoinHandle<()>,
}

/// The database, the shared state and the metrics that the committer thread uses for each commit.
struct Writer<'a> {
    core: &'a Core,
    store: &'a Database,
    stored_bytes: StoredBytesCache,
    metrics: CommitMetrics,
}

/// Waiting commands that are committed together, and the oneshot sender for their results.
struct QueuedGroup {
    group: CommandGroup,
    reply: Reply,
    /// The permits for the bytes of the commands. Dropping them frees the capacity when the result is known.
    permit: OwnedSemaphorePermit,
}

type Reply = oneshot::Sender<Result<Vec<Decided>, Error>>;

impl Committer {
    pub(crate) fn start(core: Arc<Core>) -> Result<Self, std::io::Error> {
        let (queue, queued) = mpsc::channel(core.settings.queue_max);
        let bytes_max = u32::try_from(core.settings.queue_bytes_max).unwrap_or(u32::MAX);
        let capacity = Arc::new(Semaphore::new(permits(bytes_max)));
        let own = core.store.for_committer().map_err(std::io::Error::other)?;
        let thread = thread::Builder::new().name("committer".to_owned()).spawn(move || {
            let store = own.as_ref().unwrap_or(&core.store);
            let Settings { account_bytes_max, hints_cached_max, .. } = core.settings;
            let stored_bytes = StoredBytesCache::new(account_bytes_max, hints_cached_max);
            let metrics = CommitMetrics::new();
            run(&mut Writer { core: &core, store, stored_bytes, metrics }, queued);
        })?;
        Ok(Self { queue, capacity, bytes_max, thread })
    }

    pub(crate) fn is_alive(&self) -> bool {
        !self.thread.is_finished()
    }

    /// Returns the number of waiting requests.
    pub(crate) fn depth(&self) -> usize {
        self.queue.max_capacity().saturating_sub(self.queue.capacity())
    }

    /// Returns the bytes of messages that wait in the queue or are being committed.
    pub(crate) fn bytes(&self) -> usize {
        permits(self.bytes_max).saturating_sub(self.capacity.available_permits())
    }

    /// Queues commands that are committed together, and returns the receiver of their results. Fails at once if the
    /// queue has its maximum number of groups or bytes.
    pub(super) fn submit(
        &self,
        group: CommandGroup,
    ) -> Result<oneshot::Receiver<Result<Vec<Decided>, Error>>, Refusal> {
        let bytes = u32::try_from(group.bytes()).unwrap_or(u32::MAX).min(self.bytes_max);
        let permit = Arc::clone(&self.capacity).try_acquire_many_owned(bytes);
        let permit = permit.map_err(|_full| Refusal::Unavailable)?;
        let (reply, outcome) = oneshot::channel();
        match self.queue.try_send(QueuedGroup { group, reply, permit }) {
            Ok(()) => Ok(outcome),
            Err(_) => Err(Refusal::Unavailable),
        }
    }

    /// Commits the waiting commands and stops the thread.
    pub(crate) fn stop(self) {
        drop(self.queue);
        if self.thread.join().is_err() {
            tracing::error!("the committer thread panicked: its last sends have no response");
        }
    }
}

fn run(writer: &mut Writer<'_>, mut queue: mpsc::Receiver<QueuedGroup>) {
    let Settings { batch_max, batch_bytes_max, .. } = writer.core.settings;
    let mut taken = Vec::with_capacity(batch_max);
    while queue.blocking_recv_many(&mut taken, batch_max) > 0 {
        let mut rest = std::mem::take(&mut taken);
        // Single requests are committed first, so that they do not wait for larger requests that were queued before
        // them.
        rest.sort_by_key(|queued| queued.group.commands.len() > 1);
        while !rest.is_empty() {
            let bytes = rest.iter().map(|queued| queued.group.bytes());
            let sizes = rest.iter().map(|queued| queued.group.commands.len());
            let fit = fitting(bytes, batch_bytes_max).min(fitting(sizes, batch_max));
            let later = rest.split_off(fit);
            commit(writer, std::mem::replace(&mut rest, later));
        }
    }
}

/// Returns the number of groups that fit into the next commit: their sizes add up to at most `max`. Returns at least
/// one, even if the first group is larger than `max`.
fn fitting(sizes: impl Iterator<Item = usize>, max: usize) -> usize {
    let sums = sizes.scan(0_usize, |sum, size| {
        *sum = sum.saturating_add(size);
        Some(*sum)
    });
    sums.take_while(|sum| *sum <= max).count().max(1)
}

fn permits(bytes: u32) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS)
}

fn commit(writer: &mut Writer<'_>, mut batch: Vec<QueuedGroup>) {
    let began = Instant::now();
    let stored = store(writer, &batch);
    let metrics = &writer.metrics;
    match stored {
        Ok((decided, leased)) => {
            metrics.committed(decided.iter().map(Vec::len).sum(), began.elapsed());
            for (queued, decided) in batch.into_iter().zip(decided) {
                for (command, decided) in queued.group.commands.iter().zip(&decided) {
                    metrics.decided(command.purpose, decided);
                }
                respond(queued, Ok(decided));
            }
            writer.core.dispatch.submit(leased);
        }
        // Commits each half separately, because one faulty request must not fail the other requests of the commit.
        Err(StoreError::Corrupt(_) | StoreError::Refused(_)) if batch.len() > 1 => {
            let rest = batch.split_off(batch.len() / 2);
            commit(writer, batch);
            commit(writer, rest);
        }
        Err(error) => {
            metrics.failed();
            writer.stored_bytes.clear();
            fail(batch, &error);
        }
    }
}

/// Decides and stores a batch in one transaction. Returns the decisions of each group, and the new deliveries that are
/// leased to this node for the dispatcher.
fn store(
    writer: &mut Writer<'_>,
    batch: &[QueuedGroup],
) -> Result<(Vec<Vec<Decided>>, Vec<LeasedDelivery>), StoreError> {
    let Writer { core, store, stored_bytes, .. } = writer;
    let groups: Vec<&CommandGroup> = batch.iter().map(|queued| &queued.group).collect();
    let commands: Vec<&Command> = groups.iter().flat_map(|group| &group.commands).collect();
    let query = facts_query(&groups);
    let durability = durability(&groups);
    let is_short_of_space = durability == Durability::Durable && core.is_short_of_space()?;
    let (decided, leased, stored) = store.write(durability, |tx| {
        let read_at = core.clock.now();
        let mut facts = tx.lock_facts(&query)?;
        let (token, until) = core.dispatch.lease();
        let lease = BatchLease { capacity: core.dispatch.capacity(), token, until };
        let now = core.clock.now();
        let pairs = contacts_query(&facts, &commands);
        if !pairs.is_empty() {
            facts.contacts = tx.find_contacts(&pairs, now.minus(core.settings.retention))?;
        }
        let expired_before = now.minus(core.settings.idempotency_kept_for());
        let mut room = stored_bytes.room(tx, &facts, &commands, now)?;
        room.is_short_of_space = is_short_of_space;
        let times = BatchTimes { now, read_at, expired_before };
        let node = BatchNode { lease, sales_contact: core.settings.sales_contact.as_deref() };
        let (decided, mut changes) = decide(facts, &groups, times, node, &mut room);
        leave_to_relays(&mut changes, core.dispatch.relays());
        tx.apply(&changes)?;
        Ok((decided, changes.leased, room.stored))
    })?;
    stored_bytes.committed(stored);
    Ok((decided, leased))
}

/// Moves deliveries to relays (webhooks whose receivers connect to the service) from `leased` to `awaiting_relay`,
/// unless the relay is connected to this node. The node that has the connection attempts these deliveries.
fn leave_to_relays(changes: &mut WriteSet, relays: &dyn Relays) {
    let is_elsewhere = |delivery: &mut LeasedDelivery| {
        delivery.target.is_relay() && !relays.is_connected(&delivery.target.webhook_id)
    };
    changes.awaiting_relay = changes.leased.extract_if(.., is_elsewhere).collect();
}

/// Returns the durability of a batch. Durable if the batch stores an envelope, or the results of a request with many
/// messages and an idempotency key. Otherwise it changes only usage counters, which a crash may lose.
fn durability(groups: &[&CommandGroup]) -> Durability {
    let stores = groups.iter().any(|group| {
        group.batch_key.is_some() || group.commands.iter().any(|command| command.pending.is_some())
    });
    if stores { Durability::Durable } else { Durability::Relaxed }
}

fn fail(batch: Vec<QueuedGroup>, error: &StoreError) {
    let (what, error_of): (_, fn() -> Error) = match error {
        StoreError::Contended(_) | StoreError::Unavailable(_) => {
            (NOT_STORED, || Refusal::Unavailable.into())
        }
        StoreError::Corrupt(_) | StoreError::Refused(_) => (NOT_STORED, || Error::NotStored),
        // It is unknown if the batch is stored. A retry could store the batch twice, so the batch is not retried. If
        // the batch is stored, any node can lease and attempt its deliveries after their present leases end.
        StoreError::InDoubt(_) => (MAYBE_STORED, || Error::InDoubt),
    };
    tracing::error!(
        batch.len = batch.len(),
        error = %error,
        source = ?std::error::Error::source(error).map(ToString::to_string),
        "{what}"
    );
    for queued in batch {
        respond(queued, Err(error_of()));
    }
}

fn respond(queued: QueuedGroup, decided: Result<Vec<Decided>, Error>) {
    let QueuedGroup { group, reply, permit } = queued;
    // The capacity is released before the response, so that the caller can use it for its next send.
    drop((group, permit));
    // Ignores an error of `send`: the request was then cancelled. The envelope of the request stays stored.
    drop(reply.send(decided));
}

const NOT_STORED: &str = "a batch was not stored";
const MAYBE_STORED: &str = "a batch may have been stored: the commit has no known result";

#[cfg(test)]
mod tests {
    use sealpost_domain::{ApiKeyId, Fingerprint, IdempotencyKey, Timestamp, TokenHash};

    use super::*;
    use crate::{
        caller::{admission::Purpose, credentials::CallerId},
        send::command::Idempotency,
    };

    #[test]
    fn the_results_of_a_refused_batch_survive_a_crash() {
        let key = ApiKeyId::new(Timestamp::from_millis(1), [1; 10]);
        let refused = CommandGroup::from(Command {
            caller: CallerId { session: TokenHash([1; 32]), key },
            purpose: Purpose::Send,
            idempotency: None,
            pending: None,
            refusal: Some(Refusal::InvalidJson),
        });
        let (key, fingerprint) = (IdempotencyKey::parse("batch").unwrap(), Fingerprint([1; 32]));
        let batch_key = Some(Idempotency { key, fingerprint });
        let named = CommandGroup { batch_key, ..refused.clone() };
        assert_eq!(durability(&[&refused]), Durability::Relaxed);
        assert_eq!(durability(&[&refused, &named]), Durability::Durable);
    }

    #[test]
    fn a_batch_ends_before_the_envelope_that_exceeds_the_bytes() {
        for (bytes, fit) in [
            (&[3, 3, 4][..], 3),
            (&[3, 3, 5], 2),
            (&[10, 0, 1], 2),
            (&[11, 1], 1),
            (&[usize::MAX, usize::MAX], 1),
            (&[0, usize::MAX], 1),
        ] {
            assert_eq!(fitting(bytes.iter().copied(), 10), fit, "{bytes:?}");
        }
    }
}
