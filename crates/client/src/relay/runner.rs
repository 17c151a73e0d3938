//! Keeps the WebSocket of a relay connected, and passes each delivery to the handler of the program.

use std::{fmt, pin::Pin, pin::pin, sync::Arc, time::Duration};

use futures_util::future::FutureExt as _;
use sealpost_domain::{Code, WebhookId};
use tokio::time::{Instant, sleep, timeout};

use super::{
    connection::RelayConnection,
    frames::{RelayResponse, RelayedRequest},
    handlers::{RelayHandler, RunningHandlers},
};
use crate::{
    client::Client,
    error::{ClientError, HandlerError},
};

/// Receives the deliveries of a webhook with the URL `relay:`. Created by [`Client::relay`].
#[must_use = "a relay connects when it runs"]
pub struct Relay {
    client: Client,
    webhook_id: WebhookId,
    handler: RelayHandler,
    observer: Arc<dyn Fn(RelayState<'_>) + Send + Sync>,
}

/// A change of the connection of a relay.
#[derive(Debug, Clone, Copy)]
pub enum RelayState<'a> {
    /// The service accepted a connection.
    Connected,
    /// The connection ended, or could not be opened. The relay connects again after `pause`.
    Interrupted {
        /// The reason why there is no connection.
        error: &'a ClientError,
        /// The time until the next try.
        pause: Duration,
    },
}

impl Client {
    /// Receives the deliveries of a webhook with the URL `relay:` over an outgoing connection, so that the program
    /// needs no public address. Call [`Relay::run_until`] to connect.
    ///
    /// `handler` must return within 15 seconds. After its error or panic, the response to the delivery has the status
    /// 500. At most 32 handlers run at the same time. Each delivery arrives at least once. Verify the signatures with
    /// `sealpost-receiver`, or use `Receiver::relay`, which verifies them and opens the envelopes.
    pub fn relay<F, R>(&self, webhook_id: WebhookId, handler: F) -> Relay
    where
        F: Fn(RelayedRequest) -> R + Send + Sync + 'static,
        R: Future<Output = Result<RelayResponse, HandlerError>> + Send + 'static,
    {
        Relay {
            client: self.clone(),
            webhook_id,
            handler: Arc::new(move |request| handler(request).boxed()),
            observer: Arc::new(|_state| ()),
        }
    }
}

impl Relay {
    /// Sets a function that is called at each change of the connection. The function must not block.
    pub fn observe(self, observer: impl Fn(RelayState<'_>) + Send + Sync + 'static) -> Self {
        Self { observer: Arc::new(observer), ..self }
    }

    /// Connects, and passes deliveries to the handler until `stop` is ready. Then waits for the running handlers, for
    /// at most 15 seconds. If the returned future is dropped, the running handlers are aborted.
    ///
    /// After a lost connection, connects again. The pauses follow the [`RetryPolicy`](crate::RetryPolicy), but the
    /// number of tries is not limited. If the session ends, a client with a [`Login`](crate::Login) logs in again.
    /// Returns an error that another connection cannot fix, for example a revoked key. Waits for the running handlers
    /// in this case too.
    pub async fn run_until(self, stop: impl Future<Output = ()>) -> Result<(), ClientError> {
        let mut handlers = RunningHandlers::new(Arc::clone(&self.handler));
        let ended = self.connect_until(pin!(stop), &mut handlers).await;
        let finished = async { while handlers.next().await.is_some() {} };
        timeout(FINISH_MAX, finished).await.ok();
        handlers.abort().await;
        ended
    }

    async fn connect_until(
        &self,
        mut stop: Pin<&mut impl Future<Output = ()>>,
        handlers: &mut RunningHandlers,
    ) -> Result<(), ClientError> {
        let mut history = ConnectionHistory::default();
        loop {
            let opened = tokio::select! {
                () = stop.as_mut() => return Ok(()),
                opened = self.client.open_relay(self.webhook_id) => opened,
            };
            let error = match opened {
                Ok(connection) => {
                    history.connected();
                    (self.observer)(RelayState::Connected);
                    let number = history.connections;
                    match serve(connection, number, handlers, stop.as_mut()).await {
                        Ok(()) => return Ok(()),
                        Err(error) => error,
                    }
                }
                Err(error) => error,
            };
            let Some(pause) = self.pause(&mut history, &error) else { return Err(error) };
            (self.observer)(RelayState::Interrupted { error: &error, pause });
            tokio::select! {
                () = stop.as_mut() => return Ok(()),
                () = sleep(pause) => {}
            }
        }
    }

    /// Records a failure of the connection, and returns the pause before the next try. Returns `None` if the relay must
    /// end, because another try cannot succeed.
    fn pause(&self, history: &mut ConnectionHistory, error: &ClientError) -> Option<Duration> {
        let retry = &self.client.transport.retry;
        history.failed(is_policy_close(error));
        // A close with the code 1008 may have a temporary reason. The relay therefore connects again after the first
        // such close. If the reason is permanent, the service refuses the new connection with a problem document, which
        // ends the relay.
        if history.policy_closes > POLICY_CLOSES_MAX {
            return None;
        }
        // The service limits the number of connections, and may still count lost connections of this client. A refusal
        // over this limit can therefore be temporary.
        let is_counted = error.code() == Some(Code::QuotaExceeded) && history.connections > 0;
        let pause = if is_counted {
            retry.pause_max
        } else {
            retry.relay_pause(history.failures, error)?
        };
        history.pause = pause;
        Some(pause)
    }
}

/// Counters that determine the pause before the next try to connect.
#[derive(Default)]
struct ConnectionHistory {
    /// Number of accepted connections.
    connections: u64,
    connected_at: Option<Instant>,
    /// The pause before the last try.
    pause: Duration,
    /// Number of failures in a row. Starts again at 0 after a connection that lasted longer than the pause before it.
    failures: u32,
    /// Number of `failures` in which the service closed the connection with code 1008. Excludes closes because the
    /// receiver was silent.
    policy_closes: u32,
}

impl ConnectionHistory {
    fn connected(&mut self) {
        self.connections = self.connections.saturating_add(1);
        self.connected_at = Some(Instant::now());
    }

