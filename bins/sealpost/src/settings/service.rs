//! Command-line settings of the service: limits, lifetimes, envelope queue, caches, and channels.

use clap::{Args, ValueEnum};
use sealpost_domain::{EventsVersion, Suite};
use sealpost_node::settings::{Activation, ServiceSettings};

use super::values::{Size, Span, positive, positive_size};

/// The limits, lifetimes, queues and caches of the service.
#[derive(Args, Clone)]
#[command(next_help_heading = "Accounts")]
pub(super) struct ServiceArgs {
    /// Largest message; its request must also fit into --max-body-bytes
    #[arg(
        long,
        env = "SEALPOST_MAX_MESSAGE_BYTES",
        help_heading = "Messages",
        default_value_t = Size(ServiceSettings::default().message_bytes_max),
        value_name = "SIZE"
    )]
    max_message_bytes: Size<usize>,
    /// Largest number of keys per account, without revoked keys
    #[arg(
        long,
        env = "SEALPOST_MAX_KEYS_PER_ACCOUNT",
        default_value_t = ServiceSettings::default().keys_per_account_max,
        value_name = "N"
    )]
    max_keys_per_account: u32,
    /// Largest number of API tokens per account, without expired tokens
    #[arg(
        long,
        env = "SEALPOST_MAX_API_TOKENS_PER_ACCOUNT",
        default_value_t = ServiceSettings::default().api_tokens_per_account_max,
        value_name = "N"
    )]
    max_api_tokens_per_account: u32,
    /// Largest number of connections of relays (webhooks with the url `relay:`) to this node
    #[arg(
        long,
        env = "SEALPOST_MAX_RELAYS",
        help_heading = "Webhooks",
        default_value_t = ServiceSettings::default().relays_per_node_max,
        value_name = "N"
    )]
    max_relays: usize,
    /// Clients that can open accounts: all, only those with an invite of `sealpost admin invite create`, or none.
    /// Existing accounts can always activate further identities
    #[arg(
        long,
        env = "SEALPOST_ACTIVATION",
        value_enum,
        default_value_t = ActivationName::from(ServiceSettings::default().activation)
    )]
    activation: ActivationName,
    /// Largest number of handles that the revoked keys of an account reserve; at this number, the account can take no
    /// new handle; 0 allows no handles
    #[arg(
        long,
        env = "SEALPOST_MAX_REVOKED_HANDLES",
        default_value_t = ServiceSettings::default().revoked_handles_max,
        value_name = "N"
    )]
    max_revoked_handles: u32,
    /// Quota of each account for the sealed bytes of the stored envelopes that it has sent; 0 turns the quota off
    #[arg(
        long,
        env = "SEALPOST_STORED_BYTES_PER_ACCOUNT",
        default_value_t = Size(ServiceSettings::default().account_bytes_max.unwrap_or(0)),
        value_name = "SIZE"
    )]
    stored_bytes_per_account: Size<u64>,
    /// Free bytes on the disk of the embedded database, below which sends and activations get 503; other requests
    /// continue. Not for PostgreSQL
    #[arg(
        long,
        env = "SEALPOST_MIN_FREE_BYTES",
        help_heading = "Commits and memory",
        default_value_t = Size(ServiceSettings::default().min_free_bytes),
        value_name = "SIZE"
    )]
    min_free_bytes: Size<u64>,
    /// Lifetime of a session
    #[arg(
        long,
        env = "SEALPOST_SESSION_TTL",
        default_value_t = Span(ServiceSettings::default().session_ttl),
        value_name = "SPAN"
    )]
    session_ttl: Span,
    /// Time for which a replaced webhook secret still signs, beside the new secret
    #[arg(
        long,
        env = "SEALPOST_WEBHOOK_SECRET_OVERLAP",
        help_heading = "Webhooks",
        default_value_t = Span(ServiceSettings::default().secret_overlap),
        value_name = "SPAN"
    )]
    webhook_secret_overlap: Span,
    /// Events that a new webhook can name. v1.1 adds all but envelope.received. Set the same version on all nodes
    #[arg(
        long,
        env = "SEALPOST_EVENTS",
        help_heading = "Webhooks",
        value_enum,
        default_value_t = EventsName::from(ServiceSettings::default().events)
    )]
    events: EventsName,
    /// Time for which envelopes, other events and the outcomes of their deliveries are kept
    #[arg(
        long,
        env = "SEALPOST_RETENTION",
        help_heading = "Retention",
        default_value_t = Span(ServiceSettings::default().retention),
        value_name = "SPAN"
    )]
    retention: Span,
    /// Time for which the activity of accounts is kept
    #[arg(
        long,
        env = "SEALPOST_ACTIVITY_RETENTION",
        help_heading = "Retention",
        default_value_t = Span(ServiceSettings::default().activity_retention),
        value_name = "SPAN"
    )]
    activity_retention: Span,
    /// Time for which an Idempotency-Key is kept; at most `--retention`
    #[arg(
        long,
        env = "SEALPOST_IDEMPOTENCY_TTL",
        help_heading = "Retention",
        default_value_t = Span(ServiceSettings::default().idempotency_ttl),
        value_name = "SPAN"
    )]
    idempotency_ttl: Span,
    /// Lifetime of a badge, at most 10 years
    #[arg(
        long,
        env = "SEALPOST_BADGE_TTL",
        help_heading = "Badges",
        default_value_t = Span(ServiceSettings::default().badge_ttl),
        value_name = "SPAN",
        value_parser = badge_ttl
    )]
    badge_ttl: Span,
    /// Cryptographic suite that seals new envelopes; envelopes of every suite can be opened
    #[arg(
        long,
        env = "SEALPOST_SUITE",
        help_heading = "Messages",
        value_enum,
        default_value_t = SuiteName::from(ServiceSettings::default().suite)
    )]
    suite: SuiteName,
    /// Largest number of requests that wait for a commit; further ones get 503. A send-batch is one request
    #[arg(
        long,
        env = "SEALPOST_QUEUE",
        help_heading = "Commits and memory",
        default_value_t = ServiceSettings::default().queue_max,
        value_name = "N",
        value_parser = positive
    )]
    queue: usize,
    /// Memory for envelopes that wait for a commit; further sends get 503, but one envelope can always wait
    #[arg(
        long,
        env = "SEALPOST_QUEUE_BYTES",
        help_heading = "Commits and memory",
        default_value_t = Size(ServiceSettings::default().queue_bytes_max),
        value_name = "SIZE",
        value_parser = positive_size
    )]
    queue_bytes: Size<usize>,
    /// Largest number of messages that one commit stores together. A send-batch is stored together, also above this
    #[arg(
        long,
        env = "SEALPOST_BATCH",
        help_heading = "Commits and memory",
        default_value_t = ServiceSettings::default().batch_max,
        value_name = "N",
        value_parser = positive
    )]
    batch: usize,
    /// Largest total size of the envelopes in one commit; a larger envelope gets its own commit
    #[arg(
        long,
        env = "SEALPOST_BATCH_BYTES",
        help_heading = "Commits and memory",
        default_value_t = Size(ServiceSettings::default().batch_bytes_max),
        value_name = "SIZE",
        value_parser = positive_size
    )]
    batch_bytes: Size<usize>,
    /// Largest number of API keys in memory, with their identities, policies and webhooks; each takes about 3.3 KB
    #[arg(
        long,
        env = "SEALPOST_IDENTITIES_CACHED",
        help_heading = "Commits and memory",
        default_value_t = ServiceSettings::default().identities_cached_max,
        value_name = "N"
    )]
    identities_cached: usize,
}

