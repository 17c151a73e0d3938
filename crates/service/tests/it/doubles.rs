//! Test doubles of the dispatcher and of the guard of URLs, for the tests in this folder and for unit tests.

use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

use sealpost_domain::{
    AccountId, EventId, LeaseToken, LeasedDelivery, Target, TestEvent, Timestamp, WebhookId,
    ports::{
        Dispatch, FinishTest, RelayAnswer, RelayConnectionId, RelayEnd, RelayLink, Relays,
        TargetGuard, VettedUrl,
    },
};

/// A dispatcher that records deliveries and sends none.
#[derive(Default)]
pub(crate) struct RecordedDispatch {
    pub(crate) submitted: Mutex<Vec<LeasedDelivery>>,
    /// Number of deliveries, out of 100, for which the dispatcher has no capacity.
    pub(crate) taken: AtomicUsize,
}

impl Dispatch for RecordedDispatch {
    fn capacity(&self) -> usize {
        100 - self.taken.load(Ordering::SeqCst)
    }

    fn lease(&self) -> (LeaseToken, Timestamp) {
        (LeaseToken(1), Timestamp::from_millis(i64::MAX))
    }

    fn relays(&self) -> &dyn Relays {
        &NoRelays
    }

    fn submit(&self, deliveries: Vec<LeasedDelivery>) {
        self.submitted.lock().unwrap().extend(deliveries);
    }

    fn test(&self, _: TestEvent, _: FinishTest) -> bool {
        false
    }

    fn signature(&self, _: &Target, _: &EventId, _: &[u8], _: Timestamp) -> Option<String> {
        None
    }
}

/// A node without connections of relays.
struct NoRelays;

impl Relays for NoRelays {
    fn attach(&self, _: RelayConnectionId, _: WebhookId, _: AccountId, _: RelayLink) -> bool {
        false
    }

    fn detach(&self, _: RelayConnectionId) {}

    fn answer(&self, _: RelayConnectionId, _: RelayAnswer) -> bool {
        false
    }

    fn close(&self, _: RelayConnectionId, _: RelayEnd) {}

    fn stop(&self) {}

    fn is_connected(&self, _: &WebhookId) -> bool {
        false
    }

    fn unanswered(&self, _: RelayConnectionId) -> Option<usize> {
        None
    }

    fn yielding(&self, _: &AccountId) -> Option<RelayConnectionId> {
        None
    }

    fn ids(&self) -> Vec<RelayConnectionId> {
        Vec::new()
    }

    fn len(&self) -> usize {
        0
    }
}

/// A guard that allows every URL without the text `private`.
pub(crate) struct Anywhere;

impl TargetGuard for Anywhere {
    fn check(&self, _: &str) -> Result<(), String> {
        Ok(())
    }

    fn vet(&self, url: &str) -> Result<VettedUrl, String> {
        if url.contains("private") {
            Err("must not be private".to_owned())
        } else {
            Ok(VettedUrl { url: url.to_owned(), unresolved: None })
        }
    }
}
