//! Writes the outcomes of attempts to the database. One thread stores all outcomes that have arrived in one
//! transaction.

use std::{
    sync::{Arc, mpsc::Receiver},
    time::Duration,
};

use sealpost_domain::{
    AttemptResult,
    ports::{ExpeditedDelivery, Outbox, StoreError},
};

use super::{outage_log::OutageLog, outcome_message::OutcomeMessage, shared_state::SharedState};
use crate::{
    queue::release_batch::ReleaseBatch,
    settings::{Bounds, Settings},
};

pub(super) struct OutcomeWriter {
    inbox: Receiver<OutcomeMessage>,
    outbox: Arc<dyn Outbox>,
    failing_max: Duration,
    bounds: Bounds,
    shared: Arc<SharedState>,
}

impl OutcomeWriter {
    pub(super) fn new(
        settings: &Settings,
        inbox: Receiver<OutcomeMessage>,
        outbox: Arc<dyn Outbox>,
        shared: Arc<SharedState>,
    ) -> Self {
        let Settings { failing_max, bounds, .. } = *settings;
        Self { inbox, outbox, failing_max, bounds, shared }
    }

    /// Processes messages until all delivery workers have ended and no message is left.
    pub(super) fn run(self) {
        let mut outages = ["record outcomes", "release", "expedite"].map(OutageLog::new);
        let [recording, releasing, expediting] = &mut outages;
        while let Ok(first) = self.inbox.recv() {
            // Waits briefly to collect a larger batch. This delays no caller, because no caller waits for an outcome.
            self.shared.shutdown.sleep(self.bounds.outcome_linger);
            let (mut results, mut releases, mut expedited) = (vec![], vec![], vec![]);
            let others =
                self.inbox.try_iter().take(self.bounds.outcome_batch_max.saturating_sub(1));
            for message in std::iter::once(first).chain(others) {
                match message {
                    OutcomeMessage::Expedite(deliveries) => expedited.extend(deliveries),
                    OutcomeMessage::Record(result) => results.push(result),
                    OutcomeMessage::Release(batch) => releases.push(batch),
                }
            }
            // Records outcomes before releases, because an outcome may disable the webhook of a released delivery.
            if !results.is_empty() {
                self.record(&results, recording);
                self.shared.capacity.release(results.len());
            }
            for batch in releases {
                self.release(&batch, releasing);
                self.shared.capacity.release(batch.held.len());
            }
            // Expedites last, because a delivery must be released before it can become due earlier.
            for batch in expedited.chunks(self.bounds.release_batch_max.max(1)) {
                self.expedite(batch, expediting);
            }
        }
    }

    /// Makes deliveries due earlier. If the database fails, the due times stay unchanged.
    fn expedite(&self, batch: &[ExpeditedDelivery], outage: &mut OutageLog) {
        match self.outbox.expedite(batch) {
            Ok(()) => outage.record_success(),
            Err(error) => outage.record_failure(&error),
        }
    }

    /// Returns deliveries to the database with a new due time. If the database fails, any node can claim the deliveries
    /// at the end of their leases.
    fn release(&self, ReleaseBatch { held, due_at }: &ReleaseBatch, outage: &mut OutageLog) {
        match self.outbox.release(held, *due_at) {
            Ok(()) => outage.record_success(),
            Err(error) => outage.record_failure(&error),
        }
    }

    /// Records outcomes. Gives up after several tries, because unrecorded outcomes use memory. In this case, the
    /// deliveries are attempted again when their leases end.
    fn record(&self, batch: &[AttemptResult], outage: &mut OutageLog) {
        for pause_ms in RETRY_PAUSES_MS {
            match self.outbox.record_outcomes(batch, self.failing_max) {
                Ok(()) => return outage.record_success(),
                // The same batch would fail again. Splits the batch in halves, to separate the faulty outcome from the
                // others.
                Err(error @ (StoreError::Corrupt(_) | StoreError::Refused(_))) => {
                    outage.record_failure(&error);
                    let (first, second) = batch.split_at(batch.len() / 2);
                    if first.is_empty() {
                        break;
                    }
                    self.record(first, outage);
                    return self.record(second, outage);
                }
                Err(error) => outage.record_failure(&error),
            }
            // Stops retrying at a shutdown: a shutdown has a deadline, and calls to an unavailable database may fail
            // slowly.
            if self.shared.shutdown.is_raised() {
                break;
            }
            self.shared.shutdown.sleep(Duration::from_millis(pause_ms));
        }
        tracing::error!(
            outcomes = batch.len(),
            "cannot record outcomes; their deliveries will be attempted again when their leases end"
        );
    }
}

/// Pauses between tries to record a batch of outcomes, in milliseconds. Their sum is about ten seconds.
const RETRY_PAUSES_MS: [u64; 8] = [50, 100, 250, 500, 1000, 2000, 3000, 3000];

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use sealpost_domain::Outcome;

    use super::*;
    use crate::{
        Settings,
        tests::memory_outbox::{MemoryOutbox, NOW, delivery},
    };

    #[test]
    fn a_corrupt_outcome_does_not_affect_the_others() {
        let outbox = Arc::new(MemoryOutbox::default());
        let shared = Arc::new(SharedState::new(&Settings::default(), 0));
        let (messages, inbox) = mpsc::channel();
        let ids: Vec<_> = (0..5)
            .map(|number| {
                let held = delivery(1, number);
                outbox.insert(&held, true);
                let (id, lease, outcome) = (held.id(), held.lease, Outcome::Succeeded);
                let result = AttemptResult {
                    id,
                    lease,
                    attempts: 1,
                    at: NOW,
                    duration_ms: 1,
                    response: None,
                    error_detail: None,
                    outcome,
                };
                messages.send(OutcomeMessage::Record(result)).unwrap();
                id
            })
            .collect();
        drop(messages);
        outbox.corrupt(ids[1]);
        let settings = Settings::default();
        let store = Arc::<MemoryOutbox>::clone(&outbox);
        OutcomeWriter::new(&settings, inbox, store, shared).run();
        let recorded: Vec<_> = outbox.wait_for_results(4).iter().map(|result| result.id).collect();
        assert_eq!(recorded, [ids[0], ids[2], ids[3], ids[4]]);
    }
}
