//! Receives and opens envelopes without a public address.
//!
//! Needs the environment variables `SEALPOST_URL`, `SEALPOST_TOKEN`, `WEBHOOK_ID` and `WEBHOOK_SECRET`.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a standalone program")]

use std::{env, error::Error};

use sealpost_client::{Client, OpenedEnvelope, Receiver, secrets};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (url, token) = (env::var("SEALPOST_URL")?, env::var("SEALPOST_TOKEN")?);
    let client = Client::builder(&url).token(token).build()?;
    let keys = secrets(&env::var("WEBHOOK_SECRET")?, "WEBHOOK_SECRET")?;
    let receiver = Receiver::new(client, keys, async |envelope: OpenedEnvelope| {
        println!("{} {}", envelope.sender, envelope.message);
        Ok(())
    });
    let relay = receiver.relay(env::var("WEBHOOK_ID")?.parse()?);
    Ok(relay.run_until(std::future::pending()).await?)
}
