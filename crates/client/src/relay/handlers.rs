//! Runs the program's handler for each delivery of a relay. A bounded number of handlers runs at the same time.

use std::{panic::AssertUnwindSafe, sync::Arc, time::Duration};

use futures_util::future::{BoxFuture, FutureExt as _};
use tokio::{task::JoinSet, time::timeout};

use super::frames::{RelayResponse, RelayedRequest};
use crate::error::HandlerError;

pub(super) type RelayHandler = Arc<
    dyn Fn(RelayedRequest) -> BoxFuture<'static, Result<RelayResponse, HandlerError>> + Send + Sync,
>;

/// The running handlers. A handler continues after its connection has ended, because aborting the handler could leave
/// its work incomplete.
pub(super) struct RunningHandlers {
    handler: RelayHandler,
    running: JoinSet<HandledDelivery>,
}

/// The response of a handler, with the id and the connection of its delivery.
pub(super) struct HandledDelivery {
    /// Number of the connection that the delivery arrived on.
    pub(super) connection: u64,
    pub(super) id: String,
    pub(super) response: RelayResponse,
}

impl RunningHandlers {
    pub(super) fn new(handler: RelayHandler) -> Self {
        Self { handler, running: JoinSet::new() }
    }

    /// Starts the handler of a delivery. If too many handlers run, responds with 503 instead.
    pub(super) fn start(&mut self, connection: u64, request: RelayedRequest) {
        let id = request.id.clone();
        if self.running.len() >= IN_FLIGHT_MAX {
            let response = RelayResponse { status: 503, retry_after: Some(1), body: None };
            self.running.spawn(async move { HandledDelivery { connection, id, response } });
            return;
        }
        let handler = Arc::clone(&self.handler);
        self.running.spawn(async move {
            let result = AssertUnwindSafe(async { handler(request).await }).catch_unwind().await;
            let response = match result {
                Ok(Ok(response)) => response,
                Ok(Err(error)) => {
                    tracing::error!(error = &*error, "a delivery was not processed");
                    FAILED.into()
                }
                Err(_panic) => {
                    tracing::error!("the handler of a delivery panicked");
                    FAILED.into()
                }
            };
            HandledDelivery { connection, id, response }
        });
    }

    /// Aborts the running handlers. Waits until they have ended, for at most [`ABORT_MAX`].
    pub(super) async fn abort(&mut self) {
        timeout(ABORT_MAX, self.running.shutdown()).await.ok();
    }

    /// Returns the next handled delivery. `None` if no handler runs.
    pub(super) async fn next(&mut self) -> Option<HandledDelivery> {
        loop {
            // A task fails only if the runtime shuts down.
            if let Ok(handled) = self.running.join_next().await? {
                return Some(handled);
            }
        }
    }
}

/// Maximum time until aborted handlers have ended. A handler that blocks its thread ends only when it no longer blocks.
const ABORT_MAX: Duration = Duration::from_secs(1);
/// Maximum number of handlers that run at the same time.
const IN_FLIGHT_MAX: usize = 32;
const FAILED: u16 = 500;
