//! `sealpost demo`: the whole main job over real sockets, against a server and a receiver that it starts itself,
//! narrated with what a caller would type. It fails where a step does not hold.

mod caller;
mod receiver;

use std::{io::Write as _, sync::Arc, time::Duration};

use clap::{CommandFactory as _, FromArgMatches as _, builder::Resettable};
use sealpost_domain::Timestamp;
use sealpost_node::{Node, Settings};
use sealpost_receiver::{ReceivedRequest, explain, secrets};
use serde_json::{Value, json};

use self::{
    caller::{Caller, text},
    receiver::{Notice, Receiver},
};
use crate::{
    cli::{Cli, LogFormat, OpsListen, ServeArgs},
    fault::Fault,
    logs, serve,
};

/// Runs the demo on a temporary embedded database.
pub(crate) fn run() -> Result<(), Fault> {
    logs::start("warn", LogFormat::Text)?;
    let folder = tempfile::tempdir()
        .map_err(|error| Fault::caused("no temporary folder can be made", error))?;
    actix_rt::System::new().block_on(async {
        let node = serve::start(&Settings::from(&arguments(folder.path())?), Arc::default())?;
        let receiver = Receiver::start()?;
        let told = tell(&node, receiver).await;
        node.stop().await;
        told
    })
}

async fn tell(node: &Node, mut receiver: Receiver) -> Result<(), Fault> {
    let mut caller = Caller::new(node.base_url());
    say(&format!(
        "A Sealpost server runs on {}, its data in a temporary folder.",
        node.base_url()
    ))?;

    say("\n1. Alice and Bob each activate an identity. Each gets an API key, bound to one DID.")?;
    let alice = activate(&mut caller, json!({"label": "Alice"})).await?;
    let bob = activate(&mut caller, json!({"label": "Bob", "handle": "bob"})).await?;

    say("\n2. Both log in. A session token says who calls, an API key as whom.")?;
    let alice = log_in(&mut caller, &alice).await?;
    let bob = log_in(&mut caller, &bob).await?;

    say("\n3. Bob registers a webhook and is shown its signing secret, this once.")?;
    let webhook = json!({"url": receiver.url, "events": ["envelope.received"]});
    let registered = caller.act("/v1/webhooks/register", &bob, &webhook).await?;
    let secret = text(&registered, "secret")?;
    receiver.verify_with(secret);

    say("\n4. Alice sends a message to the handle bob. It is sealed to Bob's key and stored.")?;
    let message = json!({"to": "bob", "message": MESSAGE});
    let sent = caller.act("/v1/channel/send", &alice, &message).await?;
    let envelope_id = text(&sent, "envelope_id")?;

    say("\n5. Bob's receiver gets a signed notice: metadata, not the message.")?;
    let notice = receiver.next(NOTICE_WITHIN).await?;
    check_notice(&notice, secret, &sent)?;

    say("\n6. Bob opens the envelope by its id. The sender's signature is checked first.")?;
    let opened = caller.act("/v1/channel/open", &bob, &json!({"envelope_id": envelope_id})).await?;
    hold("the message is the one that Alice sent", text(&opened, "message")? == MESSAGE)?;
    hold("the sender is Alice's key", text(&opened, "sender")? == alice.key)?;

    say("\n7. Nobody else can open it: to Alice it looks as if it were not there.")?;
    caller
        .act_refused("/v1/channel/open", &alice, &json!({"envelope_id": envelope_id}), 404)
        .await?;
    say("\nEvery step held.")
}

async fn activate(caller: &mut Caller, body: Value) -> Result<Value, Fault> {
    caller.post("/v1/did/activate", &body).await
}

async fn log_in(caller: &mut Caller, activated: &Value) -> Result<caller::Identity, Fault> {
    let body = json!({
        "account_id": text(activated, "account_id")?,
        "login_secret": text(activated, "login_secret")?,
    });
    let session = caller.post("/v1/auth/login", &body).await?;
    Ok(caller::Identity {
        token: text(&session, "session_token")?.to_owned(),
        key: text(activated, "api_key_id")?.to_owned(),
    })
}

fn check_notice(notice: &Notice, secret: &str, sent: &Value) -> Result<(), Fault> {
    let payload: Value = serde_json::from_slice(&notice.body)
        .map_err(|error| Fault::caused("the notice is not JSON", error))?;
    let header = |name| notice.headers.find(name).ok().flatten().unwrap_or_default();
    say(&format!("   webhook-signature: {}", header("webhook-signature")))?;
    say(&caller::indented(&payload))?;
    let key = secrets(secret, "the demo")?;
    // The receiver's clock is the one of the notice: what matters here is the signature.
    let seconds: i64 = header("webhook-timestamp")
        .parse()
        .map_err(|error| Fault::caused("webhook-timestamp is no number", error))?;
    let received_at = Timestamp::from_millis(seconds.saturating_mul(1000));
    let report = explain(
        ReceivedRequest { headers: &notice.headers, body: &notice.body },
        &key,
        received_at,
    );
    if let Some(detail) = report.detail {
        return Err(Fault::new(format!("the notice's signature does not hold: {detail}")));
    }
    hold("the signature verifies with the whsec_ secret", true)?;
    hold(
        "X-Service-Signature has the same value",
        header("x-service-signature") == header("webhook-signature"),
    )?;
    hold("it names the envelope", payload.get("envelope_id") == sent.get("envelope_id"))?;
    hold("it names the sender's key", payload.get("sender") == sent.get("sender"))?;
    hold("it does not contain the message", !contains(&notice.body, MESSAGE))
}

fn contains(body: &[u8], message: &str) -> bool {
    body.windows(message.len()).any(|window| window == message.as_bytes())
}

/// A temporary embedded database on free loopback ports, whatever the environment says.
fn arguments(folder: &std::path::Path) -> Result<ServeArgs, Fault> {
    let mut command = Cli::command().mut_args(|argument| argument.env(Resettable::Reset));
    let matches = command
        .try_get_matches_from_mut(["sealpost", "--dev", "--listen", "127.0.0.1:0"])
        .and_then(|matches| Cli::from_arg_matches(&matches));
    let mut args = matches
        .map_err(|error| Fault::caused("the demo's own settings are not sound", error))?
        .serve;
    args.kek_variable = false;
    args.database.data_dir = folder.join("data");
    args.http.ops_listen = OpsListen::Off;
    Ok(args)
}

/// A step that must hold.
fn hold(claim: &str, holds: bool) -> Result<(), Fault> {
    if holds {
        say(&format!("   ✓ {claim}"))
    } else {
        Err(Fault::new(format!("not so: {claim}")))
    }
}

fn say(line: &str) -> Result<(), Fault> {
    let mut out = std::io::stdout();
    writeln!(out, "{line}")
        .and_then(|()| out.flush())
        .map_err(|error| Fault::caused("standard output is closed", error))
}

const MESSAGE: &str = "Meet me at noon.";
const NOTICE_WITHIN: Duration = Duration::from_secs(5);
