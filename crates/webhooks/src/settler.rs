//! Writes outcomes down: one thread that takes all that wait, so that a transaction is shared by many attempts.

use std::{
    sync::{Arc, mpsc::Receiver},
    time::Duration,
};

use sealpost_domain::{Settlement, ports::Outbox};

use crate::{outage::Outage, shared::Shared};

pub(crate) struct Settler {
    pub(crate) inbox: Receiver<Settlement>,
    pub(crate) outbox: Arc<dyn Outbox>,
    pub(crate) failing_max: Duration,
    pub(crate) shared: Arc<Shared>,
}

impl Settler {
    /// Writes until every lane has ended and nothing waits any more.
    pub(crate) fn run(self) {
        let mut outage = Outage::of("settle");
        while let Ok(first) = self.inbox.recv() {
            let mut batch = vec![first];
            batch.extend(self.inbox.try_iter().take(BATCH_MAX - 1));
            self.write(&batch, &mut outage);
            self.shared.room.give_back(batch.len());
        }
    }

    /// What cannot be written is given up after a while, so that memory stays bounded: the lease ends, and the
    /// notice is sent once more.
    fn write(&self, batch: &[Settlement], outage: &mut Outage) {
        for pause_ms in PAUSES_MS {
            match self.outbox.settle(batch, self.failing_max) {
                Ok(()) => return outage.over(),
                Err(error) => outage.failed(&error),
            }
            // The process must end in time, and a database that is away may take its own time to say so.
            if self.shared.stop.was_said() {
                break;
            }
            self.shared.stop.wait(Duration::from_millis(pause_ms));
        }
        let given_up = batch.len();
        tracing::error!(
            given_up,
            "outcomes could not be written; their notices will be sent again"
        );
    }
}

const BATCH_MAX: usize = 512;

/// Between tries: about ten seconds in all.
const PAUSES_MS: [u64; 8] = [50, 100, 250, 500, 1000, 2000, 3000, 3000];
