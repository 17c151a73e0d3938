//! Tags of rows. A tag authenticates the columns of a row that decide who may log in or act. Write access to the
//! database therefore does not suffice to forge such a row.
//!
//! A command without key-encryption keys cannot compute or verify tags, but can revoke: a revocation removes the tag,
//! and a row without a tag is invalid.

use std::sync::{Arc, OnceLock};

use sealpost_domain::ports::{RowAuthenticator, StoreError};

use crate::connection::query_error::refused;

/// The columns of a row that its tag authenticates.
pub(crate) struct RowContent {
    table: &'static str,
    columns: Vec<Vec<u8>>,
}

/// Computes and verifies the tags of rows in a database. Clones share the key. Until a key is attached, methods that
/// need the key return [`StoreError::Refused`].
#[derive(Debug, Clone, Default)]
pub(crate) struct RowTags(Arc<OnceLock<Arc<dyn RowAuthenticator>>>);

impl RowContent {
    /// Creates the content of a row of this table, without columns.
    pub(crate) fn new(table: &'static str) -> Self {
        Self { table, columns: Vec::new() }
    }

    /// Adds a column.
    #[must_use]
    pub(crate) fn with(mut self, value: impl AsRef<[u8]>) -> Self {
        self.columns.push(value.as_ref().to_vec());
        self
    }

    /// Adds a column that can be NULL.
    #[must_use]
    pub(crate) fn with_optional(self, value: Option<impl AsRef<[u8]>>) -> Self {
        match value {
            Some(value) => self.with([1]).with(value),
            None => self.with([0]),
        }
    }

    /// Adds a column with a number.
    #[must_use]
    pub(crate) fn with_number(self, value: i64) -> Self {
        self.with(value.to_be_bytes())
    }
}

impl RowTags {
    /// Attaches the key. Does nothing if a key is already attached.
    pub(crate) fn attach(&self, authenticator: Arc<dyn RowAuthenticator>) {
        // An error only means that a key is already attached.
        drop(self.0.set(authenticator));
    }

    /// Computes the tag of a row.
    pub(crate) fn tag(&self, row: &RowContent) -> Result<Vec<u8>, StoreError> {
        self.require()?.tag(row.table, &row.columns)
    }

    /// Returns whether `tag` is the correct tag of the row. If the tag is wrong or missing, logs an error and returns
    /// false.
    pub(crate) fn is_valid(
        &self,
        row: &RowContent,
        tag: Option<&[u8]>,
    ) -> Result<bool, StoreError> {
        let authenticator = self.require()?;
        let is_valid = match tag {
            Some(tag) => authenticator.is_valid(row.table, &row.columns, tag)?,
            None => false,
        };
        if !is_valid {
            let table = row.table;
            tracing::error!(
                table,
                "a row does not have its tag: another program has changed it, or `sealpost admin kek adopt-rows` has \
                 not run after an upgrade"
            );
        }
        Ok(is_valid)
    }

    /// Returns whether the row may be shown: its tag is correct, or cannot be verified because no key-encryption key is
    /// loaded. Use this only to show or revoke a row, which a command without keys must be able to do.
    pub(crate) fn is_unsuspicious(
        &self,
        row: &RowContent,
        tag: Option<&[u8]>,
    ) -> Result<bool, StoreError> {
        if self.0.get().is_none() { Ok(true) } else { self.is_valid(row, tag) }
    }

    /// Returns the first bytes of every tag under the newest version of the key, to find the tags under older versions.
    pub(crate) fn newest_prefix(&self) -> Result<[u8; 4], StoreError> {
        Ok(self.require()?.newest_prefix())
    }

    fn require(&self) -> Result<&Arc<dyn RowAuthenticator>, StoreError> {
        self.0.get().ok_or_else(|| refused(NO_KEYS))
    }
}

const NO_KEYS: &str = "this needs the key-encryption keys: give --kek-file or --kek-provider";