/// The settings of the suite `channel`, which uses one key encapsulation for many envelopes.
#[derive(Args, Clone)]
#[command(next_help_heading = "Channels (--suite channel)")]
pub(super) struct ChannelArgs {
    /// Time for which a channel seals envelopes, at most an hour; then a new key encapsulation begins a new channel
    #[arg(
        long = "channel-life",
        env = "SEALPOST_CHANNEL_LIFE",
        default_value_t = Span(ServiceSettings::default().channel_life),
        value_name = "SPAN",
        value_parser = channel_life
    )]
    life: Span,
    /// Largest number of envelopes per channel
    #[arg(
        long = "channel-envelopes",
        env = "SEALPOST_CHANNEL_ENVELOPES",
        default_value_t = ServiceSettings::default().channel_envelopes_max,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000)
    )]
    envelopes: u32,
    /// Largest number of channels in memory, separately for sealing and for opening
    #[arg(
        long,
        env = "SEALPOST_CHANNELS_CACHED",
        default_value_t = ServiceSettings::default().channels_cached_max,
        value_name = "N",
        value_parser = positive
    )]
    channels_cached: usize,
}

/// Defines enums for the command line. Each enum has the variants of another enum, and converts from and to that enum.
macro_rules! argument_values {
    ($(
        $(#[$doc:meta])*
        enum $name:ident for $of:ident {
            $($(#[$variant_doc:meta])* $variant:ident,)+
        }
    )+) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, ValueEnum)]
        enum $name {
            $($(#[$variant_doc])* $variant,)+
        }

        impl From<$name> for $of {
            fn from(name: $name) -> Self {
                match name {
                    $($name::$variant => Self::$variant,)+
                }
            }
        }

        impl From<$of> for $name {
            fn from(value: $of) -> Self {
                match value {
                    $($of::$variant => Self::$variant,)+
                }
            }
        }
    )+};
}

argument_values! {
    /// The conditions for opening an account, as written on the command line.
    enum ActivationName for Activation {
        /// Only existing accounts activate identities
        Closed,
        /// A new account needs an invite
        Invite,
        /// Every client can open an account
        Open,
    }

    /// The versions of the set of events that a webhook can name, as written on the command line.
    enum EventsName for EventsVersion {
        /// Only the event envelope.received
        #[value(name = "v1.0")]
        V1_0,
        /// All events: envelope.received, envelope.bounced, identity.rotated, usage.threshold, webhook.failing and
        /// webhook.disabled
        #[value(name = "v1.1")]
        V1_1,
    }

    /// The cryptographic suites for sealing, as written on the command line.
    enum SuiteName for Suite {
        /// X-Wing, one encapsulation for many envelopes of a sender and a recipient
        Channel,
        /// X25519, without protection against quantum computers
        Classic,
        /// X-Wing: X25519 and ML-KEM-768
        Hybrid,
    }
}

impl ServiceArgs {
    /// Combines the arguments into the settings of the service. Settings without a flag keep their defaults.
    pub(super) fn settings(
        &self,
        ChannelArgs { life, envelopes, channels_cached }: &ChannelArgs,
    ) -> ServiceSettings {
        let defaults = ServiceSettings::default();
        ServiceSettings {
            message_bytes_max: self.max_message_bytes.0,
            keys_per_account_max: self.max_keys_per_account,
            api_tokens_per_account_max: self.max_api_tokens_per_account,
            relays_per_node_max: self.max_relays,
            activation: self.activation.into(),
            revoked_handles_max: self.max_revoked_handles,
            account_bytes_max: Some(self.stored_bytes_per_account.0).filter(|bytes| *bytes > 0),
            min_free_bytes: self.min_free_bytes.0,
            session_ttl: self.session_ttl.0,
            secret_overlap: self.webhook_secret_overlap.0,
            badge_ttl: self.badge_ttl.0,
            events: self.events.into(),
            retention: self.retention.0,
            activity_retention: self.activity_retention.0,
            idempotency_ttl: self.idempotency_ttl.0,
            suite: self.suite.into(),
            channel_life: life.0,
            channel_envelopes_max: *envelopes,
            channels_cached_max: *channels_cached,
            queue_max: self.queue,
            queue_bytes_max: self.queue_bytes.0,
            batch_max: self.batch,
            batch_bytes_max: self.batch_bytes.0,
            identities_cached_max: self.identities_cached,
            // The caller sets `sales_contact`, and the node `reserved_handles`, `node_name`, `checkpoint_file` and
            // `has_log_witnesses`. The fields below have no flag here, and keep their defaults.
            reserved_handles: defaults.reserved_handles,
            blocking_tasks_max: defaults.blocking_tasks_max,
            webhooks_per_key_max: defaults.webhooks_per_key_max,
            relays_per_webhook_max: defaults.relays_per_webhook_max,
            sales_contact: defaults.sales_contact,
            policy_entries_max: defaults.policy_entries_max,
            retiring_secrets_max: defaults.retiring_secrets_max,
            recovered_max: defaults.recovered_max,
            rows_per_write: defaults.rows_per_write,
            waiting_counted_max: defaults.waiting_counted_max,
            waiting_transfer_every: defaults.waiting_transfer_every,
            badges_per_key_max: defaults.badges_per_key_max,
            housekeeping_every: defaults.housekeeping_every,
            node_name: defaults.node_name,
            checkpoint_file: defaults.checkpoint_file,
            has_log_witnesses: defaults.has_log_witnesses,
            housekeeping_batch: defaults.housekeeping_batch,
            lookups_waiting_max: defaults.lookups_waiting_max,
            lookups_together_max: defaults.lookups_together_max,
            hints_cached_max: defaults.hints_cached_max,
            cache_idle: defaults.cache_idle,
        }
    }
}

fn badge_ttl(text: &str) -> Result<Span, String> {
    match text.parse() {
        Ok(span @ Span(ttl)) if (BADGE_TTL_MIN..=BADGE_TTL_MAX).contains(&ttl) => Ok(span),
        _ => Err("give a span from 1s to 3650d, such as 90d".to_owned()),
    }
}

fn channel_life(text: &str) -> Result<Span, String> {
    match text.parse() {
        Ok(span @ Span(life)) if !life.is_zero() && life <= ServiceSettings::CHANNEL_LIFE_MAX => {
            Ok(span)
        }
        _ => Err("give a span of at most an hour, such as 10m".to_owned()),
    }
}

const BADGE_TTL_MIN: std::time::Duration = std::time::Duration::from_secs(1);
const BADGE_TTL_MAX: std::time::Duration = std::time::Duration::from_hours(3650 * 24);
