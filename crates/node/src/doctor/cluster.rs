//! Checks that the servers of one database have the same public URL. Also checks that the transparency log, and the
//! revocation journal (the file from which a restore repeats revocations), are complete.

use std::sync::Arc;

use sealpost_domain::Clock;
use sealpost_service::find_log_fault;
use sealpost_storage::DatabaseUrl;

use crate::{
    clock::SystemClock,
    composition::base_urls,
    doctor::{database::Opened, finding::Finding},
    error::{NodeError, database_error},
    journal::{completion::gap_of, recovery::checkpoint_file},
    settings::{Settings, base_url::BaseUrl},
};

/// Checks the public URL, the revocation journal and the transparency log. Returns no findings if the database is
/// unreachable or has pending migrations.
pub(super) fn check(settings: &Settings, opened: Option<&Opened>) -> Vec<Finding> {
    let Some(opened) = opened.filter(|opened| opened.is_current) else { return Vec::new() };
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let journal = problem("journal", gap_of(&settings.database, &opened.database, &clock));
    let complete = || Finding::ok("journal", "the revocation journal has every revocation");
    let log = problem("log", log_fault(settings, opened));
    let url = problem("base-url", other_url(settings, opened));
    std::iter::once(journal.unwrap_or_else(complete)).chain(log).chain(url).collect()
}

/// Converts the result of a check, a warning or `None`, to a finding. An error becomes a failure.
fn problem(check: &'static str, found: Result<Option<String>, NodeError>) -> Option<Finding> {
    match found {
        Ok(warning) => warning.map(|text| Finding::warn(check, text)),
        Err(error) => Some(Finding::fail(check, error.with_causes())),
    }
}

/// Returns a warning if a server would not extend the transparency log: the log in the database is damaged, or lacks
/// signed entries after a restore.
fn log_fault(settings: &Settings, opened: &Opened) -> Result<Option<String>, NodeError> {
    let file = checkpoint_file(&settings.database, &opened.database)?;
    file.map_or(Ok(None), |file| find_log_fault(&opened.database, &file).map_err(database_error))
}

/// Returns a warning if another running server has a public URL that differs from the configured one. Returns `None` if
/// no URL is configured, because the default depends on the port that the server gets.
fn other_url(settings: &Settings, opened: &Opened) -> Result<Option<String>, NodeError> {
    let (Some(url), DatabaseUrl::Postgres(_)) =
        (&settings.http.base_url, settings.database.database_url())
    else {
        return Ok(None);
    };
    let url = BaseUrl::new(Some(url), url)?;
    base_urls::conflict(&opened.database, url.as_str(), SystemClock.now()).map_err(database_error)
}
