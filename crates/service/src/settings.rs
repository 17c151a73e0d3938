//! Limits and durations of the use cases.

use std::time::Duration;

use sealpost_domain::{EventsVersion, Suite};

/// Limits and durations of the use cases. The defaults are those of the contract.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Maximum length of a message in bytes.
    pub message_bytes_max: usize,
    /// Maximum number of keys of an account, without revoked ones.
    pub keys_per_account_max: u32,
    /// Maximum number of webhooks of a key.
    pub webhooks_per_key_max: u32,
    /// Time for which a replaced signing secret still signs.
    pub secret_overlap: Duration,
    /// Maximum number of replaced secrets of a webhook that still sign.
    pub retiring_secrets_max: usize,
    /// Maximum number of deliveries that one request makes due again.
    pub recovered_max: u32,
    /// Maximum number of rows that one transaction of such a request changes. Sends wait for it meanwhile.
    pub rows_per_write: u32,
    /// Lifetime of a session.
    pub session_ttl: Duration,
    /// Lifetime of a badge.
    pub badge_ttl: Duration,
    /// Maximum number of valid badges of a key.
    pub badges_per_key_max: u32,
    /// Time for which envelopes and attempts are kept.
    pub retention: Duration,
    /// Time for which an idempotency key is kept.
    pub idempotency_ttl: Duration,
    /// The events that a new webhook can subscribe to. Set the same version on all nodes.
    pub events: EventsVersion,
    /// Interval of housekeeping.
    pub housekeeping_every: Duration,
    /// Maximum number of rows that one housekeeping transaction deletes.
    pub housekeeping_batch: u32,
    /// Sealing suite of new envelopes.
    pub suite: Suite,
    /// Lifetime of a channel in memory, on both sides. At most [`Settings::CHANNEL_LIFE_MAX`].
    pub channel_life: Duration,
    /// Maximum number of envelopes of a channel.
    pub channel_envelopes_max: u32,
    /// Maximum number of channels in memory, for each side.
    pub channels_cached_max: usize,
    /// Maximum number of sends that wait for a commit. More are refused as unavailable.
    pub queue_max: usize,
    /// Maximum bytes of envelopes that wait for a commit. More are refused as unavailable, but one envelope always fits.
    /// At most 4 GiB.
    pub queue_bytes_max: usize,
    /// Maximum number of sends of a commit.
    pub batch_max: usize,
    /// Maximum bytes of envelopes of a commit, unless one envelope is larger. Bounds the copies of the database driver.
    pub batch_bytes_max: usize,
    /// Maximum number of session look-ups that wait. More are refused as unavailable.
    pub session_lookups_waiting_max: usize,
    /// Maximum number of session look-ups of a statement.
    pub session_lookups_together_max: usize,
    /// Maximum tasks on the blocking pool. More wait for a thread.
    pub blocking_tasks_max: usize,
    /// Maximum number of cached keys, with their decrypted secrets.
    pub identities_cached_max: usize,
    /// Maximum number of cached sessions, of handles, and of rate limits.
    pub hints_cached_max: usize,
    /// Maximum time for which an unused key, session or handle stays cached, plus one interval of housekeeping. The
    /// minimum is half of it.
    pub cache_idle: Duration,
}

impl Settings {
    /// Maximum lifetime of a channel, whatever is set. Housekeeping keeps the row of a channel for this time after the
    /// retention of its envelopes.
    pub const CHANNEL_LIFE_MAX: Duration = Duration::from_hours(1);

    /// Time for which a send is replayed: no longer than its envelope is kept.
    pub(crate) fn idempotency_kept_for(&self) -> Duration {
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
            rows_per_write: 1000,
            session_ttl: Duration::from_hours(12),
            badge_ttl: Duration::from_hours(90 * 24),
            badges_per_key_max: 100,
            retention: Duration::from_hours(30 * 24),
            idempotency_ttl: Duration::from_hours(24),
            events: EventsVersion::default(),
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
            blocking_tasks_max: 512,
            identities_cached_max: 10_000,
            hints_cached_max: 100_000,
            cache_idle: Duration::from_mins(10),
        }
    }
}
