//! The bounds of the use cases.

use std::time::Duration;

use sealpost_domain::Suite;

/// Every bound that the use cases know. The defaults are the contract's.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Messages longer than this are refused.
    pub message_bytes_max: usize,
    /// Keys of one account that are not revoked.
    pub keys_per_account_max: u32,
    /// Webhooks of one key.
    pub webhooks_per_key_max: u32,
    /// How long a replaced signing secret signs along.
    pub secret_overlap: Duration,
    /// How many replaced secrets of one webhook sign along.
    pub retiring_secrets_max: usize,
    /// How many deliveries one request makes due, or one transaction of it where it goes on.
    pub recovered_max: u32,
    /// How long a session lasts.
    pub session_ttl: Duration,
    /// How long a badge holds.
    pub badge_ttl: Duration,
    /// Badges of one key that hold at once.
    pub badges_per_key_max: u32,
    /// How long envelopes and the log of attempts are kept.
    pub retention: Duration,
    /// How long an idempotent send is remembered.
    pub idempotency_ttl: Duration,
    /// How often what has had its time is deleted.
    pub housekeeping_every: Duration,
    /// How many rows are deleted at once, so that nobody waits long for it.
    pub housekeeping_batch: u32,
    /// How new envelopes are sealed.
    pub suite: Suite,
    /// How long envelopes are sealed under one channel, and an opened channel is remembered;
    /// [`Settings::CHANNEL_LIFE_MAX`] at the most.
    pub channel_life: Duration,
    /// Envelopes that are sealed under one channel.
    pub channel_envelopes_max: u32,
    /// Channels that are kept in memory of those that are sealed under, and as many of those that were opened.
    pub channels_cached_max: usize,
    /// Sends that may wait for a commit; more are refused as unavailable.
    pub queue_max: usize,
    /// Bytes of envelopes that may wait for a commit; more are refused as unavailable, but one may always wait.
    /// Past 4 GiB it is 4 GiB.
    pub queue_bytes_max: usize,
    /// Sends that share one commit at the most.
    pub batch_max: usize,
    /// Bytes of envelopes that share one commit at the most, unless one is larger: the database's driver copies them.
    pub batch_bytes_max: usize,
    /// Look-ups of sessions that may wait, of requests that are refused without a transaction; more are refused as
    /// unavailable.
    pub session_lookups_waiting_max: usize,
    /// Look-ups of sessions that share one statement at the most.
    pub session_lookups_together_max: usize,
    /// Identities kept decrypted in memory.
    pub identities_cached_max: usize,
    /// Sessions and handles remembered.
    pub hints_cached_max: usize,
    /// How long an unused identity, session or handle is remembered at the most, to a turn of housekeeping; half as
    /// long at the least.
    pub cache_idle: Duration,
}

impl Settings {
    /// No channel is sealed under for longer, whatever is set: its row is kept for as long after its last envelope may
    /// have gone, on whichever node it was sealed.
    pub const CHANNEL_LIFE_MAX: Duration = Duration::from_hours(1);

    /// How long an idempotent send can be answered again: it is worth as much as its envelope.
    pub(crate) fn remembered_for(&self) -> Duration {
        self.idempotency_ttl.min(self.retention)
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            message_bytes_max: 262_144,
            keys_per_account_max: 100,
            webhooks_per_key_max: 16,
            secret_overlap: Duration::from_hours(24),
            retiring_secrets_max: 4,
            recovered_max: 10_000,
            session_ttl: Duration::from_hours(12),
            badge_ttl: Duration::from_hours(90 * 24),
            badges_per_key_max: 100,
            retention: Duration::from_hours(30 * 24),
            idempotency_ttl: Duration::from_hours(24),
            housekeeping_every: Duration::from_mins(1),
            housekeeping_batch: 500,
            suite: Suite::default(),
            channel_life: Duration::from_mins(10),
            channel_envelopes_max: 10_000,
            channels_cached_max: 10_000,
            queue_max: 4096,
            queue_bytes_max: 67_108_864,
            batch_max: 256,
            batch_bytes_max: 4_194_304,
            session_lookups_waiting_max: 4096,
            session_lookups_together_max: 1024,
            identities_cached_max: 10_000,
            hints_cached_max: 100_000,
            cache_idle: Duration::from_mins(10),
        }
    }
}
