//! The port that authenticates rows of the database.

use std::fmt;

use super::StoreError;

/// Computes and verifies the tags of rows. A tag authenticates the columns of a row that decide who may log in or act.
/// Without the key of the tags, write access to the database does not suffice to forge such a row.
pub trait RowAuthenticator: fmt::Debug + Send + Sync {
    /// Computes the tag of a row under the newest version of the key.
    fn tag(&self, table: &'static str, columns: &[Vec<u8>]) -> Result<Vec<u8>, StoreError>;

    /// Returns whether the tag belongs to this row. Fails if the version of the key that made the tag is missing.
    fn is_valid(
        &self,
        table: &'static str,
        columns: &[Vec<u8>],
        tag: &[u8],
    ) -> Result<bool, StoreError>;

    /// Returns the first bytes of all tags under the newest version of the key. Tags under older versions sort before.
    fn newest_prefix(&self) -> [u8; 4];
}
