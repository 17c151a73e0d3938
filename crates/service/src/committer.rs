//! The committer: one thread that takes all sends that wait and stores them in one transaction. No timer: it
//! takes what is there, commits, and looks again, so that a lone send waits for nobody and a crowd shares one
//! sync of the disk.

use std::{sync::Arc, thread, time::Instant};

use sealpost_domain::{
    LeasedDelivery, Refusal,
    ports::{Durability, StoreError},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use crate::{
    Error, Settings,
    batch::{Command, Decided, Hold, decide, wanted},
    figures::CommitFigures,
    sealpost::Core,
};

pub(crate) struct Committer {
    queue: mpsc::Sender<Waiting>,
    /// One permit a byte.
    room: Arc<Semaphore>,
    bytes_max: u32,
    thread: thread::JoinHandle<()>,
}

/// A command and who waits for its outcome.
pub(crate) struct Waiting {
    command: Command,
    reply: oneshot::Sender<Result<Decided, Error>>,
    /// Its part of the room, until it is answered.
    room: OwnedSemaphorePermit,
}

impl Committer {
    pub(crate) fn start(core: Arc<Core>) -> Result<Self, std::io::Error> {
        let (queue, waiting) = mpsc::channel(core.settings.queue_max);
        let bytes_max = u32::try_from(core.settings.queue_bytes_max).unwrap_or(u32::MAX);
        let room = Arc::new(Semaphore::new(permits(bytes_max)));
        let thread = thread::Builder::new()
            .name("committer".to_owned())
            .spawn(move || run(&core, waiting))?;
        Ok(Self { queue, room, bytes_max, thread })
    }

    pub(crate) fn is_alive(&self) -> bool {
        !self.thread.is_finished()
    }

    /// How many commands wait.
    pub(crate) fn depth(&self) -> usize {
        self.queue.max_capacity().saturating_sub(self.queue.capacity())
    }

    /// What the messages take that have no answer yet: those that wait, and those of the batch that is being stored.
    pub(crate) fn bytes(&self) -> usize {
        permits(self.bytes_max).saturating_sub(self.room.available_permits())
    }

    /// Puts a command into the queue; the outcome comes through the receiver. A queue that is full, by number or by bytes,
    /// refuses at once.
    pub(crate) fn submit(
        &self,
        command: Command,
    ) -> Result<oneshot::Receiver<Result<Decided, Error>>, Refusal> {
        let bytes = u32::try_from(command.bytes()).unwrap_or(u32::MAX).min(self.bytes_max);
        let room = Arc::clone(&self.room).try_acquire_many_owned(bytes);
        let room = room.map_err(|_full| Refusal::Unavailable)?;
        let (reply, outcome) = oneshot::channel();
        match self.queue.try_send(Waiting { command, reply, room }) {
            Ok(()) => Ok(outcome),
            Err(_) => Err(Refusal::Unavailable),
        }
    }

    /// Ends once everything in the queue is stored.
    pub(crate) fn stop(self) {
        drop(self.queue);
        if self.thread.join().is_err() {
            tracing::error!("the committer had panicked");
        }
    }
}

fn run(core: &Core, mut queue: mpsc::Receiver<Waiting>) {
    let Settings { batch_max, batch_bytes_max, .. } = core.settings;
    let mut taken = Vec::with_capacity(batch_max);
    let figures = CommitFigures::new();
    while queue.blocking_recv_many(&mut taken, batch_max) > 0 {
        let mut left = std::mem::take(&mut taken);
        while !left.is_empty() {
            let bytes = left.iter().map(|waiting| waiting.command.bytes());
            let later = left.split_off(how_many_fit(bytes, batch_bytes_max));
            commit(core, &figures, std::mem::replace(&mut left, later));
        }
    }
}

/// How many of these share a commit: one at the least, however large.
fn how_many_fit(bytes: impl Iterator<Item = usize>, bytes_max: usize) -> usize {
    let sums = bytes.scan(0_usize, |sum, bytes| {
        *sum = sum.saturating_add(bytes);
        Some(*sum)
    });
    sums.take_while(|sum| *sum <= bytes_max).count().max(1)
}

fn permits(bytes: u32) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS)
}

