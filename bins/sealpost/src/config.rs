//! Settings that only make sense together, checked before anything starts.

use std::path::{Path, PathBuf};

use sealpost_domain::Suite;
use sealpost_storage::DatabaseUrl;
use zeroize::Zeroizing;

use crate::{
    cli::{DatabaseArgs, HttpArgs, ServeArgs, SuiteName},
    fault::Fault,
    kek::KekSource,
    tls::TlsFiles,
};

/// Outside loopback nothing is served in the clear, and nothing leads to loopback.
pub(crate) fn check_listen(args: &ServeArgs) -> Result<(), Fault> {
    let http = &args.http;
    // The command line would take a variable that says no for a word that was given.
    if http.behind_tls_proxy && http.tls_cert.is_some() {
        return Err(Fault::usage("give either --tls-cert or --behind-tls-proxy, not both"));
    }
    if http.listen.ip().is_loopback() {
        return Ok(());
    }
    if args.dev {
        return Err(Fault::new("--dev is for loopback only; leave it out or listen on 127.0.0.1"));
    }
    if http.tls_cert.is_none() && !http.behind_tls_proxy {
        return Err(Fault::new(format!(
            "{} is not loopback and would be served without TLS; give --tls-cert and --tls-key, put a TLS proxy \
             in front and say --behind-tls-proxy, or listen on 127.0.0.1",
            http.listen
        )));
    }
    Ok(())
}

/// The certificate and its key, where the service speaks TLS itself.
pub(crate) fn tls_files(args: &HttpArgs) -> Option<TlsFiles> {
    Some(TlsFiles { chain: args.tls_cert.clone()?, key: args.tls_key.clone()? })
}

/// What stands before the address that is listened on.
pub(crate) fn scheme(args: &HttpArgs) -> &'static str {
    if args.tls_cert.is_some() { "https" } else { "http" }
}

/// A lease must outlast an attempt, or two nodes would send the same notice at once.
pub(crate) fn check_lease(args: &ServeArgs) -> Result<(), Fault> {
    let webhooks = &args.webhooks;
    let least = webhooks.timeout.saturating_add(LEASE_MARGIN);
    if webhooks.timeout.is_zero() || webhooks.lease < least {
        return Err(Fault::new(format!(
            "--webhook-lease must be at least {} (the timeout, which must not be 0, and 10 s)",
            humantime::format_duration(least)
        )));
    }
    Ok(())
}

/// A body that may still come must not be cut off, and its sender is owed an answer.
pub(crate) fn check_timeouts(args: &HttpArgs) -> Result<(), Fault> {
    if args.connection_timeout <= args.body_timeout {
        return Err(Fault::new(format!(
            "--connection-timeout must be longer than --body-timeout, which is {}",
            humantime::format_duration(args.body_timeout)
        )));
    }
    Ok(())
}

/// A body at the limit must have room for itself at least.
pub(crate) fn check_body_memory(args: &HttpArgs) -> Result<(), Fault> {
    if args.body_memory < args.max_body_bytes {
        return Err(Fault::new(format!(
            "--body-memory must be at least --max-body-bytes, which is {}",
            args.max_body_bytes
        )));
    }
    Ok(())
}

/// The database to use.
pub(crate) fn database_url(args: &DatabaseArgs) -> DatabaseUrl {
    args.database_url
        .clone()
        .unwrap_or_else(|| DatabaseUrl::Sqlite(embedded_database(&args.data_dir)))
}

/// The embedded database's file in its folder.
fn embedded_database(data_dir: &Path) -> PathBuf {
    data_dir.join("sealpost.db")
}

/// Where the server's key-encryption keys come from.
pub(crate) fn kek_source<'a>(
    args: &'a ServeArgs,
    paths: &'a EmbeddedPaths,
) -> Result<KekSource<'a>, Fault> {
    let variable = args.kek_variable.then(kek_from_environment).flatten();
    let source = choose_kek(variable, args.kek_file.as_deref(), paths)?;
    Ok(match (source, &paths.database) {
        (KekSource::File(file), Some(database)) if args.kek_file.is_none() => {
            KekSource::Embedded { file, database }
        }
        (other, _) => other,
    })
}

/// Where an operator's command finds the same keys; it makes none.
pub(crate) fn kek_source_of<'a>(
    file: Option<&'a Path>,
    paths: &'a EmbeddedPaths,
) -> Result<KekSource<'a>, Fault> {
    choose_kek(kek_from_environment(), file, paths)
}

/// The environment, the named file, or the data folder.
fn choose_kek<'a>(
    variable: Option<Zeroizing<String>>,
    file: Option<&'a Path>,
    paths: &'a EmbeddedPaths,
) -> Result<KekSource<'a>, Fault> {
    match (variable, file) {
        (Some(_), Some(_)) => Err(Fault::new("give either --kek-file or SEALPOST_KEK, not both")),
        (Some(text), None) => Ok(KekSource::Text(text)),
        (None, Some(file)) => Ok(KekSource::File(file)),
        (None, None) if paths.database.is_some() => Ok(KekSource::File(&paths.kek)),
        (None, None) => Err(Fault::new(
            "no key-encryption key: make one with `sealpost kek new > FILE` and give --kek-file FILE",
        )),
    }
}

/// Files of an embedded database, wherever it is.
pub(crate) struct EmbeddedPaths {
    /// `None` with PostgreSQL.
    pub(crate) database: Option<PathBuf>,
    pub(crate) kek: PathBuf,
}

impl EmbeddedPaths {
    pub(crate) fn of(args: &DatabaseArgs) -> Self {
        let database = match database_url(args) {
            DatabaseUrl::Postgres(_) => None,
            DatabaseUrl::Sqlite(file) => Some(file),
        };
        Self { database, kek: args.data_dir.join("kek") }
    }
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

/// The keys that stand in the environment themselves.
#[expect(clippy::disallowed_methods, reason = "this is the command line's side of the house")]
pub(crate) fn kek_from_environment() -> Option<Zeroizing<String>> {
    std::env::var("SEALPOST_KEK").ok().filter(|text| !text.is_empty()).map(Zeroizing::new)
}

const LEASE_MARGIN: std::time::Duration = std::time::Duration::from_secs(10);
