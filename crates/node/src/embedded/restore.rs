//! Replaces an embedded database by a backup, and applies the revocation journal to the backup.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use sealpost_domain::{Clock, Timestamp, ports::StoreError};
use sealpost_service::Operator;
use sealpost_storage::{
    Database, DatabaseUrl, backup_identity,
    owned_file::{self, with_suffix},
};

use crate::{
    clock::SystemClock,
    embedded::{
        backup_source::{BackupSource, is_used},
        data_folder, replaced,
    },
    error::NodeError,
    journal::{JournalRecovery, recover_database},
    keys::{self, source::KeySource},
    settings::{DatabaseSettings, KeySettings},
};

/// The result of restoring a backup.
#[derive(Debug)]
pub struct Restored {
    /// The changes that the revocation journals made in the restored database.
    pub recovery: JournalRecovery,
    /// The path of the restored database.
    pub database: PathBuf,
    /// The new path of the database that was replaced. `None` if no database existed.
    pub replaced: Option<PathBuf>,
    /// True if the backup is the database file of a server without its write-ahead log. If the server was killed, its
    /// newest changes are missing.
    pub lacks_log: bool,
}

/// Replaces the embedded database by a backup. All steps work on a copy of the backup in the data folder:
///
/// 1. check the structure of the copy, and migrate the copy;
/// 2. check the key-encryption keys as a start of the server does. `None` as `keys` skips this check;
/// 3. apply the revocation journals, and end all sessions and API tokens;
/// 4. replace the database by the copy. After an error before this step the database is unchanged.
///
/// Refuses PostgreSQL, a database in use, and a file that is not a complete database of Sealpost.
pub fn restore(
    settings: &DatabaseSettings,
    keys: Option<&KeySettings>,
    backup: &Path,
    journals: &[PathBuf],
    operator: impl FnOnce(Arc<Database>, Arc<dyn Clock>) -> Operator,
) -> Result<Restored, NodeError> {
    let DatabaseUrl::Sqlite(database) = settings.database_url() else {
        return Err(NodeError::new(
            "this command restores only the embedded database: for PostgreSQL use pg_restore, then `sealpost admin recover`",
        ));
    };
    if let Some(keys) = keys {
        // Refuses contradictory settings before the data folder is created.
        KeySource::new(keys, settings)?;
    }
    let database = owned_file::resolve_links(&database);
    let _lock = data_folder::lock_to_restore(&database)?;
    let work = owned_file::folder_of(&database).join(WORK_FOLDER);
    let source = BackupSource::open(backup, &database, &work)?;
    let cannot = |error: io::Error| {
        NodeError::caused(format!("the work folder {} cannot be created", work.display()), error)
    };
    remove_folder(&work).map_err(cannot)?;
    owned_file::create_new_folder(&work).map_err(cannot)?;
    let (copy, ready) = (work.join("copy.db"), work.join("ready.db"));
    let prepared = source.copy_to(&copy).and_then(|()| {
        let recovery = prepare(settings, keys, [&copy, &ready], journals, operator)?;
        empty_log(settings, &database)?;
        let replaced = replace(&ready, &database, SystemClock.now())?;
        Ok(Restored { recovery, database, replaced, lacks_log: source.lacks_log })
    });
    // Ignores an error, because the next restore removes the folder, too.
    drop(remove_folder(&work));
    prepared
}

