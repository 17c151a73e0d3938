//! Reads the file of reserved handles at start. A handle is the readable name of a key; only an operator can give a
//! reserved handle to a key. An invalid file prevents the start.

use std::path::Path;

use sealpost_domain::ReservedHandles;

use super::regular_file;
use crate::error::NodeError;

/// Reads the reserved handles from a file. Returns the built-in list if `file` is `None`.
pub(crate) fn read(file: Option<&Path>) -> Result<ReservedHandles, NodeError> {
    let Some(file) = file else { return Ok(ReservedHandles::default()) };
    let message = |problem| format!("--reserved-handles {} {problem}", file.display());
    let text = regular_file::read_text(file, FILE_BYTES_MAX)
        .map_err(|error| NodeError::caused(message("cannot be read"), error))?;
    ReservedHandles::parse(&text)
        .map_err(|fault| NodeError::caused(message("cannot be used"), fault))
}

const FILE_BYTES_MAX: u64 = 1_048_576;
