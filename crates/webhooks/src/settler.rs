//! Writes outcomes down: one thread that takes all that wait, so that a transaction is shared by many attempts.

use std::{
    sync::{Arc, mpsc::Receiver},
    time::Duration,
};

use sealpost_domain::{Settlement, ports::Outbox};

use crate::{outage::Outage, postponed::Release, shared::Shared};

pub(crate) struct Settler {
    pub(crate) inbox: Receiver<Writing>,
    pub(crate) outbox: Arc<dyn Outbox>,
    pub(crate) failing_max: Duration,
    pub(crate) shared: Arc<Shared>,
}

/// What a lane wants written down.
pub(crate) enum Writing {
    Release(Release),
    Settle(Settlement),
}

impl Writing {
    /// How many deliveries it is about.
    pub(crate) fn deliveries(&self) -> usize {
        match self {
            Self::Release(release) => release.held.len(),
            Self::Settle(_) => 1,
        }
    }
}

impl Settler {
    /// Writes until every lane has ended and nothing waits any more.
    pub(crate) fn run(self) {
        let mut outages = [Outage::of("settle"), Outage::of("release")];
        let [settling, releasing] = &mut outages;
        while let Ok(first) = self.inbox.recv() {
            // Nobody waits for what is written here, so it may gather company.
            self.shared.stop.wait(LINGER);
            let (mut settlements, mut releases) = (Vec::new(), Vec::new());
            for writing in std::iter::once(first).chain(self.inbox.try_iter().take(BATCH_MAX - 1)) {
                match writing {
                    Writing::Release(release) => releases.push(release),
                    Writing::Settle(settlement) => settlements.push(settlement),
                }
            }
            // First, since a registration that an outcome disables is looked at again for what is given back.
            if !settlements.is_empty() {
                self.write(&settlements, settling);
                self.shared.room.give_back(settlements.len());
            }
            for release in releases {
                self.release(&release, releasing);
                self.shared.room.give_back(release.held.len());
            }
        }
    }

    /// What cannot be given back comes back by itself when its lease ends.
    fn release(&self, Release { held, due_at }: &Release, outage: &mut Outage) {
        match self.outbox.release(held, *due_at) {
            Ok(()) => outage.over(),
            Err(error) => outage.failed(&error),
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
/// What the process loses when it is killed meanwhile is sent once more.
const LINGER: Duration = Duration::from_millis(10);

/// Between tries: about ten seconds in all.
const PAUSES_MS: [u64; 8] = [50, 100, 250, 500, 1000, 2000, 3000, 3000];