    /// Records a failure. If the last connection lasted longer than the pause before it, sets the counters to 0 first.
    fn failed(&mut self, is_policy: bool) {
        let connected_at = self.connected_at.take();
        if connected_at.is_some_and(|connected_at| connected_at.elapsed() > self.pause) {
            (self.failures, self.policy_closes) = (0, 0);
        }
        self.failures = self.failures.saturating_add(1);
        self.policy_closes = self.policy_closes.saturating_add(u32::from(is_policy));
    }
}

/// Returns true if the service closed the connection because the connection is not allowed. The service closes a silent
/// connection with the same code, but accepts the next connection.
fn is_policy_close(error: &ClientError) -> bool {
    matches!(
        error,
        ClientError::RelayClosed { code: Some(POLICY), reason } if !reason.contains(SILENT)
    )
}

/// Passes the deliveries of a connection to handlers, and sends their responses, until `stop` is ready. Then waits for
/// the running handlers.
async fn serve(
    mut connection: RelayConnection,
    number: u64,
    handlers: &mut RunningHandlers,
    mut stop: Pin<&mut impl Future<Output = ()>>,
) -> Result<(), ClientError> {
    loop {
        tokio::select! {
            () = stop.as_mut() => break,
            Some(handled) = handlers.next() => {
                // Drops the response to a delivery of an earlier connection, because the service attempts this delivery
                // again.
                if handled.connection == number {
                    connection.send(&handled.id, &handled.response).await?;
                }
            }
            request = connection.next() => handlers.start(number, request?),
        }
    }
    let finished = async {
        while let Some(handled) = handlers.next().await {
            if handled.connection == number {
                // Ignores a lost connection. The service attempts the delivery again, and the other handlers finish.
                connection.send(&handled.id, &handled.response).await.ok();
            }
        }
    };
    timeout(FINISH_MAX, finished).await.ok();
    handlers.abort().await;
    connection.close().await;
    Ok(())
}

impl fmt::Debug for Relay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Relay").field("webhook_id", &self.webhook_id).finish_non_exhaustive()
    }
}

/// WebSocket close code with which the service closes a connection that is no longer allowed, or that was silent.
const POLICY: u16 = 1008;
/// Part of the reason with which the service closes a connection that was silent for 60 seconds.
const SILENT: &str = "silent";
const POLICY_CLOSES_MAX: u32 = 1;
/// Maximum time to wait for the running handlers at the end. The service waits this long for a response.
const FINISH_MAX: Duration = Duration::from_secs(15);
