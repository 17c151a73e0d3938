//! Creates files, each as a whole or not at all.

use std::{
    fs::File,
    io::{self, Write as _},
    path::Path,
};

use sealpost_storage::owned_file;
use tempfile::NamedTempFile;

/// Writes a new file with this text, readable only for its owner. If the file exists, does not change it. After a crash
/// or on a full disk, the path has either the whole file or no file.
pub(crate) fn write(path: &Path, text: &str) -> io::Result<()> {
    let folder = owned_file::folder_of(path);
    let mut file = NamedTempFile::with_prefix_in("new.", &folder)?;
    file.write_all(text.as_bytes())?;
    owned_file::give_to_owner_of(&folder, file.as_file())?;
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        Err(error) if error.error.kind() != io::ErrorKind::AlreadyExists => Err(error.error),
        Ok(_) | Err(_) => File::open(folder)?.sync_all(),
    }
}
