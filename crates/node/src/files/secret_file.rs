//! Reads files that hold secrets. Rejects files of more than 64 KiB, and files that all users of the machine can
//! access.

use std::{os::unix::fs::PermissionsExt as _, path::Path};

use zeroize::Zeroizing;

use super::regular_file;
use crate::error::NodeError;

/// Reads the text of a secret file. `role` names the file in errors, for example "the key file".
pub fn read(role: &str, file: &Path) -> Result<Zeroizing<String>, NodeError> {
    let path = file.display();
    let cannot = |error| NodeError::caused(format!("{role} {path} cannot be read"), error);
    let handle = regular_file::open(file).map_err(cannot)?;
    let metadata = handle.metadata().map_err(cannot)?;
    if metadata.permissions().mode() & 0o007 != 0 {
        return Err(NodeError::new(format!(
            "all users of this machine can access {role} {path}: run chmod 600 {path}"
        )));
    }
    regular_file::text_of(handle, BYTES_MAX).map_err(cannot)
}

const BYTES_MAX: u64 = 65_536;
