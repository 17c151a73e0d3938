//! A small disk, which tests can fill.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::Command,
};

/// A tmpfs of 48 MiB.
pub(crate) struct SmallDisk(String);

impl SmallDisk {
    /// Mounts the disk on a new folder. Returns `None` if the mount fails, for example because it needs root.
    pub(crate) fn mount(folder: &str) -> Option<Self> {
        fs::create_dir(folder).unwrap();
        let options = ["-t", "tmpfs", "-o", "size=48m,mode=0700", "tmpfs", folder];
        let mounted = Command::new("mount").args(options).output();
        mounted.is_ok_and(|output| output.status.success()).then(|| Self(folder.to_owned()))
    }

    fn filler(&self) -> PathBuf {
        Path::new(&self.0).join("filler")
    }

    /// Writes until no byte fits.
    pub(crate) fn fill(&self) {
        let mut file = File::create(self.filler()).unwrap();
        let full = loop {
            if let Err(error) = file.write_all(&[0; 4096]) {
                break error;
            }
        };
        assert_eq!(full.kind(), io::ErrorKind::StorageFull);
    }

    /// Deletes the file that fills the disk.
    pub(crate) fn make_room(&self) {
        fs::remove_file(self.filler()).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Unmounts lazily, because a running server may still have open files on the disk.
        drop(Command::new("umount").args(["--lazy", &self.0]).status());
    }
}