/// Migrates the copy of the backup, checks its keys, and applies the journals to it. Writes the result into the file
/// `ready`, which is complete and checked.
fn prepare(
    settings: &DatabaseSettings,
    keys: Option<&KeySettings>,
    [copy, ready]: [&Path; 2],
    journals: &[PathBuf],
    operator: impl FnOnce(Arc<Database>, Arc<dyn Clock>) -> Operator,
) -> Result<JournalRecovery, NodeError> {
    let unusable =
        |error: StoreError| NodeError::caused("the copy of the backup cannot be used", error);
    let url = DatabaseUrl::Sqlite(copy.to_owned());
    let database = Arc::new(Database::open(&url, settings.storage).map_err(unusable)?);
    database.migrate().map_err(unusable)?;
    if database.kek_marks().map_err(unusable)?.is_empty() {
        return Err(NodeError::new(
            "no server has ever used the database in the backup: give another backup",
        ));
    }
    if let Some(keys) = keys {
        check_keys(settings, keys, &database)?;
    }
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let operator = operator(Arc::<Database>::clone(&database), clock);
    let recovery = recover_database(settings, &database, &operator, journals)?;
    database
        .backup(ready)
        .map_err(|error| NodeError::caused("the copy of the backup cannot be used", error))?;
    Ok(recovery)
}

/// Checks the key-encryption keys as a start of the server does, except that no key file is created.
fn check_keys(
    settings: &DatabaseSettings,
    keys: &KeySettings,
    database: &Database,
) -> Result<(), NodeError> {
    let source = KeySource::new(keys, settings)?;
    let attach = |keyring| database.authenticate_rows(Arc::new(keyring));
    let advice = "the backup does not match the key-encryption keys: put the key file of the backup in place, give it \
                  with --kek-file, or restore with --without-keys and put the key file in place before the start";
    keys::open(&source, database).map(attach).map_err(|error| NodeError::caused(advice, error))
}

/// Moves the content of the old database's write-ahead log into the database file, so that a crash during the
/// replacement leaves a complete database. Fails if a readable database still has content in its log, or if another
/// process uses the database.
fn empty_log(settings: &DatabaseSettings, database: &Path) -> Result<(), NodeError> {
    if !database.exists() {
        return Ok(());
    }
    let url = DatabaseUrl::Sqlite(database.to_owned());
    let emptied = Database::open(&url, settings.storage).and_then(|old| old.empty_log());
    let log = with_suffix(database, "-wal");
    // Accepts a damaged database, so that it can be replaced too. The replacement then moves its log.
    let keeps_log =
        fs::metadata(&log).is_ok_and(|log| log.len() > 0) && backup_identity(database).is_some();
    if !keeps_log && !File::open(database).is_ok_and(|file| is_used(&file).unwrap_or(false)) {
        return Ok(());
    }
    let message = format!(
        "the database {} is in use, or its log cannot be emptied: end other `sealpost` commands, free some disk space, \
         and restore again",
        database.display()
    );
    Err(match emptied {
        Ok(()) => NodeError::new(message),
        Err(error) => NodeError::caused(message, error),
    })
}

/// Replaces the database by the file `ready`. Returns the path under which the old database stays; `None` if there was
/// no old database. After a crash, the path `database` holds either the complete old or the complete new database.
fn replace(ready: &Path, database: &Path, now: Timestamp) -> Result<Option<PathBuf>, NodeError> {
    let failed = |problem: &str, error: io::Error| {
        NodeError::caused(format!("the database {} {problem}", database.display()), error)
    };
    let exchange = || {
        let folder = File::open(owned_file::folder_of(database))?;
        let aside = replaced::give_second_name(database, now)?;
        if let Some(aside) = &aside {
            replaced::move_log(database, aside)?;
        }
        fs::rename(ready, database)?;
        Ok((folder, aside))
    };
    let (folder, aside) = exchange().map_err(|error| failed("cannot be replaced", error))?;
    let unsafe_yet =
        |error| failed("is replaced, but a power failure could undo it: run sync", error);
    folder.sync_all().map_err(unsafe_yet)?;
    Ok(aside)
}

