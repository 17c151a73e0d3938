//! Command-line flags and environment variables for all settings of a server.
//!
//! The defaults come from the settings types of the library crates. The conversions into these types name every field,
//! so that the compiler rejects a forgotten setting.

mod api;
mod console;
mod database;
mod http;
mod keks;
mod service;
mod values;
mod webhooks;

use std::path::PathBuf;

use clap::{
    ArgAction, Args, ValueEnum,
    builder::{BoolishValueParser, NonEmptyStringValueParser},
};
use sealpost_node::{
    LogWitness,
    settings::{DatabaseSettings, JournalRetention, ServiceSettings, Settings},
};
use sealpost_transparency::VerifierKey;

use self::{
    api::{ApiArgs, WebArgs},
    console::ConsoleArgs,
    http::HttpArgs,
    service::{ChannelArgs, ServiceArgs},
    values::http_url,
    webhooks::WebhookArgs,
};
use crate::command_error::CommandError;

pub(crate) use self::{
    database::DatabaseArgs,
    keks::{KekArgs, ProviderArgs, WAIT},
    values::Span,
};

/// The flags of `sealpost serve`: all settings of a server.
#[derive(Args, Clone)]
pub(crate) struct ServeArgs {
    #[command(flatten, next_help_heading = "Database")]
    pub(crate) database: DatabaseArgs,
    #[command(flatten)]
    http: HttpArgs,
    #[command(flatten)]
    api: ApiArgs,
    #[command(flatten)]
    web: WebArgs,
    #[command(flatten)]
    console: ConsoleArgs,
    #[command(flatten)]
    service: ServiceArgs,
    #[command(flatten)]
    channel: ChannelArgs,
    #[command(flatten)]
    webhooks: WebhookArgs,
    /// File of compliance circuits, the sets of checks of each jurisdiction, reloaded by SIGHUP; if omitted, a built-in
    /// file
    #[arg(long, env = "SEALPOST_CIRCUITS", value_name = "FILE", help_heading = "Badges")]
    circuits: Option<PathBuf>,
    /// File of reserved handles (names of keys), one per line, which only `sealpost admin handle assign` can give to a
    /// key; if omitted, a built-in list of names such as admin and support
    #[arg(long, env = "SEALPOST_RESERVED_HANDLES", value_name = "FILE", help_heading = "Accounts")]
    reserved_handles: Option<PathBuf>,
    /// How long the revocation journal keeps revocations: at least the age of the oldest backup that you would restore
    #[arg(long, env = "SEALPOST_JOURNAL_RETENTION", default_value_t = Span(JournalRetention::default().0),
          value_name = "SPAN", help_heading = "Retention")]
    journal_retention: Span,
    /// Witness that cosigns the transparency log: its public key (Ed25519 or ML-DSA-44), a space and its URL;
    /// repeatable
    #[arg(long = "log-witness", env = "SEALPOST_LOG_WITNESS", value_name = "KEY URL", value_delimiter = ',',
          value_parser = log_witness, help_heading = "Transparency log")]
    log_witnesses: Vec<LogWitness>,
    /// Migrate an outdated PostgreSQL database at start (the embedded database is always migrated)
    #[arg(long, env = "SEALPOST_MIGRATE", value_parser = BoolishValueParser::new(), help_heading = "Database")]
    migrate: bool,
    #[command(flatten, next_help_heading = "Key-encryption keys")]
    keks: KekArgs,
    #[command(flatten)]
    provider: ProviderArgs,
    /// Development mode, on loopback only: webhooks may use http and loopback addresses, and logs are text
    #[arg(long, env = "SEALPOST_DEV", value_parser = BoolishValueParser::new(), help_heading = "Development")]
    pub(crate) dev: bool,
    /// Log filter: error, warn, info, debug, trace, or a list such as `info,access=debug`, which adds a line for each
    /// request
    #[arg(long, env = "SEALPOST_LOG", default_value = "info", value_name = "FILTER",
          value_parser = NonEmptyStringValueParser::new(), help_heading = LOGS)]
    pub(crate) log: String,
    /// Base URL of a collector, such as `http://127.0.0.1:4318`, to export spans of requests, commits and webhook
    /// attempts by OTLP over HTTP; needs a build with the feature otlp, which published builds have
    #[arg(long, env = "SEALPOST_OTLP_ENDPOINT", value_name = "URL", value_parser = http_url, help_heading = LOGS)]
    pub(crate) otlp_endpoint: Option<String>,
    /// Log format; text with --dev, otherwise json
    #[arg(long, env = "SEALPOST_LOG_FORMAT", value_enum, value_name = "FORMAT", help_heading = LOGS)]
    log_format: Option<LogFormat>,
    /// Print help with all settings
    #[arg(long, action = ArgAction::HelpLong)]
    help_all: Option<bool>,
}

