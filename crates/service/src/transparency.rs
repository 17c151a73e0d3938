//! The transparency log: appends statements, signs checkpoints, serves the files of the log, and proves entries.

pub(crate) mod append;
mod files;
mod kept;
pub(crate) mod logged_trail;
pub(crate) mod proof;
pub(crate) mod statement_cursor;
pub(crate) mod stored;
mod witnessed;
