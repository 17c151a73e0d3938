//! Opens regular files, and reads their text up to a maximum size. Refuses pipes, sockets, devices and folders, because
//! reading them could wait forever or never end. A symbolic link to a regular file is accepted.

use std::{
    fs::{self, File, FileType, OpenOptions, TryLockError},
    io::{self, Read as _},
    os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _},
    path::Path,
};

use rustix::fs::OFlags;
use sealpost_storage::owned_file;
use zeroize::Zeroizing;

/// Opens a regular file for reading.
pub fn open(path: &Path) -> io::Result<File> {
    open_with(File::options().read(true), path)
}

/// Opens a regular file with these options. Does not block if the path leads to a pipe.
pub(crate) fn open_with(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).map_err(io::Error::other)?;
    let opened = options.custom_flags(flags).open(path);
    match &opened {
        Ok(file) => require_regular(file.metadata()?.file_type())?,
        // The system's error about a socket, or about a pipe that is opened for writing, does not name the cause.
        Err(_) => {
            fs::metadata(path).map_or(Ok(()), |found| require_regular(found.file_type()))?;
        }
    }
    opened
}

/// Opens a regular file with these options. Creates a missing file with mode 0600, for the owner of its folder.
pub(crate) fn open_or_create(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    match open_with(options, path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            match owned_file::create(options, path) {
                // Another process has created the file first.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    open_with(options, path)
                }
                created => created,
            }
        }
        opened => opened,
    }
}

/// Opens or creates a lock file, and locks it. Returns `None` if another process holds the lock.
pub(crate) fn try_lock(path: &Path) -> io::Result<Option<File>> {
    let file = open_or_create(File::options().write(true), path).map_err(|error| {
        let message = format!(
            "the lock file {} cannot be opened ({error}): make the owner of its folder its owner with chown",
            path.display()
        );
        io::Error::new(error.kind(), message)
    })?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Reads a text in UTF-8 of at most `bytes_max` bytes, without its byte order mark.
pub fn read_text(path: &Path, bytes_max: u64) -> io::Result<Zeroizing<String>> {
    text_of(open(path)?, bytes_max)
}

/// Reads a text in UTF-8 of at most `bytes_max` bytes from an open file, without its byte order mark.
pub(crate) fn text_of(file: File, bytes_max: u64) -> io::Result<Zeroizing<String>> {
    // Reserves the final size at once, because a reallocation would leave a copy of a secret in memory.
    let capacity = file.metadata()?.len().min(bytes_max).saturating_add(1);
    let capacity = usize::try_from(capacity).map_err(io::Error::other)?;
    let mut bytes = Zeroizing::new(Vec::with_capacity(capacity));
    file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > bytes_max) {
        return Err(invalid(&format!("the file is longer than {bytes_max} bytes: check the path")));
    }
    if matches!(**bytes, [0xFE, 0xFF, ..] | [0xFF, 0xFE, ..]) || bytes.contains(&0) {
        return Err(invalid("the file is UTF-16 or no text: save it as text in UTF-8"));
    }
    let text = str::from_utf8(&bytes)
        .map_err(|_invalid| invalid("the file is not in UTF-8: save it as text in UTF-8"))?;
    Ok(Zeroizing::new(without_mark(text).to_owned()))
}

/// Returns a text without the byte order mark that some editors write at the start.
pub(crate) fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn require_regular(found: FileType) -> io::Result<()> {
    let kind = if found.is_file() {
        return Ok(());
    } else if found.is_dir() {
        "a folder"
    } else if found.is_fifo() {
        "a pipe"
    } else if found.is_socket() {
        "a socket"
    } else {
        "a device"
    };
    Err(invalid(&format!("the path leads to {kind}: give the path of a regular file")))
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}
