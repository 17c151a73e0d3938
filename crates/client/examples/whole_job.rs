//! Opens an account, registers a webhook, sends a message to itself, receives and opens the message. Needs the
//! environment variable `SEALPOST_URL`.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a standalone program")]

use std::{env, error::Error};

use axum::{Router, serve};
use sealpost_client::{
    Client, EventKind, Login, OpenedEnvelope as Opened, Receiver, axum::handler, secrets,
};
use tokio::net::TcpListener;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (url, hook) = (env::var("SEALPOST_URL")?, format!("http://{}/hook", env::var("LISTEN")?));
    let carol = Client::builder(&url).build()?.activate("Carol", None, None).await?;
    let login = Login::new(carol.account_id, carol.login_secret.unwrap_or_default());
    let client = Client::builder(&url).login(login).api_key(carol.api_key_id).build()?;
    let secret = client.webhooks().register(&hook, &[EventKind::EnvelopeReceived]).await?.secret;
    let receiver = Receiver::new(client.clone(), secrets(&secret, "hook")?, async |it: Opened| {
        println!("{} {}", it.sender, it.message);
        Ok(())
    });
    let socket = TcpListener::bind(env::var("LISTEN")?).await?;
    client.send(&carol.api_key_id.to_string(), "Meet me at noon.").await?;
    Ok(serve(socket, Router::new().route("/hook", handler(receiver))).await?)
}
