//! Sends itself a message and receives it over a relay. Reads the task, and prints the message.

#![expect(clippy::print_stdout, reason = "a standalone program")]

use std::{error::Error, io, sync::Arc};

use sealpost_client::{Client, EventKind, HandlerError, Login, OpenedEnvelope, Receiver, secrets};
use serde::Deserialize;
use tokio::sync::Notify;

#[derive(Deserialize)]
struct Task {
    url: String,
    api_key: String,
    account_id: String,
    login_secret: String,
    message: String,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let Task { url, api_key, account_id, login_secret, message } =
        serde_json::from_reader(io::stdin())?;
    let login = Login::new(account_id.parse()?, login_secret);
    let client = Client::builder(&url).login(login).api_key(api_key.parse()?).build()?;
    let webhook = client.webhooks().register("relay:", &[EventKind::EnvelopeReceived]).await?;
    let keys = secrets(&webhook.secret, "the registered webhook")?;
    let stop = Arc::new(Notify::new());
    let arrived = Arc::clone(&stop);
    let receiver = Receiver::new(client.clone(), keys, move |envelope: OpenedEnvelope| {
        println!("{}", envelope.message);
        arrived.notify_one();
        async { Ok::<_, HandlerError>(()) }
    });
    client.send(&api_key, &message).await?;
    Ok(receiver.relay(webhook.webhook_id).run_until(stop.notified()).await?)
}
