//! Collects the acts of a transaction for the revocation journal, a file outside the database. Acts are changes that a
//! restored backup would undo, such as revocations. After a restore, the journal repeats them.
//!
//! The journal has a mark, a number that is also stored in the database. Each durable transaction with acts raises the
//! mark. If the mark in the database is lower than the newest mark in the journal, the database is an older backup.

use std::sync::{Arc, OnceLock};

use diesel::{prelude::*, upsert::excluded};
use sealpost_domain::{
    Timestamp,
    ports::{JournaledAct, RevocationJournal, StoreError},
};

use crate::{
    connection::{AnyConnection, on_backend, query_error::QueryError, server_clock},
    rows::columns,
    schema::journal_marks as m,
};

/// The revocation journal of a database, shared by all clones of the database. Empty until a journal is attached.
pub(crate) type SharedJournal = Arc<OnceLock<Arc<dyn RevocationJournal>>>;

/// The acts of one transaction (changes that a restored backup would undo, such as revocations).
#[derive(Debug, Default)]
pub(crate) struct JournaledActs {
    journal: Option<Arc<dyn RevocationJournal>>,
    acts: Vec<JournaledAct>,
}

/// The acts (revocations and similar changes) of a transaction that is ready to commit. The result of the commit
/// decides which acts are appended to the journal.
#[derive(Debug)]
pub(crate) struct PendingActs {
    journal: Arc<dyn RevocationJournal>,
    mark: Option<u64>,
    /// The time of the database server; `None` for SQLite.
    server_time: Option<Timestamp>,
    acts: Vec<JournaledAct>,
}

impl JournaledActs {
    pub(crate) fn new(journal: &SharedJournal) -> Self {
        Self { journal: journal.get().cloned(), acts: Vec::new() }
    }

    /// Adds an act (a revocation or similar change), unless it equals the last added act. Does nothing if the database
    /// has no journal.
    pub(crate) fn add(&mut self, act: JournaledAct) {
        if self.journal.is_some() && self.acts.last() != Some(&act) {
            self.acts.push(act);
        }
    }

    /// Ends the collection of acts (revocations and similar changes) directly before the commit. Returns the acts to
    /// append to the journal after the commit; `None` if there are no acts or no journal.
    ///
    /// If `is_durable` is true, raises the journal's mark in the database by one. Raising the mark locks its row, so
    /// call this function last in the transaction.
    ///
    /// If `is_durable` is false, the acts get no mark. With one, a crash could lose this commit with the mark in the
    /// database, but not the mark in the journal, and the database would look older than its journal.
    ///
    /// Dates the acts by the clock of the database server, while their rows are locked. So a later act on the same row
    /// has a later time, also on another node.
    pub(crate) fn raise_mark(
        self,
        conn: &mut AnyConnection,
        is_durable: bool,
    ) -> Result<Option<PendingActs>, QueryError> {
        let Self { journal: Some(journal), acts } = self else { return Ok(None) };
        if acts.is_empty() {
            return Ok(None);
        }
        let name = if is_durable { journal.name() } else { None };
        let mark = name.map(|name| raise_by_one(conn, &name)).transpose()?;
        let server_time = server_clock(conn)?;
        Ok(Some(PendingActs { journal, mark, server_time, acts }))
    }
}

impl PendingActs {
    /// Appends the acts (revocations and similar changes) to the journal after a commit. If the commit is in doubt,
    /// appends only acts that revoke rights, and without a mark. Appends nothing if the commit failed.
    pub(crate) fn append(self, done: &Result<(), StoreError>) {
        let Self { journal, mark, server_time, mut acts } = self;
        match done {
            Ok(()) => journal.append(mark, server_time, &acts),
            Err(StoreError::InDoubt(_)) => {
                acts.retain(JournaledAct::only_revokes);
                journal.append(None, server_time, &acts);
            }
            Err(_) => {}
        }
    }
}

fn raise_by_one(conn: &mut AnyConnection, journal: &str) -> Result<u64, QueryError> {
    let row = (m::journal.eq(journal), m::mark.eq(1));
    let mark: i64 = on_backend!(conn, c => {
        diesel::insert_into(m::table)
            .values(row)
            .on_conflict(m::journal)
            .do_update()
            .set(m::mark.eq(m::mark + excluded(m::mark)))
            .returning(m::mark)
            .get_result(c)
    })?;
    columns::number(mark, "mark of a journal")
}
