//! Replaces an embedded database by a backup, and applies the revocation journal to the backup.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use sealpost_domain::{Clock, Timestamp, ports::Store};
use sealpost_service::Operator;
use sealpost_storage::{Database, DatabaseUrl};

use crate::{
    clock::SystemClock,
    embedded::data_folder,
    error::{Failure, NodeError, database_error},
    files::regular_file,
    journal::{JournalRecovery, recover_database},
    settings::DatabaseSettings,
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
}

/// Replaces the embedded database by a backup. Works on a copy of the backup in the data folder: migrates it, applies
/// the revocation journals, ends all sessions and API tokens, and checks its integrity. Then the copy replaces the
/// database. After an error before this last step the database is unchanged.
///
/// Refuses PostgreSQL, and a database that a server uses.
pub fn restore(
    settings: &DatabaseSettings,
    backup: &Path,
    journals: &[PathBuf],
    operator: impl FnOnce(Arc<dyn Store>, Arc<dyn Clock>) -> Operator,
) -> Result<Restored, NodeError> {
    let DatabaseUrl::Sqlite(database) = settings.database_url() else {
        return Err(NodeError::Database(Failure::new(
            "this command restores only the embedded database: for PostgreSQL use pg_restore, then `sealpost admin recover`",
        )));
    };
    let _lock = data_folder::lock(settings, &database)?;
    let folder = data_folder::parent(&database);
    let work = folder.join(WORK_FOLDER);
    let cannot = |error: io::Error| {
        let message =
            format!("the backup {} cannot be copied to {}", backup.display(), work.display());
        NodeError::File(Failure::caused(message, error))
    };
    remove_folder(&work).map_err(cannot)?;
    fs::create_dir(&work).map_err(cannot)?;
    fs::set_permissions(&work, fs::Permissions::from_mode(0o700)).map_err(cannot)?;
    let ready = work.join("ready.db");
    let prepared = copy_to(backup, &work.join("copy.db")).map_err(cannot).and_then(|copy| {
        let recovery = prepare(settings, &copy, &ready, journals, operator)?;
        empty_log(settings, &database);
        let replaced = replace(&ready, &database, SystemClock.now()).map_err(|error| {
            let message = format!("the database {} cannot be replaced", database.display());
            NodeError::File(Failure::caused(message, error))
        })?;
        Ok(Restored { recovery, database, replaced })
    });
    // The folder is only a leftover. The next restore removes it, too.
    drop(remove_folder(&work));
    prepared
}

fn copy_to(backup: &Path, copy: &Path) -> io::Result<PathBuf> {
    let mut options = File::options();
    let mut written = options.write(true).create_new(true).mode(0o600).open(copy)?;
    io::copy(&mut regular_file::open(backup)?, &mut written)?;
    Ok(copy.to_owned())
}

/// Migrates the copy of the backup, and applies the journals to it. Writes the result into one complete and checked
/// file.
fn prepare(
    settings: &DatabaseSettings,
    copy: &Path,
    ready: &Path,
    journals: &[PathBuf],
    operator: impl FnOnce(Arc<dyn Store>, Arc<dyn Clock>) -> Operator,
) -> Result<JournalRecovery, NodeError> {
    let url = DatabaseUrl::Sqlite(copy.to_owned());
    let database = Arc::new(Database::open(&url, settings.storage).map_err(database_error)?);
    database.migrate().map_err(database_error)?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let operator = operator(Arc::<Database>::clone(&database), clock);
    let recovery = recover_database(settings, &database, &operator, journals)?;
    database.backup(ready).map_err(database_error)?;
    Ok(recovery)
}

/// Moves the content of the old database's write-ahead log into its file. Afterwards a crash during the replacement leaves
/// either database complete.
fn empty_log(settings: &DatabaseSettings, database: &Path) {
    if !database.exists() {
        return;
    }
    let url = DatabaseUrl::Sqlite(database.to_owned());
    // Ignores an error, because a damaged database must be replaceable too. Its log is then moved.
    drop(Database::open(&url, settings.storage).map(|old| old.empty_log()));
}

