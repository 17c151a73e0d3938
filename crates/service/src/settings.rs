//! The limits and durations of the service.

use std::{path::PathBuf, time::Duration};

use sealpost_domain::{EventsVersion, ReservedHandles, Suite};

/// The clients that can open an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Activation {
    /// All clients.
    #[default]
    Open,
    /// Clients with an invite.
    Invite,
    /// No client. Existing accounts can still activate further identities.
    Closed,
}

/// The limits and durations of the service. The defaults are those of the API contract.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Maximum length of a message in bytes.
    pub message_bytes_max: usize,
    /// Maximum number of keys of an account. Revoked keys do not count.
    pub keys_per_account_max: u32,
    /// Maximum number of API tokens of an account. Expired tokens do not count.
    pub api_tokens_per_account_max: u32,
    /// The clients that can open an account.
    pub activation: Activation,
    /// Handles that only an operator can assign.
    pub reserved_handles: ReservedHandles,
    /// Maximum number of handles that revoked keys of an account keep reserved. An account that has reached this number
    /// can take no new handle.
    pub revoked_handles_max: u32,
    /// Maximum bytes of the stored envelopes that an account has sent, measured after sealing. `None` means no quota.
    pub account_bytes_max: Option<u64>,
    /// Maximum number of webhooks of a key.
    pub webhooks_per_key_max: u32,
    /// Maximum number of connections of one relay (a webhook whose receiver connects to the service), over all nodes.
    pub relays_per_webhook_max: u32,
    /// Maximum number of connections of relays to this node.
    pub relays_per_node_max: usize,
    /// The contact for larger limits: an `https:` or `mailto:` URL. Errors and pages about limits name this contact.
    /// `None` if there is none.
    pub sales_contact: Option<String>,
    /// Maximum number of keys in each list of a policy.
    pub policy_entries_max: u32,
    /// Time for which the service still signs with a replaced signing secret of a webhook.
    pub secret_overlap: Duration,
    /// Maximum number of replaced secrets of a webhook with which the service still signs.
    pub retiring_secrets_max: usize,
    /// Maximum number of deliveries that one request makes due, for example when it sends failed deliveries again.
    pub recovered_max: u32,
    /// Maximum number of rows that one transaction of a large request or transfer changes. Sends may wait for this
    /// transaction.
    pub rows_per_write: u32,
    /// Maximum number of waiting envelopes (envelopes that wait for a webhook) that a response counts for a key. If
    /// more wait, the response only states that there are more.
    pub waiting_counted_max: u32,
    /// Interval at which a node looks for waiting envelopes to transfer to a new webhook, and for other work that users
    /// wait for.
    pub waiting_transfer_every: Duration,
    /// Lifetime of a session.
    pub session_ttl: Duration,
    /// Lifetime of a badge.
    pub badge_ttl: Duration,
    /// Maximum number of valid badges of a key.
    pub badges_per_key_max: u32,
    /// Free bytes on the disk below which sends and activations are refused. Applies only to the embedded database.
    pub min_free_bytes: u64,
    /// Time for which envelopes and attempts are kept.
    pub retention: Duration,
    /// Time for which the activity of accounts is kept.
    pub activity_retention: Duration,
    /// Time for which an idempotency key is kept.
    pub idempotency_ttl: Duration,
    /// The events that a new webhook can name. All nodes, and the settings of their dispatchers, must have the same
    /// version.
    pub events: EventsVersion,
    /// Interval between runs of housekeeping.
    pub housekeeping_every: Duration,
    /// Name of this node in the list of nodes that operators see. `None` is shown as `unnamed`. The `sealpost` program
    /// sets the host name instead of `None`.
    pub node_name: Option<String>,
    /// The file that keeps the newest checkpoint (signed size and root hash) of the transparency log, outside the
    /// database. If a restored database lacks entries of this checkpoint, the node refuses to extend the log. The
    /// `sealpost` program sets a file in the data folder.
    pub checkpoint_file: Option<PathBuf>,
    /// Whether witnesses (other servers that check the log) cosign the transparency log, so that evidence waits for a
    /// cosignature. The `sealpost` program sets it if its settings name a witness.
    pub has_log_witnesses: bool,
    /// Maximum number of rows that one housekeeping transaction deletes.
    pub housekeeping_batch: u32,
    /// The cryptographic suite that seals new envelopes.
    pub suite: Suite,
    /// Maximum age of channel secrets in memory, for senders and recipients. A channel is a key encapsulation that many
    /// envelopes share. The effective maximum is never longer than [`Settings::CHANNEL_LIFE_MAX`].
    pub channel_life: Duration,
    /// Maximum number of envelopes of a channel (shared key encapsulation).
    pub channel_envelopes_max: u32,
    /// Maximum number of cached channels for sealing. The same maximum applies to cached channels for opening.
    pub channels_cached_max: usize,
    /// Maximum number of sends that wait for a commit. Further sends are refused as unavailable.
    pub queue_max: usize,
    /// Maximum bytes of envelopes that wait for a commit, at most 4 GiB. Further sends are refused as unavailable. If
    /// no envelope waits, an envelope of any size is accepted.
    pub queue_bytes_max: usize,
    /// Maximum number of sends in one commit.
    pub batch_max: usize,
    /// Maximum bytes of envelopes in one commit. A larger envelope is committed alone. The maximum bounds the memory
    /// for the copies that the database driver makes.
    pub batch_bytes_max: usize,
    /// Maximum number of waiting look-ups of bearer tokens. Further look-ups are refused as unavailable. The same
    /// maximum applies to look-ups of API keys.
    pub lookups_waiting_max: usize,
    /// Maximum number of look-ups in one database statement.
    pub lookups_together_max: usize,
    /// Maximum number of concurrent tasks on the blocking pool. Further tasks wait.
    pub blocking_tasks_max: usize,
    /// Maximum number of cached keys, each with its secrets. Each run of housekeeping compares these keys with the
    /// database, except revoked ones.
    pub identities_cached_max: usize,
    /// Maximum number of entries of each other cache: sessions and API tokens, handles, rate-limit refusals, and stored
    /// bytes of accounts.
    pub hints_cached_max: usize,
    /// Time after which an unused key, session, token or handle is evicted from the cache. Eviction runs twice in this
    /// time, so an entry may be evicted after half of this time, or slightly later than this time.
    pub cache_idle: Duration,
}

