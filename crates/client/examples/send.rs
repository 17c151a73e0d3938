//! Sends a message. Needs the environment variables `SEALPOST_URL` and `SEALPOST_TOKEN`.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a standalone program")]

use std::{env, error::Error};

use sealpost_client::Client;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (url, token) = (env::var("SEALPOST_URL")?, env::var("SEALPOST_TOKEN")?);
    let client = Client::builder(&url).token(token).build()?;
    let sent = client.send("bob", "Meet me at noon.").await?;
    println!("{}", sent.envelope_id);
    Ok(())
}
