//! Reads rows through one connection, inside or outside a transaction.

use std::collections::HashMap;

use sealpost_domain::{ApiKeyId, Handle, ports::StoreError};

use crate::{
    connection::{
        AnyConnection,
        fault::{Fault, unavailable},
        pool::{Pool, PooledConnection},
    },
    rows::row_tags::RowTags,
};

/// Reads rows. [`Database::read`](crate::Database::read) opens a reader outside a transaction: each read then sees all
/// rows that were committed before it. A [`Transaction`](crate::Transaction) reads through its own reader.
pub struct Reader {
    pub(crate) connection: PooledConnection,
    /// True after a failed statement. A failed transaction cannot be committed.
    pub(crate) failed: bool,
    /// Owners of the handles that were read; `None` for a free handle. Assigning a handle fails if its owner has
    /// changed since then.
    pub(crate) handles_seen: HashMap<Handle, Option<ApiKeyId>>,
    pub(crate) row_tags: RowTags,
}

impl Reader {
    pub(crate) fn open(pool: &Pool, row_tags: &RowTags) -> Result<Self, StoreError> {
        Ok(Self::new(pool.get().map_err(unavailable)?, row_tags.clone()))
    }

    pub(crate) fn new(connection: PooledConnection, row_tags: RowTags) -> Self {
        Self { connection, failed: false, handles_seen: HashMap::new(), row_tags }
    }

    /// Runs statements and classifies their errors.
    pub(crate) fn run<T>(
        &mut self,
        work: impl FnOnce(&mut AnyConnection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        self.connection.run(work).map_err(|fault| {
            self.failed = true;
            fault.into()
        })
    }
}