impl Settings {
    /// Maximum lifetime of a channel, even if [`Settings::channel_life`] is longer. The last envelope of a channel can
    /// be newer than the channel by up to this time. Therefore housekeeping keeps channels longer than envelopes by
    /// this time.
    pub const CHANNEL_LIFE_MAX: Duration = Duration::from_hours(1);

    /// Returns the time for which a repeated send gets the response to the first send, instead of being sent again.
    /// This time is `idempotency_ttl`, but never more than `retention`.
    pub(crate) fn idempotency_kept_for(&self) -> Duration {
        self.idempotency_ttl.min(self.retention)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            message_bytes_max: 262_144,
            keys_per_account_max: 100,
            api_tokens_per_account_max: 50,
            activation: Activation::default(),
            reserved_handles: ReservedHandles::default(),
            revoked_handles_max: 100,
            account_bytes_max: Some(10_737_418_240),
            webhooks_per_key_max: 16,
            relays_per_webhook_max: 4,
            relays_per_node_max: 1000,
            sales_contact: None,
            policy_entries_max: 1000,
            secret_overlap: Duration::from_hours(24),
            retiring_secrets_max: 4,
            recovered_max: 10_000,
            rows_per_write: 200,
            waiting_counted_max: 10_000,
            waiting_transfer_every: Duration::from_secs(1),
            session_ttl: Duration::from_hours(12),
            badge_ttl: Duration::from_hours(90 * 24),
            badges_per_key_max: 100,
            min_free_bytes: 134_217_728,
            retention: Duration::from_hours(30 * 24),
            activity_retention: Duration::from_hours(90 * 24),
            idempotency_ttl: Duration::from_hours(24),
            events: EventsVersion::default(),
            housekeeping_every: Duration::from_mins(1),
            node_name: None,
            checkpoint_file: None,
            has_log_witnesses: false,
            housekeeping_batch: 500,
            suite: Suite::default(),
            channel_life: Duration::from_mins(10),
            channel_envelopes_max: 10_000,
            channels_cached_max: 10_000,
            queue_max: 4096,
            queue_bytes_max: 67_108_864,
            batch_max: 256,
            batch_bytes_max: 4_194_304,
            lookups_waiting_max: 4096,
            lookups_together_max: 1024,
            blocking_tasks_max: 512,
            identities_cached_max: 100_000,
            hints_cached_max: 100_000,
            cache_idle: Duration::from_mins(10),
        }
    }
}
