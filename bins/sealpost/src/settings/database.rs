//! Command-line settings of the database: its location, connections and commit timeout.

use std::path::{Path, PathBuf};

use clap::{Args, builder::BoolishValueParser};
use sealpost_node::settings::{DatabaseSettings, DatabaseUrl, JournalLocation, StorageSettings};

use super::values::{Span, created_path};

/// The settings of the database, and of the data folder for an embedded database.
#[derive(Args, Clone)]
pub(crate) struct DatabaseArgs {
    /// Folder of the embedded database and its key file
    #[arg(
        long,
        env = "SEALPOST_DATA_DIR",
        default_value_os_t = DatabaseSettings::default().data_dir,
        value_name = "DIR",
        value_parser = created_path()
    )]
    pub(crate) data_dir: PathBuf,
    /// postgres://… or sqlite:PATH; if omitted, the embedded database in the data folder
    #[arg(long, env = "SEALPOST_DATABASE_URL", value_name = "URL", hide_env_values = true)]
    database_url: Option<DatabaseUrl>,
    /// Connect to PostgreSQL without TLS, also through a network; by default a remote server needs TLS and a verified
    /// certificate
    #[arg(long, env = "SEALPOST_DATABASE_IN_CLEAR", value_parser = BoolishValueParser::new())]
    database_in_clear: bool,
    /// Do not use prepared statements on PostgreSQL; for poolers that do not support them in transaction mode
    #[arg(long, env = "SEALPOST_DATABASE_POOLER", value_parser = BoolishValueParser::new())]
    database_pooler: bool,
    /// Largest number of connections to the database
    #[arg(
        long,
        env = "SEALPOST_DATABASE_POOL",
        default_value_t = StorageSettings::default().pool_max,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(2..=1000)
    )]
    database_pool: u32,
    /// Longest wait for a commit; after this time its result is unknown, and writes are refused until a commit succeeds
    #[arg(
        long,
        env = "SEALPOST_COMMIT_TIMEOUT",
        default_value_t = Span(StorageSettings::default().commit_timeout),
        value_name = "SPAN"
    )]
    commit_timeout: Span,
    /// File that records revocations outside the database, or `off`; if omitted, a file in the data folder
    #[arg(
        long,
        env = "SEALPOST_REVOCATION_JOURNAL",
        value_name = "FILE|off",
        value_parser = created_path()
    )]
    revocation_journal: Option<PathBuf>,
}

impl From<&DatabaseArgs> for DatabaseSettings {
    fn from(args: &DatabaseArgs) -> Self {
        let DatabaseArgs {
            data_dir,
            database_url,
            database_in_clear,
            database_pooler,
            database_pool,
            commit_timeout,
            revocation_journal,
        } = args;
        let defaults = StorageSettings::default();
        Self {
            data_dir: data_dir.clone(),
            url: database_url.clone(),
            storage: StorageSettings {
                pool_max: *database_pool,
                in_clear: *database_in_clear,
                has_pooler: *database_pooler,
                connection_timeout: defaults.connection_timeout,
                statement_timeout: defaults.statement_timeout,
                commit_timeout: commit_timeout.0,
                keys_cached_max: defaults.keys_cached_max,
            },
            revocation_journal: journal_location(revocation_journal.as_deref()),
        }
    }
}

/// Returns the location of the journal. The word `off`, in upper or lower case, turns the journal off.
fn journal_location(given: Option<&Path>) -> JournalLocation {
    match given {
        None => JournalLocation::DataFolder,
        Some(word) if word.as_os_str().eq_ignore_ascii_case("off") => JournalLocation::Off,
        Some(file) => JournalLocation::File(file.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_journal_can_be_off_in_upper_and_lower_case() {
        for word in ["off", "OFF", "Off"] {
            assert_eq!(journal_location(Some(Path::new(word))), JournalLocation::Off);
        }
        for file in ["./off", "offline"] {
            let location = JournalLocation::File(PathBuf::from(file));
            assert_eq!(journal_location(Some(Path::new(file))), location);
        }
        assert_eq!(journal_location(None), JournalLocation::DataFolder);
    }
}
