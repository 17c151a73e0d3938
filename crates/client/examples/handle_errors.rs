//! Handles the errors of a send. Needs the environment variables `SEALPOST_URL` and `SEALPOST_TOKEN`.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a standalone program")]

use std::{env, error::Error};

use sealpost_client::{Client, ClientError, Code};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (url, token) = (env::var("SEALPOST_URL")?, env::var("SEALPOST_TOKEN")?);
    let client = Client::builder(&url).token(token).build()?;
    match client.send("nobody-here", "Hello?").await {
        Ok(sent) => println!("{}", sent.envelope_id),
        Err(error) if error.code() == Some(Code::KeyNotFound) => println!("{error}"),
        Err(ClientError::Unreachable { may_have_been_processed, .. }) => {
            println!("no response; processed: {may_have_been_processed}");
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}
