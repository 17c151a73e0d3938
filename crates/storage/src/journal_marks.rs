//! Reads the identity of a database, and stores the marks of its revocation journals. A journal is a file outside the
//! database. Its mark is a number that each transaction with journaled changes raises.

use std::sync::Arc;

use diesel::{dsl::max, prelude::*};
use sealpost_domain::ports::{Durability, RevocationJournal, StoreError};

use crate::{
    connection::{fault::Fault, on_backend},
    database::Database,
    rows::columns,
    schema::{database_identity as i, journal_marks as m},
};

impl Database {
    /// Attaches the revocation journal, a file outside the database. Later transactions of this database and its clones
    /// record revocations and similar changes in the journal. Does nothing if a journal is already attached.
    pub fn attach_journal(&self, journal: Arc<dyn RevocationJournal>) {
        // An error only means that a journal is already attached.
        drop(self.journal.set(journal));
    }

    /// Returns the random id of this database. Copies and restored backups have the same id.
    pub fn identity(&self) -> Result<String, StoreError> {
        self.read(|conn| {
            let id = i::table.select(max(i::id)).get_result::<Option<String>>(conn)?;
            id.ok_or(Fault::Corrupt("id of the database"))
        })
    }

    /// Returns the mark of a revocation journal: a number that each transaction with journaled changes raises. `None`
    /// if no transaction of this database has raised the mark.
    pub fn journal_mark(&self, journal: &str) -> Result<Option<u64>, StoreError> {
        self.read(|conn| {
            let mark = m::table.find(journal).select(m::mark).first::<i64>(conn).optional()?;
            mark.map(|mark| columns::number(mark, "mark of a journal")).transpose()
        })
    }

    /// Raises the mark of a revocation journal to at least `mark`.
    pub fn raise_journal_mark(&self, journal: &str, mark: u64) -> Result<(), StoreError> {
        self.transact(Durability::Durable, |conn| {
            let mark: i64 = columns::number(mark, "mark of a journal")?;
            let row = (m::journal.eq(journal), m::mark.eq(mark));
            on_backend!(conn, c => {
                diesel::insert_into(m::table).values(row).on_conflict_do_nothing().execute(c)?;
                let lower = m::table.find(journal).filter(m::mark.lt(mark));
                diesel::update(lower).set(m::mark.eq(mark)).execute(c)?;
            });
            Ok(())
        })
    }
}
