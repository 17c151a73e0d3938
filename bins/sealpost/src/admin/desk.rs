//! Opens the database for an operator command, and checks that it has the schema of this version.

use std::sync::Arc;

use sealpost_domain::Clock;
use sealpost_node::{
    Database, DatabaseUrl, Journal, SystemClock, attach_for_command, database_error,
    keys::{self, Keyring, source::KeySource},
    open_database,
    settings::{DatabaseSettings, KeySettings},
};
use sealpost_service::Operator;

use super::actor;
use crate::{
    command_error::CommandError,
    database::refuse_missing,
    settings::{DatabaseArgs, KekArgs},
};

/// An open database, and the [`Operator`] that runs commands on it.
pub(super) struct Desk {
    pub(super) operator: Operator,
    pub(super) database: Arc<Database>,
    pub(super) settings: DatabaseSettings,
    pub(super) clock: Arc<dyn Clock>,
}

impl Desk {
    /// Opens the database, even while servers use the database. Rejects a missing or outdated database without changing
    /// it.
    pub(super) fn open(args: &DatabaseArgs) -> Result<Self, CommandError> {
        let settings = DatabaseSettings::from(args);
        let url = settings.database_url();
        refuse_missing(&url)?;
        let database = Arc::new(open_database(&settings, &url)?);
        let pending = database.pending_migrations().map_err(database_error)?;
        if !pending.is_empty() {
            return Err(CommandError::new(format!(
                "the database is older than this version: run `sealpost migrate` first, which applies {}",
                pending.join(", ")
            )));
        }
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let operator =
            Operator::new(Arc::<Database>::clone(&database), Arc::clone(&clock), actor::name())
                .by_process(actor::process());
        Ok(Self { operator, database, settings, clock })
    }

    /// Reads the key-encryption keys, and attaches them to the database, which needs them to authenticate some rows,
    /// such as API tokens, with [tags](sealpost_domain::ports::RowAuthenticator). Returns `None` if no keys are given
    /// or found: a command that writes such a row then fails.
    pub(super) fn use_keys(&self, keks: &KekArgs) -> Result<Option<Arc<Keyring>>, CommandError> {
        let settings = KeySettings::try_from(keks)?;
        let KeySettings { file, text, provider, .. } = &settings;
        let are_given = file.is_some() || text.is_some() || provider.is_some();
        if are_given || matches!(self.settings.database_url(), DatabaseUrl::Sqlite(_)) {
            return Ok(keys::attach(&KeySource::new(&settings, &self.settings)?, &self.database)?);
        }
        Ok(None)
    }

    /// Returns the source from which the key-encryption keys are read.
    pub(super) fn key_source(&self, keks: &KekArgs) -> Result<KeySource, CommandError> {
        Ok(KeySource::new(&KeySettings::try_from(keks)?, &self.settings)?)
    }

    /// Opens the revocation journal, a file outside the database in which the revocations of this command are recorded.
    /// Returns `None` if the journal is turned off.
    pub(super) fn attach_journal(&self) -> Result<Option<Arc<Journal>>, CommandError> {
        Ok(attach_for_command(&self.settings, &self.database, &self.clock)?)
    }
}
