//! Settings that only make sense together, checked before anything starts.

use std::path::{Path, PathBuf};

use zeroize::Zeroizing;

use crate::{
    error::{Failure, NodeError},
    kek::KekSource,
    settings::{HttpSettings, KekSettings, Settings},
};

/// Outside loopback nothing is served in the clear, and nothing leads to loopback.
pub fn check_listen(settings: &Settings) -> Result<(), NodeError> {
    let http = &settings.http;
    // The command line would take a variable that says no for a word that was given.
    if http.behind_tls_proxy && http.tls.is_some() {
        return Err(NodeError::Contradiction(Failure::new(
            "give either --tls-cert or --behind-tls-proxy, not both",
        )));
    }
    if http.listen.ip().is_loopback() {
        return Ok(());
    }
    if settings.dev {
        return Err(NodeError::Setting(Failure::new(
            "--dev is for loopback only; leave it out or listen on 127.0.0.1",
        )));
    }
    if http.tls.is_none() && !http.behind_tls_proxy {
        return Err(NodeError::Setting(Failure::new(format!(
            "{} is not loopback and would be served without TLS; give --tls-cert and --tls-key, put a TLS proxy \
             in front and say --behind-tls-proxy, or listen on 127.0.0.1",
            http.listen
        ))));
    }
    Ok(())
}

/// A lease must outlast an attempt, or two nodes would send the same notice at once.
pub fn check_lease(settings: &Settings) -> Result<(), NodeError> {
    let webhooks = &settings.webhooks.dispatcher;
    let least = webhooks.timeout.saturating_add(LEASE_MARGIN);
    if webhooks.timeout.is_zero() || webhooks.lease < least {
        return Err(NodeError::Setting(Failure::new(format!(
            "--webhook-lease must be at least {} (the timeout, which must not be 0, and 10 s)",
            humantime::format_duration(least)
        ))));
    }
    Ok(())
}

/// A body that may still come must not be cut off, and its sender is owed an answer.
pub fn check_timeouts(http: &HttpSettings) -> Result<(), NodeError> {
    if http.connection_timeout <= http.body_timeout {
        return Err(NodeError::Setting(Failure::new(format!(
            "--connection-timeout must be longer than --body-timeout, which is {}",
            humantime::format_duration(http.body_timeout)
        ))));
    }
    Ok(())
}

/// A body at the limit must have room for itself at least.
pub fn check_body_memory(http: &HttpSettings) -> Result<(), NodeError> {
    if http.body_memory < http.max_body_bytes {
        return Err(NodeError::Setting(Failure::new(format!(
            "--body-memory must be at least --max-body-bytes, which is {}",
            http.max_body_bytes
        ))));
    }
    Ok(())
}

/// Where the node's key-encryption keys come from.
pub fn kek_source<'a>(
    settings: &'a KekSettings,
    paths: &'a EmbeddedPaths,
) -> Result<KekSource<'a>, NodeError> {
    let source = existing_kek_source(settings, paths)?;
    Ok(match (source, &paths.database) {
        (KekSource::File(file), Some(database)) if settings.file.is_none() => {
            KekSource::Embedded { file, database }
        }
        (other, _) => other,
    })
}

/// Where an operator's command finds the same keys; it makes none.
pub fn existing_kek_source<'a>(
    settings: &'a KekSettings,
    paths: &'a EmbeddedPaths,
) -> Result<KekSource<'a>, NodeError> {
    choose_kek(settings.text.clone(), settings.file.as_deref(), paths)
}

/// The environment, the named file, or the data folder.
fn choose_kek<'a>(
    variable: Option<Zeroizing<String>>,
    file: Option<&'a Path>,
    paths: &'a EmbeddedPaths,
) -> Result<KekSource<'a>, NodeError> {
    match (variable, file) {
        (Some(_), Some(_)) => Err(NodeError::Setting(Failure::new(
            "give either --kek-file or SEALPOST_KEK, not both",
        ))),
        (Some(text), None) => Ok(KekSource::Text(text)),
        (None, Some(file)) => Ok(KekSource::File(file)),
        (None, None) if paths.database.is_some() => Ok(KekSource::File(&paths.kek)),
        (None, None) => Err(NodeError::Setting(Failure::new(
            "no key-encryption key: make one with `sealpost kek new > FILE` and give --kek-file FILE",
        ))),
    }
}

/// Files of an embedded database, wherever it is.
#[derive(Debug, Clone)]
pub struct EmbeddedPaths {
    /// `None` with PostgreSQL.
    pub database: Option<PathBuf>,
    /// The key file.
    pub kek: PathBuf,
}

const LEASE_MARGIN: std::time::Duration = std::time::Duration::from_secs(10);
