//! `sealpost webhooks`: the webhooks of the profile's API key.

use std::{
    fs,
    path::{Path, PathBuf},
};

use futures_util::{StreamExt as _, TryStreamExt as _};
use sealpost_client::{
    ClientError, Delivery, NewWebhook, RecoverRequest, Registered, RotatedWebhookSecret,
    TestedWebhook, WebhookChanges, WebhookView,
};
use sealpost_domain::RELAY_URL;
use serde::Serialize;
use serde_json::json;

use super::{ProfileClient, stop_signal};
use crate::{
    cli::{
        CallArgs, ChangeArgs, RecoverArgs, RedeliverArgs, RegisterArgs, RotateSecretArgs,
        UpdateArgs, WebhookArgs, WebhooksCommand,
    },
    error::ShellError,
    output,
    profile::{create_private, fill, sync_folder_of},
};

pub(super) async fn run(command: WebhooksCommand, config_folder: &Path) -> Result<(), ShellError> {
    let service = ProfileClient::open(&call_args(&command).profile, config_folder)?;
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
            output::list(&newest, call.json, DELIVERY_COLUMNS, delivery_cells)?;
        }
        WebhooksCommand::Enable(WebhookArgs { webhook_id, call }) => {
            output::result(&webhooks.enable(webhook_id).await?, call.json)?;
        }
        WebhooksCommand::List { call } => {
            output::list(&webhooks.list().await?, call.json, WEBHOOK_COLUMNS, webhook_cells)?;
        }
        WebhooksCommand::Recover(RecoverArgs { webhook, since, until, dry_run }) => {
            let request = RecoverRequest { since, until, dry_run };
            let recovered = webhooks.recover(webhook.webhook_id, request).await?;
            output::result(&recovered, webhook.call.json)?;
        }
        WebhooksCommand::Redeliver(RedeliverArgs { webhook, event_id }) => {
            let redelivered = webhooks.redeliver(webhook.webhook_id, event_id).await?;
            output::result(&redelivered, webhook.call.json)?;
        }
        WebhooksCommand::Register(args) => {
            let RegisterArgs { url, relay: _, events, description, secret_file, call } = args;
            // If `url` is `None`, the user gave `--relay`, because clap requires one of the two.
            let webhook = NewWebhook {
                url: url.as_deref().unwrap_or(RELAY_URL),
                events: &events,
                description: description.as_deref(),
                skip_waiting: false,
            };
            let registered = webhooks.register_with(&webhook);
            make_secret(secret_file, call.json, registered, |made: &mut Registered| {
                &mut made.secret
            })
            .await?;
        }
        WebhooksCommand::RotateSecret(RotateSecretArgs { webhook, secret_file }) => {
            let rotated = webhooks.rotate_secret(webhook.webhook_id);
            let json = webhook.call.json;
            make_secret(secret_file, json, rotated, |made: &mut RotatedWebhookSecret| {
                &mut made.secret
            })
            .await?;
        }
        WebhooksCommand::Test(WebhookArgs { webhook_id, call }) => {
            let tested = webhooks.test(webhook_id).await?;
            output::result(&tested, call.json)?;
            service.store_session().await;
            return accepted(&tested);
        }
        WebhooksCommand::Update(UpdateArgs { webhook, changes }) => {
            let updated = webhooks.update(webhook.webhook_id, &changes_of(changes)).await?;
            output::result(&updated, webhook.call.json)?;
        }
    }
    service.store_session().await;
    Ok(())
}

/// Fails if the receiver did not accept the test event, so that the exit status is 1.
fn accepted(tested: &TestedWebhook) -> Result<(), ShellError> {
    if tested.outcome == "succeeded" {
        return Ok(());
    }
    let error = tested.error.as_deref().unwrap_or("no success");
    Err(ShellError::Invalid(format!("the receiver did not accept the test event: {error}")))
}

fn call_args(command: &WebhooksCommand) -> &CallArgs {
    match command {
        WebhooksCommand::Delete(webhook)
        | WebhooksCommand::Deliveries { webhook, .. }
        | WebhooksCommand::Enable(webhook)
        | WebhooksCommand::Recover(RecoverArgs { webhook, .. })
        | WebhooksCommand::Redeliver(RedeliverArgs { webhook, .. })
        | WebhooksCommand::RotateSecret(RotateSecretArgs { webhook, .. })
        | WebhooksCommand::Test(webhook)
        | WebhooksCommand::Update(UpdateArgs { webhook, .. }) => &webhook.call,
        WebhooksCommand::List { call } | WebhooksCommand::Register(RegisterArgs { call, .. }) => {
            call
        }
    }
}

/// Makes a call whose response contains a new secret, and prints the response.
///
/// With `file`, creates the file before the call, so that a wrong path changes nothing on the service. After the call,
/// writes the secret to the file, and prints the path instead of the secret. If the write fails, prints the secret,
/// because no later response shows it.
async fn make_secret<T: Serialize>(
    file: Option<PathBuf>,
    json: bool,
    call: impl Future<Output = Result<T, ClientError>>,
    secret_of: impl FnOnce(&mut T) -> &mut String,
) -> Result<(), ShellError> {
    let Some(file) = file else { return output::result(&call.await?, json) };
    let stop = stop_signal()?;
    let created = create_private(&file).map_err(ShellError::for_file(&file, "created"))?;
    let called = tokio::select! {
        response = call => response.map_err(ShellError::from),
        () = stop => Err(ShellError::Interrupted),
    };
    let mut response = called.inspect_err(|_failed| drop(fs::remove_file(&file)))?;
    let secret = secret_of(&mut response);
    let filled = fill(created, format!("{secret}\n").as_bytes());
    let filled = filled.and_then(|()| sync_folder_of(&file));
    if filled.is_ok() {
        *secret = format!("in {}", file.display());
    }
    output::result(&response, json)?;
    filled.map_err(ShellError::for_file(&file, "written"))
}

fn changes_of(changes: ChangeArgs) -> WebhookChanges {
    let ChangeArgs { url, events, description, pause, resume } = changes;
    WebhookChanges {
        url,
        events: (!events.is_empty()).then_some(events),
        description: description.map(|text| (!text.is_empty()).then_some(text)),
        paused: (pause || resume).then_some(pause),
    }
}

fn webhook_cells(webhook: &WebhookView) -> [String; 4] {
    let WebhookView { webhook_id, status, paused, url, events, .. } = webhook;
    let paused = if *paused { ",paused" } else { "" };
    let status = format!("{}{paused}", status.as_str());
    [webhook_id.to_string(), status, url.clone(), events.join(",")]
}

fn delivery_cells(delivery: &Delivery) -> [String; 5] {
    let Delivery { at, envelope_id, attempt, outcome, status_code, error, .. } = delivery;
    let reason = status_code.map(|status| status.to_string()).or_else(|| error.clone());
    let [at, attempt] = [at.to_string(), format!("attempt {attempt}")];
    [at, envelope_id.clone(), attempt, outcome.clone(), reason.unwrap_or_default()]
}

const DELIVERY_COLUMNS: [&str; 5] = ["at", "envelope_id", "attempt", "outcome", "reason"];
const WEBHOOK_COLUMNS: [&str; 4] = ["webhook_id", "status", "url", "events"];
const PAGE_SIZE_MAX: u32 = 100;
