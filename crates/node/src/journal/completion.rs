//! Detects a revocation journal that lacks revocations of its database, and adds the missing revocations.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use rustix::{
    fs::{Access, access},
    io::Errno,
};
use sealpost_domain::Clock;
use sealpost_service::Operator;
use sealpost_storage::{Database, owned_file};
use serde::Serialize;

use super::{
    file,
    line::Entry,
    record::Journal,
    recovery::{OwnJournal, is_older, unusable},
};
use crate::{
    error::{NodeError, database_error},
    settings::DatabaseSettings,
};

/// The result of [`complete_journal`].
#[derive(Debug, Clone, Serialize)]
pub struct JournalCompleted {
    /// The path of the journal.
    pub journal: PathBuf,
    /// Number of added entries.
    pub entries: usize,
}

/// Adds the revocations that are in force to the journal of a database. Needed after the journal has lost entries, or
/// if the journal was created after the first revocations. Revoked API tokens are not added, because the database has
/// deleted them. Records the completion in the audit trail. Fails if the journal is off, or if the database is older
/// than the journal. Servers may use the journal and the database at the same time.
pub fn complete_journal(
    settings: &DatabaseSettings,
    database: &Database,
    operator: &Operator,
    clock: &Arc<dyn Clock>,
) -> Result<JournalCompleted, NodeError> {
    let refused = |text: &str| Err(NodeError::new(text));
    let Some(own) = OwnJournal::read(settings, database)? else {
        return refused("the revocation journal is off: give its file with --revocation-journal");
    };
    if let Some(content) = &own.content
        && is_older(database, content)?
    {
        return refused(
            "the database is older than its revocation journal: run `sealpost admin recover` first",
        );
    }
    let header = own.header(database)?;
    // Raises the mark in the database (the number of its newest transaction with journal entries) first. If the command
    // is then interrupted, the file has a lower mark than the database, so the journal is still reported as incomplete.
    let mark = database.journal_mark(&header.journal).map_err(database_error)?.unwrap_or(0) + 1;
    database.raise_journal_mark(&header.journal, mark).map_err(database_error)?;
    // A restore applies the entries of several nodes' journals in the order of their times, and an entry gets its time
    // up to `COMMIT_MAX` before its commit. The state gets an earlier time, so it precedes each change that it lacks.
    // Applying a change twice does no harm.
    let now = database.read(|reader| reader.shared_time(clock.now())).map_err(database_error)?;
    let at = now.minus(COMMIT_MAX);
    let acts = database.acts_in_force().map_err(database_error)?;
    let entries: Vec<_> = acts.into_iter().map(|act| Entry { at, mark: Some(mark), act }).collect();
    file::complete(&own.path, &header, &entries).map_err(|fault| unusable(&own.path, fault))?;
    let shown = own.path.display().to_string();
    operator.record_completed_journal(&shown, entries.len()).map_err(|error| {
        NodeError::caused(
            "the journal is complete, but not recorded in the audit trail: run the command again",
            error,
        )
    })?;
    Ok(JournalCompleted { journal: own.path, entries: entries.len() })
}

/// Checks the revocation journal of a database. Changes nothing. Returns a warning if the journal lacks revocations, or
/// if the file exists and its folder is not writable. Fails if the file is missing and its folder is not writable.
/// Returns `None` if there is no problem, or if the journal is off.
pub(crate) fn gap_of(
    settings: &DatabaseSettings,
    database: &Database,
    clock: &Arc<dyn Clock>,
) -> Result<Option<String>, NodeError> {
    let Some(own) = OwnJournal::read(settings, database)? else { return Ok(None) };
    let folder = owned_file::folder_of(&own.path);
    let existing = folder.ancestors().find(|path| path.exists()).unwrap_or(Path::new("."));
    let denied = access(existing, Access::WRITE_OK | Access::EXEC_OK).err();
    // Fails, because a node would start without the file, and could keep its revocations in memory only.
    if let Some(error) = denied.filter(|_| own.content.is_none()) {
        return Err(unusable(&own.path, error));
    }
    let header = own.header(database)?;
    let mark = database.journal_mark(&header.journal).map_err(database_error)?.unwrap_or(0);
    let journal = Journal::new(own.path, header, Arc::clone(clock));
    let gap = journal.find_gap(mark).map_err(|fault| unusable(journal.path(), fault))?;
    let read_only = |error: Errno| {
        let folder = folder.display();
        format!(
            "the folder {folder} of the revocation journal is not writable ({error}), so that the journal keeps old acts, \
             and the checkpoint of the transparency log is not kept: correct its permissions"
        )
    };
    Ok(gap.map(|gap| gap.warning(journal.path())).or_else(|| denied.map(read_only)))
}

/// Maximum time from the timestamp of a journal entry to the end of its commit.
///
/// While [`complete_journal`] reads the database, a commit that it cannot see yet can have an earlier timestamp. So it
/// dates its own entries back by this time: such a commit then still counts as the later change.
const COMMIT_MAX: Duration = Duration::from_mins(1);
