//! Writes the outcomes of attempts to the database. One thread collects the outcomes that have arrived, and stores them
//! in a single transaction.

use std::{
    sync::{Arc, mpsc::Receiver},
    time::Duration,
};

use sealpost_domain::{
    AttemptResult, Timestamp,
    ports::{ExpeditedDelivery, StoreError},
};

use super::{outage_log::OutageLog, shared_state::SharedState};
use crate::queue::release_batch::{RELEASE_BATCH_MAX, ReleaseBatch};

/// A database change that a delivery worker requests.
pub(super) enum OutcomeMessage {
    /// Returns deliveries to the database, because their [relays](crate::relay) have no connection to this node. A node
    /// with a connection may claim them from `due_at` on.
    AwaitRelay(ReleaseBatch),
    Expedite(Vec<ExpeditedDelivery>),
    Record(AttemptResult),
    Release(ReleaseBatch),
}

pub(super) struct OutcomeWriter {
    pub(super) inbox: Receiver<OutcomeMessage>,
    pub(super) shared: Arc<SharedState>,
}

impl OutcomeMessage {
    /// Returns the number of deliveries that are no longer in memory after this message has been processed.
    pub(super) fn deliveries(&self) -> usize {
        match self {
            Self::Expedite(_) => 0,
            Self::Record(_) => 1,
            Self::AwaitRelay(batch) | Self::Release(batch) => batch.held.len(),
        }
    }
}