const LOGS: &str = "Logs and spans";

/// The format of the log.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// One JSON object per line
    Json,
    /// Lines of text
    Text,
}

impl ServeArgs {
    /// Returns the selected log format. The default is text in development mode, and otherwise JSON.
    pub(crate) fn log_format(&self) -> LogFormat {
        self.log_format.unwrap_or(if self.dev { LogFormat::Text } else { LogFormat::Json })
    }
}

/// Parses the public key and the URL of a witness.
fn log_witness(text: &str) -> Result<LogWitness, String> {
    let (key, url) = text.split_once(' ').ok_or("give the key, a space and the URL")?;
    let key = VerifierKey::parse(key).map_err(|fault| fault.to_string())?;
    if !key.signature_type().is_of_witness() {
        return Err("this is the key of a log, not of a witness".to_owned());
    }
    Ok(LogWitness { key, url: http_url(url)? })
}

impl TryFrom<&ServeArgs> for Settings {
    type Error = CommandError;

    fn try_from(args: &ServeArgs) -> Result<Self, CommandError> {
        let ServeArgs {
            database,
            http,
            api,
            web,
            console,
            service,
            channel,
            webhooks,
            circuits,
            reserved_handles,
            journal_retention,
            log_witnesses,
            migrate,
            keks,
            provider,
            dev,
            log: _,
            otlp_endpoint: _,
            log_format: _,
            help_all: _,
        } = args;
        let service = ServiceSettings {
            sales_contact: web.sales_contact.clone(),
            ..service.settings(channel)
        };
        let mut database = DatabaseSettings::from(database);
        database.storage.keys_cached_max = service.identities_cached_max;
        Ok(Self {
            database,
            http: http.into(),
            api: api.into(),
            web: web.into(),
            console: console.into(),
            service,
            webhooks: webhooks.into(),
            keys: provider.settings(keks.for_server()?),
            circuits: circuits.clone(),
            reserved_handles: reserved_handles.clone(),
            log_witnesses: log_witnesses.clone(),
            journal_retention: JournalRetention(journal_retention.0),
            migrate: *migrate,
            dev: *dev,
        })
    }
}

#[cfg(test)]
mod tests {
    use sealpost_transparency::SignatureType;

    use super::*;

    #[test]
    fn the_url_of_a_witness_has_no_user_query_and_fragment() {
        let key = VerifierKey::new("witness.example", SignatureType::Cosignature, &[7; 32]);
        let key = key.unwrap();
        let read = |url: &str| log_witness(&format!("{key} {url}"));
        for url in ["https://witness.example", "http://127.0.0.1:8091/a/"] {
            assert_eq!(read(url), Ok(LogWitness { key: key.clone(), url: url.to_owned() }));
        }
        for url in [
            "ftp://witness.example",
            "https://user:secret@witness.example",
            "https://witness.example/?key=secret",
            "https://witness.example/#secret",
        ] {
            let fault = read(url).unwrap_err();
            assert!(!fault.contains("secret"), "{fault}");
        }
    }
}
