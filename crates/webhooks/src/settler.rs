//! Writes outcomes down: one thread that takes all that wait, so that a transaction is shared by many attempts.

use std::{
    sync::{Arc, mpsc::Receiver},
    time::Duration,
};

use sealpost_domain::{
    AttemptResult,
    ports::{ExpeditedDelivery, Outbox, StoreError},
};

use crate::{
    outage::Outage,
    postponed::{ROWS_MAX, Release},
    shared::Shared,
};

pub(crate) struct Settler {
    pub(crate) inbox: Receiver<Writing>,
    pub(crate) outbox: Arc<dyn Outbox>,
    pub(crate) failing_max: Duration,
    pub(crate) shared: Arc<Shared>,
}

/// What a lane wants written down.
pub(crate) enum Writing {
    Hasten(Vec<ExpeditedDelivery>),
    Release(Release),
    Settle(AttemptResult),
}

impl Writing {
    /// How many deliveries in memory it is about.
    pub(crate) fn deliveries(&self) -> usize {
        match self {
            Self::Hasten(_) => 0,
            Self::Release(release) => release.held.len(),
            Self::Settle(_) => 1,
        }
    }
}

impl Settler {
    /// Writes until every lane has ended and nothing waits any more.
    pub(crate) fn run(self) {
        let mut outages = [Outage::of("settle"), Outage::of("release"), Outage::of("expedite")];
        let [settling, releasing, expediting] = &mut outages;
        while let Ok(first) = self.inbox.recv() {
            // Nobody waits for what is written here, so it may gather company.
            self.shared.stop.wait(LINGER);
            let (mut results, mut releases, mut expedited) = (vec![], vec![], vec![]);
            for writing in std::iter::once(first).chain(self.inbox.try_iter().take(BATCH_MAX - 1)) {
                match writing {
                    Writing::Hasten(some) => expedited.extend(some),
                    Writing::Release(release) => releases.push(release),
                    Writing::Settle(settlement) => results.push(settlement),
                }
            }
            // First, since a webhook that an outcome disables is looked at again for what is given back.
            if !results.is_empty() {
                self.write(&results, settling);
                self.shared.room.give_back(results.len());
            }
            for release in releases {
                self.release(&release, releasing);
                self.shared.room.give_back(release.held.len());
            }
            // Last, since it is about what was given back.
            for some in expedited.chunks(ROWS_MAX) {
                self.expedite(some, expediting);
            }
        }
    }

    /// What cannot be expedited comes at its time.
    fn expedite(&self, some: &[ExpeditedDelivery], outage: &mut Outage) {
        match self.outbox.expedite(some) {
            Ok(()) => outage.over(),
            Err(error) => outage.failed(&error),
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
    fn write(&self, batch: &[AttemptResult], outage: &mut Outage) {
        for pause_ms in PAUSES_MS {
            match self.outbox.settle(batch, self.failing_max) {
                Ok(()) => return outage.over(),
                // Another try would not help, and what is at fault must not take those with it who merely share a
                // transaction.
                Err(error @ (StoreError::Corrupt(_) | StoreError::Refused(_))) => {
                    outage.failed(&error);
                    let (some, rest) = batch.split_at(batch.len() / 2);
                    if some.is_empty() {
                        break;
                    }
                    self.write(some, outage);
                    return self.write(rest, outage);
                }
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use sealpost_domain::Outcome;

    use super::*;
    use crate::{
        Settings,
        tests::outbox::{MemoryOutbox, NOW, delivery},
    };

    #[test]
    fn an_outcome_at_fault_does_not_take_the_others_with_it() {
        let outbox = Arc::new(MemoryOutbox::default());
        let shared = Arc::new(Shared::new(&Settings::default(), 0));
        let (writings, inbox) = mpsc::channel();
        let ids: Vec<_> = (0..5)
            .map(|number| {
                let held = delivery(1, number);
                outbox.insert(&held, true);
                let (id, lease, outcome) = (held.id(), held.lease, Outcome::Succeeded);
                let settlement = AttemptResult {
                    id,
                    lease,
                    attempts: 1,
                    at: NOW,
                    duration_ms: 1,
                    response: None,
                    outcome,
                };
                writings.send(Writing::Settle(settlement)).unwrap();
                id
            })
            .collect();
        drop(writings);
        outbox.spoil(ids[1]);
        let failing_max = Duration::from_hours(1);
        Settler { inbox, outbox: Arc::<MemoryOutbox>::clone(&outbox), failing_max, shared }.run();
        let settled: Vec<_> = outbox.wait_for_settled(4).iter().map(|done| done.id).collect();
        assert_eq!(settled, [ids[0], ids[2], ids[3], ids[4]]);
    }
}
