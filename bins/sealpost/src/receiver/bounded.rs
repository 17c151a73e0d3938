//! Reads the input files of `sealpost verify`, `sealpost verify-proof` and `sealpost listen`, up to a maximum size.

use std::{io::Read as _, path::Path};

use sealpost_node::regular_file;

use crate::command_error::CommandError;

/// Reads a text of at most `bytes_max` bytes, without the byte order mark that some editors write at its start. `role`
/// names the file in errors.
pub(crate) fn read_text(role: &str, path: &Path, bytes_max: u64) -> Result<Vec<u8>, CommandError> {
    let text = read(role, path, bytes_max)?;
    Ok(text.strip_prefix(b"\xEF\xBB\xBF").map(<[u8]>::to_vec).unwrap_or(text))
}

/// Reads a whole file. If the file is unreadable or longer than `bytes_max`, fails with the exit status of wrong usage.
/// `role` names the file in the error, for example "the DID document".
pub(crate) fn read(role: &str, path: &Path, bytes_max: u64) -> Result<Vec<u8>, CommandError> {
    let mut bytes = Vec::new();
    let read = regular_file::open(path)
        .and_then(|file| file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes));
    read.map_err(|error| {
        CommandError::usage(format!("{role} {} cannot be read: {error}", path.display()))
    })?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length <= bytes_max) {
        Ok(bytes)
    } else {
        Err(CommandError::usage(format!(
            "{role} {} is longer than {bytes_max} bytes: check the path",
            path.display()
        )))
    }
}
