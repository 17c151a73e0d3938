//! The revocation journal: an append-only file outside the database. After the database is restored from a backup, the
//! journal repeats the revocations that the backup lacks.
//!
//! A mark is a number that each transaction with revocations raises by one. The database and the journal entries
//! contain it: a database with a lower mark than its journal has lost commits.

pub(crate) mod completion;
mod file;
pub(crate) mod keeper;
mod line;
pub(crate) mod record;
pub(crate) mod recovery;

pub use completion::{JournalCompleted, complete_journal};
pub use record::Journal;
pub use recovery::{JournalRecovery, attach_for_command, checkpoint_file, recover_database};