/// Puts the file `ready` in the place of the database. A crash leaves either database complete.
fn replace(ready: &Path, database: &Path, now: Timestamp) -> io::Result<Option<PathBuf>> {
    let folder = data_folder::parent(database);
    data_folder::give_to_owner_of(&folder, ready)?;
    let aside = give_second_name(database, now)?;
    if let Some(aside) = &aside {
        move_log(database, aside)?;
    }
    fs::rename(ready, database)?;
    File::open(folder)?.sync_all()?;
    Ok(aside)
}

/// Gives the old database a second name, under which it stays. Returns `None` if no old database exists.
fn give_second_name(database: &Path, now: Timestamp) -> io::Result<Option<PathBuf>> {
    if !database.exists() {
        return Ok(None);
    }
    let aside = data_folder::with_suffix(database, &format!(".replaced-{}", now.as_seconds()));
    fs::hard_link(database, &aside)?;
    Ok(Some(aside))
}

/// Moves the write-ahead log of the old database away, because SQLite would apply it to the new file. The log has content
/// only if the database is damaged.
fn move_log(database: &Path, aside: &Path) -> io::Result<()> {
    for suffix in ["-wal", "-shm"] {
        let log = data_folder::with_suffix(database, suffix);
        if log.exists() {
            fs::rename(log, data_folder::with_suffix(aside, suffix))?;
        }
    }
    Ok(())
}

fn remove_folder(folder: &Path) -> io::Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Name of a temporary folder inside the data folder. The restored file is on the same disk as the database, so it can
/// replace the database by a rename.
const WORK_FOLDER: &str = "restoring";

#[cfg(test)]
mod tests {
    use sealpost_domain::{Account, AccountId, AccountSecrets, TokenHash, ports::Durability};

    use super::*;

    /// Each step is a point at which a crash may end the replacement. The test opens copies, because opening changes
    /// files.
    #[test]
    fn a_crash_after_each_step_leaves_a_complete_database() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (account(1), account(2));
        let database = crashed_database(&folder.path().join("old"), &old);
        assert!(fs::metadata(data_folder::with_suffix(&database, "-wal")).unwrap().len() > 0);
        let ready = crashed_database(&folder.path().join("new"), &new);
        empty_log(&DatabaseSettings::default(), &ready);

        empty_log(&DatabaseSettings::default(), &database);
        assert_eq!(found(&database, [&old, &new]), [true, false]);
        let aside = give_second_name(&database, Timestamp::from_millis(5000)).unwrap().unwrap();
        assert_eq!(found(&database, [&old, &new]), [true, false]);
        move_log(&database, &aside).unwrap();
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
        let store: &dyn Store = &running;
        store.write(Durability::Durable, |tx| tx.insert_account(account)).unwrap();
        copy_with_log(&live, &folder.join("sealpost.db"))
    }

    /// Returns which of the accounts the database has.
    fn found<const N: usize>(database: &Path, accounts: [&Account; N]) -> [bool; N] {
        let folder = tempfile::tempdir().unwrap();
        let copy = open(&copy_with_log(database, &folder.path().join("copy.db")));
        let mut lookup = copy.lookup().unwrap();
        accounts.map(|account| lookup.find_login_secret(&account.id).unwrap().is_some())
    }

    fn copy_with_log(from: &Path, to: &Path) -> PathBuf {
        fs::copy(from, to).unwrap();
        let log = data_folder::with_suffix(from, "-wal");
        if log.exists() {
            fs::copy(log, data_folder::with_suffix(to, "-wal")).unwrap();
        }
        to.to_owned()
    }

    fn open(path: &Path) -> Database {
        let settings = DatabaseSettings::default().storage;
        Database::open(&DatabaseUrl::Sqlite(path.to_owned()), settings).unwrap()
    }
}
