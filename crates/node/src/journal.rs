//! The revocation journal: an append-only file outside the database. After a restore of the database it revokes again.

mod file;
pub(crate) mod keeper;
mod line;
pub(crate) mod recovery;

pub use keeper::Journal;
pub use recovery::{JournalRecovery, attach_for_command, recover_database};
