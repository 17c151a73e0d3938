//! `sealpost webhooks`: the webhooks of the profile's API key.

use std::path::{Path, PathBuf};

use futures_util::{StreamExt as _, TryStreamExt as _};
use sealpost_client::{Delivery, Registered, WebhookView};
use serde_json::json;

use super::ProfileClient;
use crate::{
    cli::{CallArgs, WebhookArgs, WebhooksCommand},
    error::ShellError,
    output,
    profile::create_private,
};

pub(super) async fn run(command: WebhooksCommand, config_folder: &Path) -> Result<(), ShellError> {
    let service = ProfileClient::open(call_args(&command), config_folder)?;
    let webhooks = service.client.webhooks();
    match command {
        WebhooksCommand::Delete(WebhookArgs { webhook_id, call }) => {
            webhooks.delete(webhook_id).await?;
            output::result(&json!({"webhook_id": webhook_id, "deleted": true}), call.json)?;
        }
        WebhooksCommand::Deliveries { webhook: WebhookArgs { webhook_id, call }, limit } => {
            let page_size = limit.clamp(1, PAGE_SIZE_MAX);
            let newest = webhooks.deliveries(webhook_id, page_size);
            let newest = newest.take(usize::try_from(limit).unwrap_or(usize::MAX));
            let newest: Vec<_> = newest.try_collect().await?;
            output::list(&newest, call.json, delivery_line)?;
        }
        WebhooksCommand::List { call } => {
            output::list(&webhooks.list().await?, call.json, webhook_line)?;
        }
        WebhooksCommand::Register { url, events, secret_file, call } => {
            let registered = webhooks.register(&url, &events).await?;
            print_registered(&registered, secret_file, &call)?;
        }
        WebhooksCommand::Test(WebhookArgs { webhook_id, call }) => {
            output::result(&webhooks.test(webhook_id).await?, call.json)?;
        }
    }
    service.store_session().await
}

fn call_args(command: &WebhooksCommand) -> &CallArgs {
    match command {
        WebhooksCommand::Delete(webhook)
        | WebhooksCommand::Test(webhook)
        | WebhooksCommand::Deliveries { webhook, .. } => &webhook.call,
        WebhooksCommand::List { call } | WebhooksCommand::Register { call, .. } => call,
    }
}

/// Prints a new webhook. Prints its secret too, unless the secret was written to a file.
fn print_registered(
    registered: &Registered,
    secret_file: Option<PathBuf>,
    call: &CallArgs,
) -> Result<(), ShellError> {
    let Some(file) = secret_file else { return output::result(registered, call.json) };
    let written = create_private(&file, format!("{}\n", registered.secret).as_bytes());
    if let Err(source) = written {
        // The secret would be lost otherwise.
        output::result(registered, call.json)?;
        return Err(ShellError::File { file, action: "created", source });
    }
    let shown = Registered { secret: format!("in {}", file.display()), ..registered.clone() };
    output::result(&shown, call.json)
}

fn webhook_line(webhook: &WebhookView) -> String {
    let WebhookView { webhook_id, status, url, events, .. } = webhook;
    format!("{webhook_id} {} {url} {}", status.as_str(), events.join(","))
}

fn delivery_line(delivery: &Delivery) -> String {
    let Delivery { at, envelope_id, attempt, outcome, status_code, error, .. } = delivery;
    let reason = status_code.map(|status| status.to_string()).or_else(|| error.clone());
    format!("{at} {envelope_id} attempt {attempt} {outcome} {}", reason.unwrap_or_default())
}

const PAGE_SIZE_MAX: u32 = 100;
