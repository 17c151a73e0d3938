//! Files that a receiver names, read up to a bound.

use std::{fs::File, io::Read as _, path::Path};

use crate::fault::Fault;

/// The whole file; wrong usage where it cannot be read or is longer than `bytes_max`.
pub(super) fn read(what: &str, path: &Path, bytes_max: u64) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::new();
    let read = File::open(path)
        .and_then(|file| file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes));
    read.map_err(|error| {
        Fault::usage(format!("{what} {} cannot be read: {error}", path.display()))
    })?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length <= bytes_max) {
        Ok(bytes)
    } else {
        Err(Fault::usage(format!(
            "{what} {} is longer than {bytes_max} bytes: no notice is",
            path.display()
        )))
    }
}