fn remove_folder(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Name of the temporary folder of a restore, inside the data folder. The restored file is on the same disk as the
/// database, so a rename can replace the database.
const WORK_FOLDER: &str = "restoring";

#[cfg(test)]
mod tests {
    use sealpost_domain::{Account, AccountId, AccountSecrets, TokenHash, ports::Durability};

    use super::*;
    use crate::NodeErrorKind;

    #[test]
    fn contradictory_keys_are_refused_before_the_data_folder_is_created() {
        let folder = tempfile::tempdir().unwrap();
        let data_dir = folder.path().join("new");
        let settings = DatabaseSettings { data_dir, ..DatabaseSettings::default() };
        let file = Some(folder.path().join("kek"));
        let text = Some("1:AQEB".to_owned().into());
        let keys = KeySettings { file, text, ..KeySettings::default() };
        let operator = |store, clock| Operator::new(store, clock, "test".to_owned());
        let refused = restore(&settings, Some(&keys), folder.path(), &[], operator);
        assert!(refused.is_err_and(|error| error.kind() == NodeErrorKind::Contradiction));
        assert!(!settings.data_dir.exists());
    }

    /// Each step is a point at which a crash may end the replacement. The test opens copies, because opening changes
    /// files.
    #[test]
    fn a_crash_after_each_step_leaves_a_complete_database() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (account(1), account(2));
        let database = crashed_database(&folder.path().join("old"), &old);
        assert!(fs::metadata(with_suffix(&database, "-wal")).unwrap().len() > 0);
        let ready = crashed_database(&folder.path().join("new"), &new);
        empty_log(&DatabaseSettings::default(), &ready).unwrap();

        empty_log(&DatabaseSettings::default(), &database).unwrap();
        assert_eq!(found(&database, [&old, &new]), [true, false]);
        let aside =
            replaced::give_second_name(&database, Timestamp::from_millis(5000)).unwrap().unwrap();
        assert_eq!(found(&database, [&old, &new]), [true, false]);
        replaced::move_log(&database, &aside).unwrap();
        assert_eq!(found(&database, [&old, &new]), [true, false]);
        fs::rename(&ready, &database).unwrap();
        assert_eq!(found(&database, [&old, &new]), [false, true]);
        assert_eq!(found(&aside, [&old, &new]), [true, false]);
    }

    fn account(byte: u8) -> Account {
        let secrets = AccountSecrets {
            login_secret: TokenHash([byte; 32]),
            recovery_code: TokenHash([byte; 32]),
        };
        let created_at = Timestamp::from_millis(1);
        Account { id: AccountId::new(created_at, [byte; 10]), secrets, created_at }
    }

    /// Returns a database with this account as a crash leaves it: the account is only in the write-ahead log.
    fn crashed_database(folder: &Path, account: &Account) -> PathBuf {
        let live = folder.join("live.db");
        fs::create_dir(folder).unwrap();
        let running = open(&live);
        running.migrate().unwrap();
        running.write(Durability::Durable, |tx| tx.insert_account(account)).unwrap();
        copy_with_log(&live, &folder.join("sealpost.db"))
    }

    /// Returns which of the accounts the database has.
    fn found<const N: usize>(database: &Path, accounts: [&Account; N]) -> [bool; N] {
        let folder = tempfile::tempdir().unwrap();
        let copy = open(&copy_with_log(database, &folder.path().join("copy.db")));
        let secret = |account: &Account| copy.read(|reader| reader.find_login_secret(&account.id));
        accounts.map(|account| secret(account).unwrap().is_some())
    }

    fn copy_with_log(from: &Path, to: &Path) -> PathBuf {
        fs::copy(from, to).unwrap();
        let log = with_suffix(from, "-wal");
        if log.exists() {
            fs::copy(log, with_suffix(to, "-wal")).unwrap();
        }
        to.to_owned()
    }

    fn open(path: &Path) -> Database {
        let settings = DatabaseSettings::default().storage;
        let database = Database::open(&DatabaseUrl::Sqlite(path.to_owned()), settings).unwrap();
        let key = "1:AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=";
        database.authenticate_rows(Arc::new(sealpost_wallet::Keyring::parse(key).unwrap()));
        database
    }
}
