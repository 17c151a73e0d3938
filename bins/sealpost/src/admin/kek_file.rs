//! Adds a line to the key file. The file is replaced as a whole, so that a reader finds the old one or the new one,
//! and is on the disk before anybody hears of it.

use std::{
    fs::{self, File, Metadata, OpenOptions, Permissions, TryLockError},
    io::{self, Write as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, fchown},
    path::{Path, PathBuf},
};

use sealpost_wallet::Keyring;
use zeroize::Zeroizing;

use crate::fault::Fault;

/// The key file, which nobody else rotates meanwhile.
pub(super) struct KekFile {
    path: PathBuf,
    /// Two rotations at once would each add a key, and one of the keys would be lost.
    _lock: File,
}

impl KekFile {
    /// Takes the right to rotate.
    pub(super) fn lock(path: &Path) -> Result<Self, Fault> {
        let cannot =
            |error| Fault::caused(format!("the key file {} cannot be used", path.display()), error);
        // A symbolic link stays one: what it leads to is replaced.
        let path = fs::canonicalize(path).map_err(cannot)?;
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true).mode(PRIVATE);
        let lock = options.open(beside(&path, "lock")).map_err(cannot)?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path, _lock: lock }),
            Err(TryLockError::Error(error)) => Err(cannot(error)),
            Err(TryLockError::WouldBlock) => {
                Err(Fault::new("another rotation is under way; wait until it is done"))
            }
        }
    }

    /// Adds a fresh key of the version after `newest`.
    pub(super) fn add(&self, newest: u32) -> Result<(), Fault> {
        let version = newest
            .checked_add(1)
            .ok_or_else(|| Fault::new("there is no higher version than that of this key file"))?;
        let line = Keyring::fresh_line(version)
            .map_err(|error| Fault::caused("no key can be made", error))?;
        self.append(&line).map_err(|error| {
            let path = self.path.display();
            Fault::caused(
                format!(
                    "the key file {path} cannot be replaced; add the line of `sealpost kek new --version \
                     {version}` to it by other means, and run this again"
                ),
                error,
            )
        })
    }

    fn append(&self, line: &str) -> io::Result<()> {
        let old = Zeroizing::new(fs::read_to_string(&self.path)?);
        let gap = if old.is_empty() || old.ends_with('\n') { "" } else { "\n" };
        let text = Zeroizing::new(format!("{}{gap}{line}\n", old.as_str()));
        let fresh = beside(&self.path, "new");
        // What an interrupted run left.
        if fresh.exists() {
            fs::remove_file(&fresh)?;
        }
        write_private(&fresh, &text, &fs::metadata(&self.path)?)
            .and_then(|()| fs::rename(&fresh, &self.path))
            .inspect_err(|_cause| drop(fs::remove_file(&fresh)))?;
        File::open(folder_of(&self.path))?.sync_all()
    }
}

/// Whoever could read the old file can read the new one, and nobody else.
fn write_private(path: &Path, text: &str, like: &Metadata) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(PRIVATE).open(path)?;
    let made = file.metadata()?;
    if (made.uid(), made.gid()) != (like.uid(), like.gid()) {
        fchown(&file, Some(like.uid()), Some(like.gid()))?;
    }
    file.set_permissions(Permissions::from_mode(like.permissions().mode() & 0o777))?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn beside(path: &Path, extension: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    name.into()
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}

const PRIVATE: u32 = 0o600;

#[cfg(test)]
mod tests {
    use super::*;

    fn folder_with(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kek");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        (folder, path)
    }

    #[test]
    fn a_line_is_added_and_everything_else_stays() {
        let first = Keyring::fresh_line(3).unwrap();
        let (folder, path) = folder_with(&format!("# ours\n{}", first.as_str()));
        fs::write(folder.path().join("kek.new"), "left behind").unwrap();
        KekFile::lock(&path).unwrap().add(3).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with(&format!("# ours\n{}\n4:", first.as_str())), "{text}");
        assert_eq!(Keyring::parse(&text).unwrap().versions(), [3, 4]);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(!folder.path().join("kek.new").exists());
    }

    #[test]
    fn a_link_stays_a_link() {
        let (folder, path) = folder_with(&Keyring::fresh_line(1).unwrap());
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        KekFile::lock(&link).unwrap().add(1).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(Keyring::parse(&fs::read_to_string(&path).unwrap()).unwrap().newest(), 2);
    }

    #[test]
    fn two_do_not_rotate_at_once() {
        let (_folder, path) = folder_with(&Keyring::fresh_line(1).unwrap());
        let held = KekFile::lock(&path).unwrap();
        assert!(KekFile::lock(&path).is_err());
        drop(held);
        assert!(KekFile::lock(&path).is_ok());
    }
}
