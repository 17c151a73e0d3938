//! Reads a file that holds a secret, up to a bound, and refuses one that others on the machine can read too.

use std::{fs::File, io::Read as _, os::unix::fs::PermissionsExt as _, path::Path};

use zeroize::Zeroizing;

use crate::error::{Failure, NodeError};

/// The text of the file; `what` says what it is, such as "the key file".
pub fn read(what: &str, file: &Path) -> Result<Zeroizing<String>, NodeError> {
    let cannot = |error| {
        NodeError::File(Failure::caused(format!("{what} {} cannot be read", file.display()), error))
    };
    let handle = File::open(file).map_err(cannot)?;
    let found = handle.metadata().map_err(cannot)?;
    // A pipe belongs to whoever made it, whatever its mode.
    if found.is_file() && found.permissions().mode() & 0o007 != 0 {
        return Err(NodeError::File(Failure::new(format!(
            "everybody on this machine may read {what} {0}; run: chmod 600 {0}",
            file.display()
        ))));
    }
    // Room for all of it, so that no part of a secret stays behind where the text has moved away.
    let room = usize::try_from(BYTES_MAX + 1).unwrap_or_default();
    let mut text = Zeroizing::new(String::with_capacity(room));
    handle.take(BYTES_MAX + 1).read_to_string(&mut text).map_err(cannot)?;
    if text.len() < room {
        Ok(text)
    } else {
        let path = file.display();
        Err(NodeError::File(Failure::new(format!(
            "{what} {path} is longer than {BYTES_MAX} bytes; is it another?"
        ))))
    }
}

const BYTES_MAX: u64 = 65_536;
