//! The arguments of `sealpost webhooks`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use sealpost_client::{EventId, EventKind, Timestamp, WebhookId};

use super::CallArgs;

/// Commands for webhooks.
#[derive(Debug, Subcommand)]
pub enum WebhooksCommand {
    /// Delete a webhook and its deliveries
    Delete(WebhookArgs),
    /// List the newest delivery attempts of a webhook
    Deliveries {
        #[command(flatten)]
        webhook: WebhookArgs,
        /// Largest number of attempts
        #[arg(long, default_value_t = 20, value_name = "N")]
        limit: u32,
    },
    /// Enable a disabled webhook, and send its pending deliveries now
    Enable(WebhookArgs),
    /// List the webhooks of the API key
    List {
        #[command(flatten)]
        call: CallArgs,
    },
    /// Send again the events that were not delivered in a time range
    Recover(RecoverArgs),
    /// Send one event again now
    Redeliver(RedeliverArgs),
    /// Register a webhook, and print it with its secret
    Register(RegisterArgs),
    /// Replace the signing secret of a webhook, and print the new one
    ///
    /// For a day, the service signs with both the old and the new secret.
    RotateSecret(RotateSecretArgs),
    /// Send a test event now; fails if the receiver does not accept it
    Test(WebhookArgs),
    /// Change the URL, the events or the description of a webhook, or pause or resume it
    ///
    /// The secret and the log stay. All attempts from two seconds after the change on go to the new URL. A paused
    /// webhook gets nothing; its deliveries are kept until it is resumed or retention ends.
    Update(UpdateArgs),
}

/// The webhook of a command.
#[derive(Debug, Args)]
pub struct WebhookArgs {
    /// Id of the webhook
    #[arg(value_name = "WEBHOOK")]
    pub(crate) webhook_id: WebhookId,
    #[command(flatten)]
    pub(crate) call: CallArgs,
}

/// The arguments of `sealpost webhooks recover`.
#[derive(Debug, Args)]
pub struct RecoverArgs {
    #[command(flatten)]
    pub(crate) webhook: WebhookArgs,
    /// Start of the time range, such as 2027-01-31T12:00:00Z
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Timestamp,
    /// End of the time range; now if omitted
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<Timestamp>,
    /// Only count the deliveries
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// The arguments of `sealpost webhooks redeliver`.
#[derive(Debug, Args)]
pub struct RedeliverArgs {
    #[command(flatten)]
    pub(crate) webhook: WebhookArgs,
    /// Id of the envelope, or of another event (`evt_…`)
    #[arg(value_name = "EVENT")]
    pub(crate) event_id: EventId,
}

/// The arguments of `sealpost webhooks register`.
#[derive(Debug, Args)]
pub struct RegisterArgs {
    /// URL that gets the events
    #[arg(required_unless_present = "relay", conflicts_with = "relay")]
    pub(crate) url: Option<String>,
    /// Register the URL `relay:` instead; the receiver connects to the service, and needs no public address
    #[arg(long)]
    pub(crate) relay: bool,
    /// Kind of events; repeatable
    #[arg(long = "event", value_name = "KIND", default_value = "envelope.received", value_parser = event_kind)]
    pub(crate) events: Vec<EventKind>,
    /// Note of at most 200 characters
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// New file for the secret, readable only by its owner; then the secret is not printed
    #[arg(long, value_name = "FILE")]
    pub(crate) secret_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) call: CallArgs,
}

/// The arguments of `sealpost webhooks rotate-secret`.
#[derive(Debug, Args)]
pub struct RotateSecretArgs {
    #[command(flatten)]
    pub(crate) webhook: WebhookArgs,
    /// New file for the secret, readable only by its owner; then the secret is not printed
    #[arg(long, value_name = "FILE")]
    pub(crate) secret_file: Option<PathBuf>,
}

/// The arguments of `sealpost webhooks update`.
#[derive(Debug, Args)]
pub struct UpdateArgs {
    #[command(flatten)]
    pub(crate) webhook: WebhookArgs,
    #[command(flatten)]
    pub(crate) changes: ChangeArgs,
}

/// The changes of a webhook, at least one.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub(crate) struct ChangeArgs {
    /// New URL
    #[arg(long)]
    pub(crate) url: Option<String>,
    /// Kind of events that replaces the present ones; repeatable
    #[arg(long = "event", value_name = "KIND", value_parser = event_kind)]
    pub(crate) events: Vec<EventKind>,
    /// Note of at most 200 characters; an empty text removes the note
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// Pause the webhook
    #[arg(long, conflicts_with = "resume")]
    pub(crate) pause: bool,
    /// Resume the webhook, and send its pending deliveries now
    #[arg(long)]
    pub(crate) resume: bool,
}

fn event_kind(name: &str) -> Result<EventKind, String> {
    EventKind::from_name(name).ok_or_else(|| {
        let known: Vec<_> = EventKind::ALL.into_iter().map(EventKind::as_str).collect();
        format!("give one of {}", known.join(", "))
    })
}
