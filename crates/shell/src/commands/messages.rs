//! `sealpost send`, `sealpost sent`, `sealpost open` and `sealpost evidence`.

use std::path::Path;

use futures_util::{StreamExt as _, TryStreamExt as _};
use sealpost_client::{ListedEnvelope, Message, SentFilter};

use super::ProfileClient;
use crate::{
    cli::{EnvelopeArgs, SendArgs, SentArgs},
    error::ShellError,
    input, output,
};

/// Sends the message on standard input, and prints the id of the envelope.
pub(super) async fn send(args: &SendArgs, config_folder: &Path) -> Result<(), ShellError> {
    let service = ProfileClient::open(&args.call.profile, config_folder)?;
    let message = Message {
        to: args.to.clone(),
        message: input::message()?.to_string(),
        thread: args.thread.clone(),
        reply_to: args.reply_to,
        message_type: args.message_type.clone(),
    };
    let sent = service.client.send_message(&message, args.idempotency_key.as_ref()).await?;
    if args.call.json {
        output::result(&sent, true)?;
    } else {
        output::line(&sent.envelope_id.to_string())?;
    }
    service.store_session().await;
    Ok(())
}

/// Prints the sent envelopes, newest first.
pub(super) async fn sent(args: SentArgs, config_folder: &Path) -> Result<(), ShellError> {
    let SentArgs { recipient, thread, since, until, limit, call } = args;
    let service = ProfileClient::open(&call.profile, config_folder)?;
    let filter = SentFilter { recipient, thread, since, until };
    let newest = service.client.sent(&filter, limit.clamp(1, PAGE_SIZE_MAX));
    let newest = newest.take(usize::try_from(limit).unwrap_or(usize::MAX));
    let newest: Vec<_> = newest.try_collect().await?;
    output::list(&newest, call.json, COLUMNS, sent_cells)?;
    service.store_session().await;
    Ok(())
}

fn sent_cells(sent: &ListedEnvelope) -> [String; 5] {
    let ListedEnvelope { envelope_id, recipient, sent_at, state, thread, .. } = sent;
    let thread = thread.as_deref().unwrap_or("-").to_owned();
    let [at, id, to] = [sent_at.to_string(), envelope_id.to_string(), recipient.to_string()];
    [at, id, to, state.as_str().to_owned(), thread]
}

/// Opens an envelope, and prints its message.
pub(super) async fn open(args: &EnvelopeArgs, config_folder: &Path) -> Result<(), ShellError> {
    let service = ProfileClient::open(&args.call.profile, config_folder)?;
    let opened = service.client.open(args.envelope_id).await?;
    if args.call.json {
        output::result(&opened, true)?;
    } else {
        output::message(&opened.message)?;
    }
    service.store_session().await;
    Ok(())
}

/// Requests the [evidence](sealpost_transparency::Evidence) about an envelope, and prints the evidence file. The file
/// proves with the transparency log what happened to the envelope.
pub(super) async fn evidence(args: &EnvelopeArgs, config_folder: &Path) -> Result<(), ShellError> {
    let service = ProfileClient::open(&args.call.profile, config_folder)?;
    let evidence = service.client.evidence(args.envelope_id).await?;
    if args.call.json {
        output::result(&evidence, true)?;
    } else {
        // `output::message` adds a line feed at the end.
        output::message(evidence.evidence.trim_end_matches('\n'))?;
    }
    service.store_session().await;
    Ok(())
}

const COLUMNS: [&str; 5] = ["sent_at", "envelope_id", "recipient", "state", "thread"];
const PAGE_SIZE_MAX: u32 = 100;
