//! Compares a database with its revocation journal, and applies the journal to a restored database.

use std::{
    error::Error,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use sealpost_domain::{Clock, ports::RevocationJournal as _};
use sealpost_service::{DatabaseRecovered, EndedCredentials, Operator};
use sealpost_storage::{Database, DatabaseUrl, owned_file};
use sealpost_wallet::random;
use serde::Serialize;

use super::{
    file::{self, JournalContent},
    line::Header,
    record::Journal,
};
use crate::{
    error::{NodeError, database_error},
    settings::{DatabaseSettings, JournalLocation},
};

/// The result of an operator command that applies revocation journals to a database.
#[derive(Debug, Clone, Serialize)]
pub struct JournalRecovery {
    /// Numbers of the changes that were made in the database.
    #[serde(flatten)]
    pub database: DatabaseRecovered,
    /// The paths of the journals that were applied.
    pub journals: Vec<PathBuf>,
    /// The paths of the applied journals that were written for another database. Usually nothing in them applies.
    pub foreign_journals: Vec<PathBuf>,
    /// Number of damaged lines in all applied journals. These lines were skipped.
    pub damaged_lines: usize,
}

/// Attaches the revocation journal to the database, before a node serves requests. If the database is older than its
/// journal, first applies the journal and ends all sessions. Returns `None` if the journal is off.
pub(crate) fn recover_and_attach(
    settings: &DatabaseSettings,
    database: &Arc<Database>,
    clock: &Arc<dyn Clock>,
) -> Result<Option<Arc<Journal>>, NodeError> {
    let Some(journal) = OwnJournal::read(settings, database)? else { return Ok(None) };
    if let Some(content) = &journal.content {
        warn_of_damage(&journal.path, content);
        if is_older(database, content)? {
            recover(&journal.path, content, database, clock)?;
        }
    }
    let journal = journal.attach(database, clock)?;
    // `name` creates the file, so that a failure is logged at the start and not at the first revocation.
    if let Some(name) = journal.name() {
        tracing::debug!(file = %journal.path().display(), "recording revocations in the journal");
        let mark = database.journal_mark(&name).map_err(database_error)?;
        find_gap(&journal, database, mark.unwrap_or(0))?;
    }
    Ok(Some(journal))
}

/// Logs a warning if an embedded database is new, and its folder has the journal of an earlier database. The earlier
/// database may be lost. Call before the journal of the new database is created.
pub(crate) fn warn_of_loss(database: &Database, file: &Path) -> Result<(), NodeError> {
    if database.has_kek_mark().map_err(database_error)? {
        return Ok(());
    }
    for entry in fs::read_dir(owned_file::folder_of(file)).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(PREFIX) && name.ends_with(SUFFIX) {
            tracing::warn!(
                database = %file.display(),
                journal = %entry.path().display(),
                "the database is new, but its folder has the journal of an earlier database: if that database was \
                 lost, stop the server and restore a backup"
            );
        }
    }
    Ok(())
}

/// Checks whether the journal lacks revocations of the database, and stores the result in the [`Journal`]. `expected`
/// is the mark (transaction number) that the database had at an earlier time. Returns the present mark of the database.
pub(super) fn find_gap(
    journal: &Journal,
    database: &Database,
    expected: u64,
) -> Result<u64, NodeError> {
    let gap = journal.find_gap(expected).map_err(|fault| unusable(journal.path(), fault))?;
    // Stores no gap while entries wait in memory. These entries are not lost, because the journal will try again to
    // write them.
    journal.set_gap(gap.filter(|_| journal.pending() == 0));
    let name = journal.known_name().unwrap_or_default();
    Ok(database.journal_mark(&name).map_err(database_error)?.unwrap_or(0))
}

/// Compares the database of a running node with the journal. If the database lost commits, for example in a failover to
/// an asynchronous standby, applies the journal and ends all sessions. Returns whether the journal was applied.
pub(super) fn recover_if_older(
    journal: &Journal,
    database: &Arc<Database>,
) -> Result<bool, NodeError> {
    let unusable = |fault: file::JournalError| unusable(journal.path(), fault);
    let name = journal.read_header().map_err(unusable)?.journal;
    // Reads the mark of the file first. If a transaction commits between the two reads, the mark of the database is
    // then the higher one, and the database does not look older than the file.
    let newest = journal.newest_mark().map_err(unusable)?;
    let mark = database.journal_mark(&name).map_err(database_error)?.unwrap_or(0);
    if mark >= newest {
        // Turns marks on again. An earlier call may have turned marks off and then failed, before another node raised
        // the mark.
        journal.set_marks(true);
        return Ok(false);
    }
    // Applies nothing while entries wait in memory, because they would not be applied. A later call finds them in the
    // file.
    if journal.pending() > 0 {
        return Ok(false);
    }
    // Records new entries without marks until the mark in the database is raised, so that the entries keep their order
    // in the file. New marks would be lower than the marks of the lost commits, and would sort the new entries before
    // them.
    journal.set_marks(false);
    let content = file::read(journal.path()).map_err(unusable)?;
    if let Some(content) = &content {
        recover(journal.path(), content, database, &journal.clock)?;
    }
    database.raise_journal_mark(&name, newest).map_err(database_error)?;
    journal.set_marks(true);
    Ok(true)
}