fn commit(core: &Core, figures: &CommitFigures, mut batch: Vec<Waiting>) {
    let began = Instant::now();
    match store(core, &batch) {
        Ok((decided, leased)) => {
            figures.committed(&decided, began.elapsed());
            for (waiting, decided) in batch.into_iter().zip(decided) {
                answer(waiting, Ok(decided));
            }
            core.dispatch.submit(leased);
        }
        // A batch that is at fault itself must not take those with it who merely share it.
        Err(StoreError::Corrupt(_) | StoreError::Refused(_)) if batch.len() > 1 => {
            let rest = batch.split_off(batch.len() / 2);
            commit(core, figures, batch);
            commit(core, figures, rest);
        }
        Err(error) => {
            figures.failed();
            fail(batch, &error);
        }
    }
}

/// Decides and stores the batch in one transaction.
fn store(
    core: &Core,
    batch: &[Waiting],
) -> Result<(Vec<Decided>, Vec<LeasedDelivery>), StoreError> {
    let commands: Vec<&Command> = batch.iter().map(|waiting| &waiting.command).collect();
    let wanted = wanted(&commands);
    core.store.write(durability(&commands), |tx| {
        let facts = tx.lock_batch_facts(&wanted)?;
        let (lease, lease_until) = core.dispatch.lease();
        let hold = Hold { room: core.dispatch.capacity(), lease, lease_until };
        let now = core.clock.now();
        let expired_before = now.minus(core.settings.remembered_for());
        let (decided, changes) = decide(facts, &commands, now, expired_before, hold);
        tx.apply(&changes)?;
        Ok((decided, changes.leased))
    })
}

/// Requests that are refused whatever comes of them have nothing that a crash of the machine could lose but their count.
fn durability(commands: &[&Command]) -> Durability {
    let stores = commands.iter().any(|command| command.outgoing.is_some());
    if stores { Durability::Durable } else { Durability::Relaxed }
}

fn fail(batch: Vec<Waiting>, error: &StoreError) {
    let (what, told): (_, fn() -> Error) = match error {
        StoreError::Contended(_) | StoreError::Unavailable(_) => {
            (NOT_STORED, || Refusal::Unavailable.into())
        }
        StoreError::Corrupt(_) | StoreError::Refused(_) => (NOT_STORED, || Error::NotStored),
        // Tried again it might be stored twice. What was stored is found where it is: deliveries when their lease ends.
        StoreError::InDoubt(_) => ("a batch may have been stored", || Error::InDoubt),
    };
    tracing::error!(
        batch.len = batch.len(),
        error = %error,
        source = ?std::error::Error::source(error).map(ToString::to_string),
        "{what}"
    );
    for waiting in batch {
        answer(waiting, Err(told()));
    }
}

fn answer(waiting: Waiting, decided: Result<Decided, Error>) {
    let Waiting { command, reply, room } = waiting;
    // Whoever has an answer finds the room that was taken.
    drop((command, room));
    // A caller that hung up does not want its answer any more; what is stored stays stored.
    drop(reply.send(decided));
}

const NOT_STORED: &str = "a batch was not stored";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_ends_before_the_envelope_that_would_be_too_much() {
        for (bytes, fit) in [
            (&[3, 3, 4][..], 3),
            (&[3, 3, 5], 2),
            (&[10, 0, 1], 2),
            (&[11, 1], 1),
            (&[usize::MAX, usize::MAX], 1),
            (&[0, usize::MAX], 1),
        ] {
            assert_eq!(how_many_fit(bytes.iter().copied(), 10), fit, "{bytes:?}");
        }
    }
}
