//! The data folder: whose it is, and how much room there is.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use rustix::fs::{Access, access, statvfs};
use sealpost_node::DatabaseSettings;
use sealpost_storage::DatabaseUrl;

use crate::doctor::finding::Finding;

/// Only where the database is a file on this machine.
pub(super) fn look(settings: &DatabaseSettings) -> Vec<Finding> {
    let DatabaseUrl::Sqlite(file) = settings.database_url() else { return Vec::new() };
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    vec![modes(&folder, &file), room(&folder)]
}

fn modes(folder: &Path, file: &Path) -> Finding {
    let shown = folder.display();
    if !folder.exists() {
        let above = nearest(folder);
        return match access(above, Access::WRITE_OK) {
            Ok(()) if !above.is_dir() => {
                let text = format!("{} is no folder; give another --data-dir", above.display());
                Finding::fail("folder", text)
            }
            Ok(()) => Finding::ok("folder", format!("{shown} will be made by the first start")),
            Err(error) => Finding::fail(
                "folder",
                format!("{shown} cannot be made ({error}); make it, or give another --data-dir"),
            ),
        };
    }
    if let Err(error) = access(folder, Access::WRITE_OK | Access::EXEC_OK) {
        let text =
            format!("{shown} cannot be written ({error}); chown it to the user of the server");
        return Finding::fail("folder", text);
    }
    let mode =
        |path: &Path| fs::metadata(path).map_or(0, |found| found.permissions().mode() & 0o777);
    if mode(file) & 0o007 != 0 {
        let text = format!("everybody may read {0}; run: chmod 600 {0}", file.display());
        return Finding::fail("folder", text);
    }
    if mode(folder) & 0o077 != 0 {
        return Finding::warn(
            "folder",
            format!("others may look into {shown}; run: chmod 700 {shown}"),
        );
    }
    Finding::ok("folder", format!("{shown} is for its owner alone"))
}

fn room(folder: &Path) -> Finding {
    match statvfs(nearest(folder)) {
        Ok(found) => judge_room(found.f_bavail.saturating_mul(found.f_frsize) / MIB),
        Err(error) => Finding::warn("disk", format!("its room cannot be asked for: {error}")),
    }
}

fn judge_room(mib: u64) -> Finding {
    match mib {
        0..ROOM_LEAST_MIB => {
            Finding::fail("disk", format!("{mib} MiB are free, which is too little; make room"))
        }
        ROOM_LEAST_MIB..ROOM_MIB => {
            Finding::warn("disk", format!("{mib} MiB are free; make room before it is full"))
        }
        _ => Finding::ok("disk", format!("{mib} MiB are free")),
    }
}

/// The folder, or what it would be made in.
fn nearest(folder: &Path) -> &Path {
    let there = folder.ancestors().find(|path| path.exists());
    there.unwrap_or(Path::new("."))
}

const MIB: u64 = 1024 * 1024;
const ROOM_LEAST_MIB: u64 = 100;
const ROOM_MIB: u64 = 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Verdict;

    #[test]
    fn a_disk_that_fills_up_is_said_in_time() {
        assert_eq!(judge_room(99).verdict, Verdict::Fail);
        assert_eq!(judge_room(100).verdict, Verdict::Warn);
        assert_eq!(judge_room(1024).verdict, Verdict::Ok);
    }
}
