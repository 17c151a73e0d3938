//! The tool `wait_for_message`.

use std::time::Duration;

use rmcp::model::CallToolResult;
use schemars::JsonSchema;
use sealpost_client::{
    Client, ClientError, Code, EventKind, NewWebhook, RelayConnection, RelayedRequest, WebhookId,
    WebhookStatus,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::{
    error::ToolError,
    identity::ActingIdentity,
    output::{ReceivedView, trusted},
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WaitArgs {
    /// Maximum waiting time in seconds.
    #[serde(default = "default_timeout")]
    #[schemars(range(min = 1, max = 55))]
    timeout_s: u64,
}

fn default_timeout() -> u64 {
    TIMEOUT_S_MAX
}

/// The message that arrived, if any.
#[derive(Serialize, JsonSchema)]
pub(crate) struct WaitResult {
    /// False if no message arrived in time.
    received: bool,
    /// The message, without its text.
    message: Option<ReceivedView>,
}

/// Waits for the next message. Returns `received: false` if no message arrives before the time ends or the call is
/// cancelled. Fails if the service cannot be reached when the time ends.
///
/// Receives events over a connection to the service, which is open only during a call. Between two calls, the service
/// keeps the events. The client does not read the result of a cancelled call, so the next call returns its message
/// again.
pub(crate) async fn wait(
    acting: &ActingIdentity,
    args: WaitArgs,
    cancelled: &CancellationToken,
) -> Result<CallToolResult, ToolError> {
    if !(1..=TIMEOUT_S_MAX).contains(&args.timeout_s) {
        return Err(ToolError::Arguments(format!("timeout_s is 1 to {TIMEOUT_S_MAX}")));
    }
    let deadline = Instant::now() + Duration::from_secs(args.timeout_s);
    let mut unreturned = acting.unreturned.lock().await;
    let mut message = unreturned.pop();
    if message.is_none() {
        drop(unreturned);
        let arrival = next_arrival(acting, deadline, cancelled).await?;
        // Locks the list while the event is confirmed. If this call is cancelled, a concurrent call then waits until
        // the message is in the list.
        unreturned = acting.unreturned.lock().await;
        if let Some((mut connection, event, arrived)) = arrival {
            // Ignores an error: if the connection has ended, the service sends the event again. `close` waits until the
            // service has read the confirmation. So the event is not sent twice if the program ends after this call.
            connection.respond(&event, &NO_CONTENT.into()).await.ok();
            connection.close().await;
            message = Some(arrived);
        }
    }
    if cancelled.is_cancelled() {
        unreturned.extend(message.clone());
    }
    Ok(trusted(&WaitResult { received: message.is_some(), message }))
}

/// An event that announces a message: the connection over which the event arrived, the event, and the message. The
/// event is not confirmed yet.
type Arrival = (RelayConnection, RelayedRequest, ReceivedView);

/// Returns the next message. Returns `None` if the time ends or the call is cancelled. If the service cannot be reached
/// when the time ends, returns the error instead.
async fn next_arrival(
    acting: &ActingIdentity,
    deadline: Instant,
    cancelled: &CancellationToken,
) -> Result<Option<Arrival>, ClientError> {
    let mut interruption = None;
    let next = async {
        loop {
            let arrival = match connect(acting).await {
                Ok(connection) => {
                    interruption = None;
                    receive(connection).await
                }
                Err(error) => Err(error),
            };
            match arrival {
                Ok(arrival) => return Ok(arrival),
                Err(
                    error @ (ClientError::RelayClosed { .. } | ClientError::Unreachable { .. }),
                ) => interruption = Some(error),
                Err(error) => return Err(error),
            }
            sleep(RECONNECT_PAUSE).await;
        }
    };
    tokio::select! {
        arrival = next => arrival.map(Some),
        () = sleep_until(deadline) => interruption.map_or(Ok(None), Err),
        () = cancelled.cancelled() => Ok(None),
    }
}

/// Returns the first message that arrives. Confirms and skips events that announce no message.
async fn receive(mut connection: RelayConnection) -> Result<Arrival, ClientError> {
    loop {
        let event = connection.next().await?;
        let body = serde_json::from_str(&event.body).unwrap_or(Value::Null);
        if let Some(message) = received(&body) {
            return Ok((connection, event, message));
        }
        connection.respond(&event, &NO_CONTENT.into()).await?;
    }
}

/// Connects to the service, to receive the events of this tool's webhook (URL `relay:`). Registers the webhook if there
/// is none.
async fn connect(acting: &ActingIdentity) -> Result<RelayConnection, ClientError> {
    let mut known = acting.relay.lock().await;
    if let Some(webhook_id) = *known {
        match acting.client.open_relay(webhook_id).await {
            // The owner deleted the webhook.
            Err(error) if error.code() == Some(Code::WebhookNotFound) => {}
            opened => return opened,
        }
    }
    let webhook_id = find_or_register(&acting.client).await?;
    *known = Some(webhook_id);
    acting.client.open_relay(webhook_id).await
}

/// Returns the webhook that an earlier process registered for this tool, or registers one. An existing webhook also has
/// the events of messages that arrived while no process ran. Prefers an enabled webhook. If all are paused or disabled,
/// returns one of them: the service then refuses the connection with the reason.
async fn find_or_register(client: &Client) -> Result<WebhookId, ClientError> {
    let webhooks = client.webhooks();
    let found = webhooks.list().await?.into_iter().filter(|webhook| {
        webhook.url == RELAY && webhook.description.as_deref() == Some(DESCRIPTION)
    });
    let found =
        found.min_by_key(|webhook| webhook.paused || webhook.status != WebhookStatus::Enabled);
    if let Some(found) = found {
        return Ok(found.webhook_id);
    }
    let webhook = NewWebhook {
        url: RELAY,
        events: &[EventKind::EnvelopeReceived],
        description: Some(DESCRIPTION),
        skip_waiting: false,
    };
    Ok(webhooks.register_with(&webhook).await?.webhook_id)
}

/// Returns the message that an event announces. `None` for other events, such as `webhook.test`.
fn received(event: &Value) -> Option<ReceivedView> {
    let text = |name: &str| event.get(name).and_then(Value::as_str).map(str::to_owned);
    if text("event")? != EventKind::EnvelopeReceived.as_str() {
        return None;
    }
    let sent_at = event.get("metadata").and_then(|metadata| metadata.get("timestamp"));
    Some(ReceivedView {
        envelope_id: text("envelope_id")?,
        sender: text("sender")?,
        sender_handle: text("sender_handle"),
        thread: text("thread"),
        reply_to: text("reply_to"),
        message_type: text("type"),
        sent_at: sent_at.and_then(Value::as_str).map(str::to_owned),
    })
}

/// The URL of a webhook whose receiver connects to the service, instead of the service to the receiver.
const RELAY: &str = "relay:";
/// The description of this tool's webhook, by which a later process finds it.
const DESCRIPTION: &str = "sealpost mcp";
/// Maximum and default of the argument `timeout_s`, in seconds. Clients commonly end a call after 60 seconds.
const TIMEOUT_S_MAX: u64 = 55;
const RECONNECT_PAUSE: Duration = Duration::from_secs(1);
const NO_CONTENT: u16 = 204;
