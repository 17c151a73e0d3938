//! Adds a line to a key file. The file is replaced atomically and is on disk before the new key version is used.

use std::{
    fs::{self, File, Metadata, Permissions},
    io::{self, Write as _},
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, fchown},
    path::{Path, PathBuf},
};

use sealpost_storage::owned_file::{self, with_suffix};
use zeroize::Zeroizing;

use crate::{error::NodeError, files::regular_file, keys::new_line};

/// A key file that is locked for a rotation.
pub(super) struct KeyFile {
    path: PathBuf,
    /// The lock of the key file. Without the lock, two rotations would each add a key, and one key would be lost.
    _lock: File,
}

impl KeyFile {
    /// Locks the key file for a rotation. Fails if another rotation has the lock.
    pub(super) fn lock(path: &Path) -> Result<Self, NodeError> {
        let cannot = |error| {
            NodeError::caused(format!("the key file {} cannot be used", path.display()), error)
        };
        // Resolves a symbolic link, so that the rotation replaces the target and keeps the link.
        let path = fs::canonicalize(path).map_err(cannot)?;
        let lock =
            regular_file::try_lock(&with_suffix(&path, ".lock")).map_err(NodeError::caused_by)?;
        let busy = || NodeError::new("another rotation is running: wait until it ends");
        Ok(Self { path, _lock: lock.ok_or_else(busy)? })
    }

    /// Adds a new random key to the file, with the version number after `newest`.
    pub(super) fn add(&self, newest: u32) -> Result<(), NodeError> {
        let version = newest.checked_add(1).ok_or_else(|| {
            NodeError::new(format!("no version is higher than {newest} of this key file"))
        })?;
        let line = new_line(version)?;
        self.append(&line).map_err(|error| {
            let message = format!(
                "the key file {} cannot be replaced: add the line of `sealpost kek new --version {version}` to it \
                 yourself, and run this command again",
                self.path.display()
            );
            NodeError::caused(message, error)
        })
    }

    fn append(&self, line: &str) -> io::Result<()> {
        let lines = Zeroizing::new(fs::read_to_string(&self.path)?);
        let gap = if lines.is_empty() || lines.ends_with('\n') { "" } else { "\n" };
        // Allocates the whole length at once, because a text that grows leaves copies of keys in freed memory.
        let parts = [lines.as_str(), gap, line, "\n"];
        let text = Zeroizing::new(parts.concat());
        let old = fs::metadata(&self.path)?;
        owned_file::replace(&self.path, |file| {
            give_access_of(&old, file)?;
            file.write_all(text.as_bytes())
        })
    }
}

/// Gives a new key file the owner, the group and the permissions of the old one.
fn give_access_of(old: &Metadata, file: &File) -> io::Result<()> {
    let made = file.metadata()?;
    if (made.uid(), made.gid()) != (old.uid(), old.gid()) {
        fchown(file, Some(old.uid()), Some(old.gid()))?;
    }
    file.set_permissions(Permissions::from_mode(old.permissions().mode() & 0o777))
}

#[cfg(test)]
mod tests {
    use sealpost_wallet::Keyring;

    use super::*;

    fn folder_with(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("kek");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        (folder, path)
    }

    #[test]
    fn adding_a_line_keeps_the_other_lines_and_the_mode() {
        let first = Keyring::fresh_line(3).unwrap();
        let (folder, path) = folder_with(&format!("# ours\n{}", first.as_str()));
        fs::write(folder.path().join("kek.new"), "left behind").unwrap();
        KeyFile::lock(&path).unwrap().add(3).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with(&format!("# ours\n{}\n4:", first.as_str())), "{text}");
        assert_eq!(Keyring::parse(&text).unwrap().versions(), [3, 4]);
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(!folder.path().join("kek.new").exists());
    }

    #[test]
    fn a_symbolic_link_stays_a_symbolic_link() {
        let (folder, path) = folder_with(&Keyring::fresh_line(1).unwrap());
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        KeyFile::lock(&link).unwrap().add(1).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(Keyring::parse(&fs::read_to_string(&path).unwrap()).unwrap().newest(), 2);
    }

    #[test]
    fn a_second_rotation_is_rejected_while_the_first_one_runs() {
        let (_folder, path) = folder_with(&Keyring::fresh_line(1).unwrap());
        let held = KeyFile::lock(&path).unwrap();
        assert!(KeyFile::lock(&path).is_err());
        drop(held);
        assert!(KeyFile::lock(&path).is_ok());
    }
}
