//! Tools for sent messages: `list_sent` and `get_receipt`.

use futures_util::{StreamExt as _, TryStreamExt as _};
use rmcp::model::CallToolResult;
use schemars::JsonSchema;
use sealpost_client::{Client, SentFilter, Timestamp};
use serde::{Deserialize, Serialize};

use super::messages::envelope;
use crate::{error::ToolError, output::trusted};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListArgs {
    /// Only messages to this API key or handle.
    #[serde(default)]
    recipient: Option<String>,
    /// Only messages of this thread.
    #[serde(default)]
    thread: Option<String>,
    /// Only messages from this time on, such as 2027-01-31T12:00:00Z.
    #[serde(default)]
    since: Option<String>,
    /// Only messages before this time.
    #[serde(default)]
    until: Option<String>,
    /// Maximum number of messages.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 100))]
    limit: u32,
}

fn default_limit() -> u32 {
    20
}

/// Sent messages, newest first.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SentList {
    messages: Vec<ReceiptView>,
}

/// The state of a sent message.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ReceiptView {
    envelope_id: String,
    /// API key of the recipient.
    recipient: String,
    sent_at: String,
    /// `waiting`, `sent`, `notified`, `opened` or `bounced`.
    state: String,
    thread: Option<String>,
    reply_to: Option<String>,
    #[serde(rename = "type")]
    message_type: Option<String>,
    /// Time at which the recipient was notified, if known. Lists do not have it.
    notified_at: Option<String>,
    /// Time at which the recipient opened the message, if known. Lists do not have it.
    opened_at: Option<String>,
}

pub(crate) async fn list(client: &Client, args: ListArgs) -> Result<CallToolResult, ToolError> {
    let ListArgs { recipient, thread, since, until, limit } = args;
    if !(1..=LIMIT_MAX).contains(&limit) {
        return Err(ToolError::Arguments(format!("limit is 1 to {LIMIT_MAX}")));
    }
    let (since, until) = (time("since", since)?, time("until", until)?);
    let newest = client.sent(&SentFilter { recipient, thread, since, until }, limit);
    let newest = newest.take(usize::try_from(limit).unwrap_or(usize::MAX));
    let messages = newest.map_ok(|sent| ReceiptView {
        envelope_id: sent.envelope_id.to_string(),
        recipient: sent.recipient.to_string(),
        sent_at: sent.sent_at.to_string(),
        state: sent.state.as_str().to_owned(),
        thread: sent.thread,
        reply_to: sent.reply_to.map(|id| id.to_string()),
        message_type: sent.message_type,
        notified_at: None,
        opened_at: None,
    });
    Ok(trusted(&SentList { messages: messages.try_collect().await? }))
}

fn time(name: &str, text: Option<String>) -> Result<Option<Timestamp>, ToolError> {
    let advice =
        |_| ToolError::Arguments(format!("{name} is no time such as 2027-01-31T12:00:00Z"));
    text.map(|text| text.parse::<Timestamp>().map_err(advice)).transpose()
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReceiptArgs {
    /// Id of the sent message (env_…).
    envelope_id: String,
}

pub(crate) async fn receipt(
    client: &Client,
    args: ReceiptArgs,
) -> Result<CallToolResult, ToolError> {
    let receipt = client.receipt(envelope(&args.envelope_id)?).await?;
    Ok(trusted(&ReceiptView {
        envelope_id: receipt.envelope_id.to_string(),
        recipient: receipt.recipient.to_string(),
        sent_at: receipt.sent_at.to_string(),
        state: receipt.state.as_str().to_owned(),
        thread: receipt.thread,
        reply_to: receipt.reply_to.map(|id| id.to_string()),
        message_type: receipt.message_type,
        notified_at: receipt.notified_at.map(|time| time.to_string()),
        opened_at: receipt.opened_at.map(|time| time.to_string()),
    }))
}

const LIMIT_MAX: u32 = 100;
