//! Receives and opens envelopes in an axum application.
//!
//! Needs the environment variables `SEALPOST_URL`, `SEALPOST_TOKEN`, `WEBHOOK_SECRET` and `LISTEN`.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a standalone program")]

use std::{env, error::Error};

use axum::{Router, serve};
use sealpost_client::{Client, OpenedEnvelope, Receiver, axum::handler, secrets};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (url, token) = (env::var("SEALPOST_URL")?, env::var("SEALPOST_TOKEN")?);
    let client = Client::builder(&url).token(token).build()?;
    let keys = secrets(&env::var("WEBHOOK_SECRET")?, "WEBHOOK_SECRET")?;
    let receiver = Receiver::new(client, keys, async |envelope: OpenedEnvelope| {
        println!("{} {}", envelope.sender, envelope.message);
        Ok(())
    });
    let socket = tokio::net::TcpListener::bind(env::var("LISTEN")?).await?;
    Ok(serve(socket, Router::new().route("/hook", handler(receiver))).await?)
}
