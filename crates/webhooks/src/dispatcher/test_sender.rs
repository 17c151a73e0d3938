//! Sends test events, which the owners of webhooks request, on a separate thread. Test events do not wait for
//! deliveries, and do not count against the limits of deliveries.

use std::{sync::Arc, time::Instant};

use parking_lot::Mutex;
use sealpost_domain::{AttemptFailure, TestEvent, TestResult, ports::FinishTest, with_causes};
use tokio::{
    sync::mpsc::{Receiver, Sender, channel},
    task::JoinSet,
};

use super::shared_state::SharedState;
use crate::{
    http::{client::ClientFactory, target_sender::TargetSender},
    retry::attempt_report::AttemptReport,
    signing::signed_request::SignedRequest,
};

/// A test event, and the callback for its result.
pub(super) type QueuedTest = (TestEvent, FinishTest);

/// Queues test events until [`TestInbox::close`] is called.
pub(super) struct TestInbox(Mutex<Option<Sender<QueuedTest>>>);

pub(super) struct TestSender {
    pub(super) clients: ClientFactory,
    pub(super) shared: Arc<SharedState>,
}

impl TestInbox {
    /// Returns an inbox for at most [`TESTS_MAX`] waiting test events, and the receiver for [`TestSender::run`].
    pub(super) fn new() -> (Self, Receiver<QueuedTest>) {
        let (sender, receiver) = channel(TESTS_MAX);
        (Self(Mutex::new(Some(sender))), receiver)
    }

    /// Queues a test event. Returns `false` if the inbox is full or closed.
    pub(super) fn accept(&self, test: QueuedTest) -> bool {
        self.0.lock().as_ref().is_some_and(|sender| sender.try_send(test).is_ok())
    }

    pub(super) fn close(&self) {
        self.0.lock().take();
    }
}

impl TestSender {
    /// Sends test events until the inbox is closed. Then cancels the requests in flight.
    pub(super) async fn run(self, mut inbox: Receiver<QueuedTest>) {
        let mut in_flight = JoinSet::new();
        loop {
            tokio::select! {
                test = inbox.recv(), if in_flight.len() < TESTS_MAX => match test {
                    Some(test) => self.start(test, &mut in_flight),
                    None => return,
                },
                Some(_ended) = in_flight.join_next() => {}
            }
        }
    }

    /// Sends a test event on a new connection, so that the test includes the name lookup, the TCP connection and the
    /// TLS handshake. If the secret cannot be decrypted or the request cannot be built, drops `finish` without calling
    /// it, because such a fault of the service is not a result of the test.
    fn start(&self, (event, finish): QueuedTest, in_flight: &mut JoinSet<()>) {
        let SharedState { keyring, signer, clock, .. } = &*self.shared;
        let sender = TargetSender::open(&event.target, keyring, &self.clients, signer.as_ref());
        let webhook_id = event.target.webhook_id;
        let sender = sender.inspect_err(|error| {
            tracing::error!(
                error = with_causes(error),
                webhook.id = %webhook_id,
                "cannot decrypt the signing secret of a test"
            );
        });
        let Ok(sender) = sender else { return };
        let request = SignedRequest::build_test(&event, &sender.keys, clock.now());
        let request = request.inspect_err(|error| {
            tracing::error!(
                error = with_causes(error),
                webhook.id = %webhook_id,
                "cannot build the request of a test"
            );
        });
        let Ok(request) = request else { return };
        in_flight.spawn_local(async move {
            let start = Instant::now();
            let report = sender.send(request).await.unwrap_or_else(|unsent| {
                // The failure is always `Connect`, so the detail names the cause, for example a fault of this node.
                let error_detail = Some(unsent.to_string());
                AttemptReport { error_detail, ..AttemptReport::failed(AttemptFailure::Connect) }
            });
            let AttemptReport { result, response, error_detail, .. } = report;
            finish(TestResult { result, response, error_detail, duration: start.elapsed() });
        });
    }
}

/// Maximum number of test events in flight. The same number may wait; further ones are refused.
const TESTS_MAX: usize = 16;
