//! The settings of a node, from the command line. Each argument is named, so that a new one does not compile until it
//! is handed over.

use std::path::Path;

use sealpost_domain::Suite;
use sealpost_node::{
    DatabaseSettings, HttpSettings, KekSettings, Settings, WebhookSettings, tls::TlsFiles,
};
use zeroize::Zeroizing;

use crate::cli::{
    ChannelArgs, DatabaseArgs, HttpArgs, OpsListen, ServeArgs, ServiceArgs, SuiteName, WebhookArgs,
};

impl From<&ServeArgs> for Settings {
    fn from(args: &ServeArgs) -> Self {
        let ServeArgs {
            database,
            http,
            service,
            channel,
            webhooks,
            migrate,
            kek_file,
            kek_variable,
            dev,
            log: _,
            log_format: _,
        } = args;
        let text = kek_variable.then(kek_from_environment).flatten();
        Self {
            database: database.into(),
            http: http.into(),
            service: service_settings(service, channel),
            webhooks: webhooks.into(),
            kek: KekSettings { file: kek_file.clone(), text },
            circuits: service.circuits.clone(),
            migrate: *migrate,
            dev: *dev,
        }
    }
}

impl From<&DatabaseArgs> for DatabaseSettings {
    fn from(args: &DatabaseArgs) -> Self {
        let DatabaseArgs { data_dir, database_url, database_pool } = args;
        Self { data_dir: data_dir.clone(), url: database_url.clone(), pool_max: *database_pool }
    }
}

impl From<&HttpArgs> for HttpSettings {
    fn from(args: &HttpArgs) -> Self {
        let HttpArgs {
            listen,
            ops_listen,
            base_url,
            tls_cert,
            tls_key,
            behind_tls_proxy,
            trusted_proxies,
            activations_per_minute,
            logins_per_minute,
            account_changes_per_minute,
            dashboard_per_minute,
            workers,
            max_connections,
            max_body_bytes,
            body_memory,
            body_timeout,
            connection_timeout,
        } = args;
        let files = tls_cert.clone().zip(tls_key.clone());
        Self {
            listen: *listen,
            ops_listen: match ops_listen {
                OpsListen::At(address) => Some(*address),
                OpsListen::Off => None,
            },
            base_url: base_url.clone(),
            tls: files.map(|(chain, key)| TlsFiles { chain, key }),
            behind_tls_proxy: *behind_tls_proxy,
            trusted_proxies: trusted_proxies.clone(),
            activations_per_minute: *activations_per_minute,
            logins_per_minute: *logins_per_minute,
            account_changes_per_minute: *account_changes_per_minute,
            dashboard_per_minute: *dashboard_per_minute,
            workers: *workers,
            max_connections: *max_connections,
            max_body_bytes: *max_body_bytes,
            body_memory: *body_memory,
            body_timeout: *body_timeout,
            connection_timeout: *connection_timeout,
        }
    }
}

impl From<&WebhookArgs> for WebhookSettings {
    fn from(args: &WebhookArgs) -> Self {
        let WebhookArgs {
            retry_schedule,
            timeout,
            lease,
            queue,
            in_flight,
            in_flight_per_target,
            breaker_failures,
            probe_pause_max,
            extra_roots,
        } = args;
        let mut settings = Self { extra_roots: extra_roots.clone(), ..Self::default() };
        let dispatcher = &mut settings.dispatcher;
        dispatcher.schedule = retry_schedule.clone();
        dispatcher.timeout = *timeout;
        dispatcher.lease = *lease;
        dispatcher.queue_max = *queue;
        dispatcher.in_flight_max = *in_flight;
        dispatcher.in_flight_per_target = *in_flight_per_target;
        dispatcher.breaker_failures = *breaker_failures;
        dispatcher.probe_pause_max = *probe_pause_max;
        settings
    }
}

fn service_settings(args: &ServiceArgs, channel: &ChannelArgs) -> sealpost_service::Settings {
    let ServiceArgs {
        max_message_bytes,
        max_keys_per_account,
        session_ttl,
        webhook_secret_overlap,
        retention,
        idempotency_ttl,
        badge_ttl,
        circuits: _,
        suite,
        queue,
        queue_bytes,
        batch,
        batch_bytes,
        identities_cached,
    } = args;
    let ChannelArgs { life, envelopes, channels_cached } = channel;
    sealpost_service::Settings {
        message_bytes_max: *max_message_bytes,
        keys_per_account_max: *max_keys_per_account,
        session_ttl: *session_ttl,
        secret_overlap: *webhook_secret_overlap,
        badge_ttl: *badge_ttl,
        retention: *retention,
        idempotency_ttl: *idempotency_ttl,
        suite: (*suite).into(),
        channel_life: *life,
        channel_envelopes_max: *envelopes,
        channels_cached_max: *channels_cached,
        queue_max: *queue,
        queue_bytes_max: *queue_bytes,
        batch_max: *batch,
        batch_bytes_max: *batch_bytes,
        identities_cached_max: *identities_cached,
        ..sealpost_service::Settings::default()
    }
}

/// The keys that an operator's command uses.
pub(crate) fn kek_settings(file: Option<&Path>) -> KekSettings {
    KekSettings { file: file.map(Path::to_owned), text: kek_from_environment() }
}

/// The keys that stand in the environment themselves.
#[expect(clippy::disallowed_methods, reason = "this is the command line's side of the house")]
pub(crate) fn kek_from_environment() -> Option<Zeroizing<String>> {
    std::env::var("SEALPOST_KEK").ok().filter(|text| !text.is_empty()).map(Zeroizing::new)
}

impl From<SuiteName> for Suite {
    fn from(name: SuiteName) -> Self {
        match name {
            SuiteName::Channel => Self::Channel,
            SuiteName::Classic => Self::Classic,
            SuiteName::Hybrid => Self::Hybrid,
        }
    }
}

impl From<Suite> for SuiteName {
    fn from(suite: Suite) -> Self {
        match suite {
            Suite::Channel => Self::Channel,
            Suite::Classic => Self::Classic,
            Suite::Hybrid => Self::Hybrid,
        }
    }
}
