//! The transparency log, a public Merkle tree: appends statements, signs checkpoints, serves the files of the log, and
//! proves entries.
//!
//! A [statement](sealpost_domain::ports::StatementKind) describes a key, a badge, envelopes, or an entry of the audit
//! trail. A checkpoint is the signed size and root hash of the log.

mod append;
mod files;
pub(crate) mod kept;
pub(crate) mod logged_trail;
pub(crate) mod proof;
mod statement_cursor;
pub(crate) mod stored;
mod witnessed;

use std::sync::Arc;

use sealpost_domain::ports::StoreError;

use self::{kept::find_log_fault, statement_cursor::StatementCursor};
use crate::sealpost::core::Core;

/// Serves the files of the transparency log, and keeps the cosignatures of witnesses (other servers that check the
/// log). Clones share their state.
#[derive(Clone)]
pub struct TransparencyLog {
    core: Arc<Core>,
    statement_cursor: Arc<StatementCursor>,
}

impl TransparencyLog {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { core, statement_cursor: Arc::default() }
    }

    /// Returns the reason, for operators, why this node does not extend the log. Returns `None` if the node extends the
    /// log. Blocks the thread.
    pub fn fault(&self) -> Result<Option<String>, StoreError> {
        let file = self.core.settings.checkpoint_file.as_ref();
        file.map_or(Ok(None), |file| find_log_fault(&self.core.store, file))
    }
}