impl OutcomeWriter {
    /// Processes messages until all delivery workers have ended and no message is left.
    pub(super) fn run(self) {
        let mut outages =
            ["record outcomes", "release", "release to relays", "expedite"].map(OutageLog::new);
        let [recording, releasing, awaiting, expediting] = &mut outages;
        while let Ok(first) = self.inbox.recv() {
            // Waits briefly to collect a larger batch. This delays no caller, because no caller waits for an outcome.
            self.shared.shutdown.sleep(LINGER);
            let (mut results, mut releases, mut expedited) = (vec![], vec![], vec![]);
            // When the connection of a relay ends, its deliveries arrive in several messages. One transaction returns
            // them all.
            let mut awaits: Option<ReleaseBatch> = None;
            let others = self.inbox.try_iter().take(OUTCOMES_MAX - 1);
            for message in std::iter::once(first).chain(others) {
                match message {
                    OutcomeMessage::AwaitRelay(batch) => match &mut awaits {
                        Some(first) => first.held.extend(batch.held),
                        None => awaits = Some(batch),
                    },
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
            // If the database fails, any node can claim the deliveries of a release at the end of their leases.
            for ReleaseBatch { held, due_at } in releases {
                releasing.record(self.shared.outbox.release(&held, due_at));
                self.shared.capacity.release(held.len());
            }
            if let Some(ReleaseBatch { held, due_at }) = awaits {
                awaiting.record(self.shared.outbox.await_relay(&held, due_at));
                self.shared.capacity.release(held.len());
            }
            // Expedites last, because a delivery must be released before it can become due earlier. If the database
            // fails, the due times stay unchanged.
            for batch in expedited.chunks(RELEASE_BATCH_MAX) {
                expediting.record(self.shared.outbox.expedite(batch));
            }
        }
    }

    /// Records outcomes. If several tries fail, calls [`record_unlogged`](Self::record_unlogged) instead, because
    /// unrecorded outcomes use memory. During a shutdown, omits that call.
    fn record(&self, batch: &[AttemptResult], outage: &mut OutageLog) {
        for pause_ms in RETRY_PAUSES_MS {
            match self.shared.outbox.record_outcomes(batch, FAILING_MAX) {
                Ok(()) => return outage.record_success(),
                // The same batch would fail again. Splits the batch in halves, to separate the faulty outcome from the
                // others.
                Err(error @ (StoreError::Corrupt(_) | StoreError::Refused(_))) => {
                    outage.record_failure(&error);
                    let (first, second) = batch.split_at(batch.len() / 2);
                    if first.is_empty() {
                        return self.record_refused(batch, outage);
                    }
                    self.record(first, outage);
                    return self.record(second, outage);
                }
                Err(error) => outage.record_failure(&error),
            }
            // Stops retrying at a shutdown: a shutdown has a deadline, and calls to an unavailable database may fail
            // slowly.
            if self.shared.shutdown.is_raised() {
                return log_lost(batch.len());
            }
            self.shared.shutdown.sleep(Duration::from_millis(pause_ms));
        }
        self.record_unlogged(batch, outage);
    }

    /// Records an outcome that the database has refused. Omits the texts of the receiver, because one of them may be
    /// the reason for the refusal.
    fn record_refused(&self, batch: &[AttemptResult], outage: &mut OutageLog) {
        let bare: Vec<_> = batch.iter().map(AttemptResult::without_text).collect();
        match self.shared.outbox.record_outcomes(&bare, FAILING_MAX) {
            Ok(()) => outage.record_success(),
            Err(_) => self.record_unlogged(batch, outage),
        }
    }

    /// Changes the deliveries in the database, but does not write the outcomes to the log of attempts. If this fails
    /// too, postpones the deliveries to [`postponed_to`], because otherwise they would be sent again at the end of each
    /// lease.
    fn record_unlogged(&self, batch: &[AttemptResult], outage: &mut OutageLog) {
        let Err(error) = self.shared.outbox.record_unlogged(batch) else {
            tracing::debug!(outcomes = batch.len(), "outcomes are recorded only in the queue");
            return;
        };
        outage.record_failure(&error);
        let postpone = |result: &AttemptResult| {
            self.shared.outbox.release(&[(result.id, result.lease)], postponed_to(result))
        };
        // Stops at the first error, because calls to an unavailable database may fail slowly.
        if let Err(error) = batch.iter().try_for_each(postpone) {
            outage.record_failure(&error);
        }
        log_lost(batch.len());
    }
}

fn log_lost(outcomes: usize) {
    tracing::error!(
        outcomes,
        "cannot record outcomes; their deliveries are attempted again after a pause or at the end of their leases"
    );
}

/// Returns the due time of a delivery whose outcome cannot be recorded. The pause equals the age of the event, but is
/// at least [`UNRECORDED_PAUSE_MIN`] and at most [`UNRECORDED_PAUSE_MAX`]. So each pause is about twice the one before,
/// although these attempts are not counted.
fn postponed_to(result: &AttemptResult) -> Timestamp {
    let age = result.at.since(result.id.event_id.timestamp());
    result.at.plus(age.clamp(UNRECORDED_PAUSE_MIN, UNRECORDED_PAUSE_MAX))
}

/// Maximum number of messages that one transaction writes.
const OUTCOMES_MAX: usize = 512;
/// Time to wait for more outcomes of attempts before a transaction starts. If the process is killed during this time,
/// the outcomes are lost and the deliveries are attempted again.
const LINGER: Duration = Duration::from_millis(10);
/// Time for which all attempts at a webhook must fail before the webhook is disabled.
const FAILING_MAX: Duration = Duration::from_hours(5 * 24);
/// Bounds of the pause before the next attempt of a delivery whose outcome cannot be recorded.
const UNRECORDED_PAUSE_MIN: Duration = Duration::from_mins(5);
const UNRECORDED_PAUSE_MAX: Duration = Duration::from_hours(24);

/// Pauses between tries to record a batch of outcomes, in milliseconds. Their sum is about ten seconds.
const RETRY_PAUSES_MS: [u64; 8] = [50, 100, 250, 500, 1000, 2000, 3000, 3000];

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use sealpost_domain::{DeliveryId, LeasedDelivery, Outcome, ReceiverResponse};

    use super::*;
    use crate::{
        dispatcher::Dependencies,
        tests::{
            fixture::{dependencies, settings},
            memory_outbox::{MemoryOutbox, NOW, delivery},
        },
    };

    /// Returns the result of a successful attempt, with a text of the receiver.
    fn success(held: &LeasedDelivery, at: Timestamp) -> AttemptResult {
        AttemptResult {
            id: held.id(),
            target: Arc::clone(&held.target),
            lease: held.lease,
            attempts: 1,
            at,
            duration_ms: 1,
            response: Some(ReceiverResponse { status: 200, excerpt: "✓".to_owned() }),
            error_detail: None,
            outcome: Outcome::Succeeded,
        }
    }

    /// Records the outcomes of five successful deliveries to receivers that respond with a text. `prepare` gets the
    /// ids of the deliveries. Returns the ids.
    fn record_five(
        outbox: &Arc<MemoryOutbox>,
        prepare: impl FnOnce(&[DeliveryId]),
    ) -> Vec<DeliveryId> {
        let (messages, inbox) = mpsc::channel();
        let ids: Vec<_> = (0..5)
            .map(|number| {
                let held = delivery(1, number);
                outbox.insert(&held, true);
                messages.send(OutcomeMessage::Record(success(&held, NOW))).unwrap();
                held.id()
            })
            .collect();
        drop(messages);
        prepare(&ids);
        let outbox = Arc::<MemoryOutbox>::clone(outbox);
        let dependencies = Dependencies { outbox, ..dependencies() };
        let shared = Arc::new(SharedState::new(settings(), dependencies, 0));
        OutcomeWriter { inbox, shared }.run();
        ids
    }

    #[test]
    fn a_corrupt_outcome_does_not_affect_the_others_and_postpones_its_delivery() {
        let outbox = Arc::new(MemoryOutbox::default());
        let ids = record_five(&outbox, |ids| outbox.corrupt(ids[1]));
        let recorded: Vec<_> = outbox.wait_for_results(4).iter().map(|result| result.id).collect();
        assert_eq!(recorded, [ids[0], ids[2], ids[3], ids[4]]);
        let postponed = outbox.row(ids[1]);
        assert_eq!((postponed.held, postponed.is_over), (None, false));
        assert_eq!(postponed.due_at, NOW.plus(UNRECORDED_PAUSE_MIN));
    }

    #[test]
    fn an_outcome_with_a_refused_text_is_recorded_without_the_text() {
        let outbox = Arc::new(MemoryOutbox::default());
        record_five(&outbox, |_| outbox.change(|state| state.refuses_text = true).unwrap());
        for result in outbox.wait_for_results(5) {
            assert_eq!(
                result.response,
                Some(ReceiverResponse { status: 200, excerpt: String::new() })
            );
        }
    }

    #[test]
    fn an_outcome_that_cannot_be_logged_ends_its_delivery() {
        let outbox = Arc::new(MemoryOutbox::default());
        let ids =
            record_five(&outbox, |_| outbox.change(|state| state.refuses_log = true).unwrap());
        assert!(ids.iter().all(|id| outbox.row(*id).is_over));
    }

    #[test]
    fn the_pause_after_an_unrecorded_outcome_grows_with_the_age_of_the_event() {
        let held = delivery(1, 0);
        let after = |age: Duration| {
            let at = NOW.plus(age);
            postponed_to(&success(&held, at)).since(at)
        };
        assert_eq!(after(Duration::ZERO), UNRECORDED_PAUSE_MIN);
        assert_eq!(after(Duration::from_hours(1)), Duration::from_hours(1));
        assert_eq!(after(Duration::from_hours(100)), UNRECORDED_PAUSE_MAX);
    }
}
