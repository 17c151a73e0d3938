//! Reads the file of reserved handles at start. A handle is the readable name of a key; only an operator can give a
//! reserved handle to a key. An invalid file prevents the start.

use std::{fs::File, io::Read as _, path::Path};

use sealpost_domain::ReservedHandles;

use crate::error::{Failure, NodeError};

/// Reads the reserved handles from a file. Returns the built-in list if `file` is `None`.
pub(crate) fn read(file: Option<&Path>) -> Result<ReservedHandles, NodeError> {
    let Some(file) = file else { return Ok(ReservedHandles::default()) };
    let message = |problem| format!("--reserved-handles {} {problem}", file.display());
    let mut text = String::new();
    let read = File::open(file)
        .and_then(|handle| handle.take(FILE_BYTES_MAX + 1).read_to_string(&mut text));
    read.map_err(|error| NodeError::Start(Failure::caused(message("cannot be read"), error)))?;
    if u64::try_from(text.len()).unwrap_or(u64::MAX) > FILE_BYTES_MAX {
        let problem = format!("is longer than {FILE_BYTES_MAX} bytes: give a smaller file");
        return Err(NodeError::Start(Failure::new(message(&*problem))));
    }
    ReservedHandles::parse(&text)
        .map_err(|fault| NodeError::Start(Failure::caused(message("cannot be used"), fault)))
}

const FILE_BYTES_MAX: u64 = 1_048_576;
