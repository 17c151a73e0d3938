//! `sealpost send` and `sealpost open`.

use std::path::Path;

use sealpost_domain::IdempotencyKey;

use super::ProfileClient;
use crate::{
    cli::{OpenArgs, SendArgs},
    error::ShellError,
    input, output,
};

/// Sends the message on standard input, and prints the id of the envelope.
pub(super) async fn send(args: &SendArgs, config_folder: &Path) -> Result<(), ShellError> {
    let service = ProfileClient::open(&args.call, config_folder)?;
    let message = input::message()?;
    let sent = match &args.idempotency_key {
        Some(key) => {
            let key = IdempotencyKey::parse(key).map_err(|fault| {
                ShellError::Invalid(format!("--idempotency-key {key} is not valid: it {fault}"))
            })?;
            service.client.send_once(&args.to, &message, &key).await?
        }
        None => service.client.send(&args.to, &message).await?,
    };
    service.store_session().await?;
    if args.call.json {
        return output::result(&sent, true);
    }
    output::line(&sent.envelope_id.to_string())
}

/// Opens an envelope, and prints its message.
pub(super) async fn open(args: &OpenArgs, config_folder: &Path) -> Result<(), ShellError> {
    let service = ProfileClient::open(&args.call, config_folder)?;
    let opened = service.client.open(args.envelope_id).await?;
    service.store_session().await?;
    if args.call.json {
        return output::result(&opened, true);
    }
    output::message(&opened.message)
}
