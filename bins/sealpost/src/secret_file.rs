//! Reads a file that holds a secret, and refuses one that others on the machine can read too.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use zeroize::Zeroizing;

use crate::fault::Fault;

/// The text of the file; `what` says what it is, such as "the key file".
pub(crate) fn read(what: &str, file: &Path) -> Result<Zeroizing<String>, Fault> {
    let cannot = |error| Fault::caused(format!("{what} {} cannot be read", file.display()), error);
    let mode = fs::metadata(file).map_err(cannot)?.permissions().mode();
    if mode & 0o007 != 0 {
        return Err(Fault::new(format!(
            "everybody on this machine may read {what} {0}; run: chmod 600 {0}",
            file.display()
        )));
    }
    fs::read_to_string(file).map(Zeroizing::new).map_err(cannot)
}