/// Applies the journal to a database that is older than the journal, and ends all sessions.
fn recover(
    path: &Path,
    content: &JournalContent,
    database: &Arc<Database>,
    clock: &Arc<dyn Clock>,
) -> Result<(), NodeError> {
    tracing::error!(
        file = %path.display(),
        "the database is older than the revocation journal: revoking again, and ending all sessions"
    );
    let store = Arc::<Database>::clone(database);
    let operator = Operator::new(store, Arc::clone(clock), RECOVERY_ACTOR.to_owned())
        .giving_reason("the database is older than the revocation journal");
    let content = std::slice::from_ref(content);
    let done = apply(&operator, database, content, EndedCredentials::Sessions)?;
    tracing::warn!(?done, "applied the revocation journal");
    Ok(())
}

/// Attaches the revocation journal to the database for an operator command. Returns `None` if the journal is off.
///
/// If the database is older than its journal, the command records its revocations without marks (transaction numbers),
/// and does not raise the mark in the database. So the next start of a node still finds that the database is older, and
/// applies the journal.
pub fn attach_for_command(
    settings: &DatabaseSettings,
    database: &Arc<Database>,
    clock: &Arc<dyn Clock>,
) -> Result<Option<Arc<Journal>>, NodeError> {
    let Some(journal) = OwnJournal::read(settings, database)? else { return Ok(None) };
    let is_older =
        journal.content.as_ref().map(|content| is_older(database, content)).transpose()?;
    let journal = journal.attach(database, clock)?;
    journal.set_marks(!is_older.unwrap_or(false));
    Ok(Some(journal))
}

/// Applies journals to a database, and ends all sessions and API tokens. Also applies the database's own journal if its
/// file exists. No journal may be attached to the database, and no server may use the database.
pub fn recover_database(
    settings: &DatabaseSettings,
    database: &Database,
    operator: &Operator,
    journals: &[PathBuf],
) -> Result<JournalRecovery, NodeError> {
    let mut found = Vec::new();
    for path in journals {
        let content = file::read(path).map_err(|fault| unusable(path, fault))?;
        let missing = || {
            NodeError::new(format!(
                "the journal {} is missing or empty: check the path",
                path.display()
            ))
        };
        found.push((path.clone(), content.ok_or_else(missing)?));
    }
    if let Some(OwnJournal { path, content: Some(content), .. }) =
        OwnJournal::read(settings, database)?
        && !found.iter().any(|(_, other)| other.header == content.header)
    {
        found.push((path, content));
    }
    let id = database.identity().map_err(database_error)?;
    let foreign = found.iter().filter(|(_, content)| content.header.database != id);
    let foreign_journals = foreign.map(|(path, _)| path.clone()).collect();
    let (journals, contents): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    let ended = EndedCredentials::SessionsAndApiTokens;
    let done = apply(operator, database, &contents, ended)?;
    let damaged_lines = contents.iter().map(|content| content.damaged).sum();
    Ok(JournalRecovery { database: done, journals, foreign_journals, damaged_lines })
}

/// The revocation journal of a database. `content` is `None` if the file does not exist or is empty.
pub(super) struct OwnJournal {
    pub(super) path: PathBuf,
    database_id: String,
    pub(super) content: Option<JournalContent>,
}

impl OwnJournal {
    /// Reads the revocation journal that this node writes for the database. Returns `None` if the settings turn the
    /// journal off. Refuses a file that cannot be read or belongs to another database.
    pub(super) fn read(
        settings: &DatabaseSettings,
        database: &Database,
    ) -> Result<Option<Self>, NodeError> {
        let database_id = database.identity().map_err(database_error)?;
        let Some(path) = path_of(settings, &database_id) else { return Ok(None) };
        let content = file::read(&path).map_err(|fault| unusable(&path, fault))?;
        if content.as_ref().is_some_and(|content| content.header.database != database_id) {
            return Err(NodeError::new(format!(
                "the revocation journal {} belongs to another database: restore a backup if that database was lost, or \
                 give another --revocation-journal",
                path.display()
            )));
        }
        Ok(Some(Self { path, database_id, content }))
    }

