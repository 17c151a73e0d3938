//! `sealpost demo`: starts a server and a webhook receiver, and runs all steps from activation to an opened message.
//! Prints each step with the equivalent curl command, and fails if a step fails.

mod caller;
mod narration;
mod receiver;

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    time::Duration,
};

use sealpost_domain::Timestamp;
use sealpost_node::{Node, Settings};
use sealpost_receiver::{ReceivedRequest, explain, secrets};
use serde_json::{Value, json};

use self::{
    caller::{Caller, Identity, indented, text},
    narration::{hold, say},
    receiver::{ReceivedEvent, Receiver},
};
use crate::{
    command_error::CommandError,
    logs,
    serve::{self, signals::StopSignals},
    settings::LogFormat,
};

/// Runs the demo on a temporary embedded database. Ignores all settings in the environment. A stop signal ends the demo
/// with an error.
pub(crate) fn run() -> Result<(), CommandError> {
    logs::start("warn", LogFormat::Text, None)?;
    let system = actix_rt::System::new();
    // Installs the handlers before the folder is created, because an unhandled signal would leave the folder.
    let mut signals = system.block_on(async { StopSignals::listen() })?;
    let folder = tempfile::tempdir()
        .map_err(|error| CommandError::caused("no temporary folder can be created", error))?;
    let done = system.block_on(serve_and_perform(&folder.path().join("data"), &mut signals));
    // Waits for the threads of an interrupted start before the folder is deleted, because these threads write into the
    // folder.
    drop(system);
    done
}

async fn serve_and_perform(data_dir: &Path, signals: &mut StopSignals) -> Result<(), CommandError> {
    let interrupted = || Err(CommandError::new("the demo was interrupted"));
    let builder = Node::builder()
        .settings(Settings { dev: true, ..Settings::default() })
        .data_dir(data_dir)
        .listen(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
        .ops_listen(None);
    let node = tokio::select! {
        node = serve::start(builder) => node?,
        () = signals.next() => return interrupted(),
    };
    let receiver = Receiver::start()?;
    let done = tokio::select! {
        done = perform(&node, receiver) => done,
        () = signals.next() => interrupted(),
    };
    node.stop().await;
    done
}

async fn perform(node: &Node, mut receiver: Receiver) -> Result<(), CommandError> {
    let url = node.base_url();
    let caller = Caller::new(url)?;
    say(&format!("A Sealpost server runs on {url} with its data in a temporary folder."))?;

    say("\n1. Alice and Bob each activate an identity. Each gets an API key with its own DID.")?;
    let alice = activate(&caller, json!({"label": "Alice"})).await?;
    let bob = activate(&caller, json!({"label": "Bob", "handle": "bob"})).await?;

    say("\n2. Both log in. Each call needs a session token and an API key.")?;
    let alice = log_in(&caller, &alice).await?;
    let bob = log_in(&caller, &bob).await?;

    say("\n3. Bob registers a webhook. The response contains its signing secret, only once.")?;
    let webhook = json!({"url": receiver.url, "events": ["envelope.received"]});
    let registered = caller.call(Some(&bob), "/v1/webhooks/register", &webhook, 200).await?;
    let secret = text(&registered, "secret")?;
    receiver.verify_with(secret);

    say("\n4. Alice sends a message to the handle bob. It is sealed for Bob's key and stored.")?;
    let message = json!({"to": "bob", "message": MESSAGE});
    let sent = caller.call(Some(&alice), "/v1/channel/send", &message, 200).await?;
    let envelope = json!({"envelope_id": text(&sent, "envelope_id")?});

    say("\n5. Bob's receiver gets a signed event with metadata, but without the message.")?;
    let event = receiver.next(EVENT_WITHIN).await?;
    check_event(&event, secret, &sent)?;

    say("\n6. Bob opens the envelope by its id. Opening verifies the sender's signature.")?;
    let opened = caller.call(Some(&bob), "/v1/channel/open", &envelope, 200).await?;
    hold("the message is the message that Alice sent", text(&opened, "message")? == MESSAGE)?;
    hold("the sender is Alice's key", text(&opened, "sender")? == alice.key)?;

    say("\n7. Only Bob can open the envelope: Alice gets \"not found\".")?;
    caller.call(Some(&alice), "/v1/channel/open", &envelope, 404).await?;
    say("\nEvery step held.")
}

async fn activate(caller: &Caller, body: Value) -> Result<Value, CommandError> {
    caller.call(None, "/v1/did/activate", &body, 200).await
}

async fn log_in(caller: &Caller, activated: &Value) -> Result<Identity, CommandError> {
    let body = json!({
        "account_id": text(activated, "account_id")?,
        "login_secret": text(activated, "login_secret")?,
    });
    let session = caller.call(None, "/v1/auth/login", &body, 200).await?;
    Ok(Identity {
        token: text(&session, "session_token")?.to_owned(),
        key: text(activated, "api_key_id")?.to_owned(),
    })
}

fn check_event(event: &ReceivedEvent, secret: &str, sent: &Value) -> Result<(), CommandError> {
    let payload: Value = serde_json::from_slice(&event.body)
        .map_err(|error| CommandError::caused("the event is not JSON", error))?;
    let header = |name| event.headers.find(name).ok().flatten().unwrap_or_default();
    say(&format!("   webhook-signature: {}", header("webhook-signature")))?;
    say(&indented(&payload))?;
    let key = secrets(secret, "the demo")?;
    // Uses the timestamp in the event's header as the time of receipt. So only the signature is checked, and not the
    // age of the event.
    let seconds: i64 = header("webhook-timestamp")
        .parse()
        .map_err(|error| CommandError::caused("webhook-timestamp is not a number", error))?;
    let received_at = Timestamp::from_millis(seconds.saturating_mul(1000));
    let report =
        explain(ReceivedRequest { headers: &event.headers, body: &event.body }, &key, received_at);
    if let Some(detail) = report.detail {
        return Err(CommandError::new(format!("the event's signature is invalid: {detail}")));
    }
    hold("the signature is valid for the whsec_ secret", true)?;
    hold(
        "X-Service-Signature has the same value",
        header("x-service-signature") == header("webhook-signature"),
    )?;
    hold("the event names the envelope", payload.get("envelope_id") == sent.get("envelope_id"))?;
    hold("the event names the sender's key", payload.get("sender") == sent.get("sender"))?;
    hold("the event does not contain the message", !contains(&event.body, MESSAGE))
}

fn contains(body: &[u8], message: &str) -> bool {
    body.windows(message.len()).any(|window| window == message.as_bytes())
}

const MESSAGE: &str = "Meet me at noon.";
const EVENT_WITHIN: Duration = Duration::from_secs(15);
