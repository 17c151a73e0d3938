//! Reads files that hold secrets. Rejects long files and files that all users of the machine can read.

use std::{fs::File, io::Read as _, os::unix::fs::PermissionsExt as _, path::Path};

use zeroize::Zeroizing;

use crate::error::{Failure, NodeError};

/// Reads the text of a secret file. `role` names the file in errors, for example "the key file".
pub fn read(role: &str, file: &Path) -> Result<Zeroizing<String>, NodeError> {
    let path = file.display();
    let cannot =
        |error| NodeError::File(Failure::caused(format!("{role} {path} cannot be read"), error));
    let handle = File::open(file).map_err(cannot)?;
    let metadata = handle.metadata().map_err(cannot)?;
    // The mode of a pipe does not restrict readers, so only files are checked.
    if metadata.is_file() && metadata.permissions().mode() & 0o007 != 0 {
        return Err(NodeError::File(Failure::new(format!(
            "all users of this machine can access {role} {path}: run chmod 600 {path}"
        ))));
    }
    // Reserves the full capacity at once, because a reallocation would leave a copy of the secret in memory.
    let capacity = usize::try_from(BYTES_MAX + 1).unwrap_or_default();
    let mut text = Zeroizing::new(String::with_capacity(capacity));
    handle.take(BYTES_MAX + 1).read_to_string(&mut text).map_err(cannot)?;
    if text.len() < capacity {
        return Ok(text);
    }
    Err(NodeError::File(Failure::new(format!(
        "{role} {path} is longer than {BYTES_MAX} bytes: check the path"
    ))))
}

const BYTES_MAX: u64 = 65_536;