    /// Returns the header of the file, or the header for a new file.
    pub(super) fn header(&self, database: &Database) -> Result<Header, NodeError> {
        match &self.content {
            Some(content) => Ok(content.header.clone()),
            None => self.new_header(database),
        }
    }

    /// Returns the header for a new file, with a random name.
    fn new_header(&self, database: &Database) -> Result<Header, NodeError> {
        let name: [u8; 16] = random().map_err(NodeError::caused_by)?;
        Ok(Header {
            journal: hex::encode(name),
            database: self.database_id.clone(),
            is_partial: database.has_journaled_acts().map_err(database_error)?,
        })
    }

    fn attach(
        self,
        database: &Arc<Database>,
        clock: &Arc<dyn Clock>,
    ) -> Result<Arc<Journal>, NodeError> {
        let new = self.new_header(database)?;
        let journal = Arc::new(Journal::new(self.path, new, Arc::clone(clock)));
        database.attach_journal(Arc::<Journal>::clone(&journal));
        Ok(journal)
    }
}

/// Applies the changes of all journals. Then raises the mark (transaction number) of each journal in the database to
/// the highest mark in its file. After an interruption, the mark in the database is still lower, so the next start
/// applies the journal again.
fn apply(
    operator: &Operator,
    database: &Database,
    journals: &[JournalContent],
    ended: EndedCredentials,
) -> Result<DatabaseRecovered, NodeError> {
    let failed = |error| {
        NodeError::caused(
            "the revocation journal cannot be applied: correct the cause and start again",
            error,
        )
    };
    let done = operator.recover(&file::merged_acts(journals), ended).map_err(failed)?;
    for content in journals {
        let mark = content.last_mark();
        database.raise_journal_mark(&content.header.journal, mark).map_err(database_error)?;
    }
    Ok(done)
}

pub(super) fn is_older(database: &Database, content: &JournalContent) -> Result<bool, NodeError> {
    let mark = database.journal_mark(&content.header.journal).map_err(database_error)?;
    Ok(mark.unwrap_or(0) < content.last_mark())
}

/// Returns the path of the file that keeps the newest checkpoint of the transparency log, beside the journal. `None` if
/// the journal is off.
pub fn checkpoint_file(
    settings: &DatabaseSettings,
    database: &Database,
) -> Result<Option<PathBuf>, NodeError> {
    let database_id = database.identity().map_err(database_error)?;
    let short = database_id.get(..SHORT_ID).unwrap_or(&database_id);
    let name = format!("log-{short}.checkpoint");
    Ok(path_of(settings, &database_id).map(|journal| journal.with_file_name(name)))
}

/// Returns the path of a database's revocation journal. `None` if the journal is off.
fn path_of(settings: &DatabaseSettings, database_id: &str) -> Option<PathBuf> {
    match &settings.revocation_journal {
        JournalLocation::File(file) => Some(file.clone()),
        JournalLocation::Off => None,
        JournalLocation::DataFolder => {
            let short = database_id.get(..SHORT_ID).unwrap_or(database_id);
            let name = format!("{PREFIX}{short}{SUFFIX}");
            let embedded = match settings.database_url() {
                DatabaseUrl::Sqlite(file) => file.parent().map(|folder| folder.join(&name)),
                DatabaseUrl::Postgres(_) => None,
            };
            Some(embedded.unwrap_or_else(|| settings.data_dir.join(name)))
        }
    }
}

fn warn_of_damage(path: &Path, content: &JournalContent) {
    if content.damaged > 0 {
        let (file, lines) = (path.display(), content.damaged);
        tracing::warn!(%file, lines, "the revocation journal has damaged lines, which are skipped");
    }
}

pub(super) fn unusable(path: &Path, cause: impl Error + Send + Sync + 'static) -> NodeError {
    let advice = if path.exists() {
        "correct its permissions, or move it away"
    } else {
        "correct the permissions of its folder, or give another file"
    };
    let message = format!("the revocation journal {} cannot be used: {advice}", path.display());
    NodeError::caused(message, cause)
}

/// The operator name in the audit trail for a journal that a node has applied itself.
const RECOVERY_ACTOR: &str = "sealpost";
/// Begin and end of the name of a journal in the data folder.
const PREFIX: &str = "revocations-";
const SUFFIX: &str = ".log";
/// Number of characters of the database's id in the file name of its journal.
const SHORT_ID: usize = 8;
