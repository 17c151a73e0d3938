//! Checks the permissions of the data folder, and the free space of its disk.

use std::{fs, os::unix::fs::MetadataExt as _, path::Path};

use rustix::fs::{Access, access, statvfs};
use sealpost_storage::{DatabaseUrl, owned_file};

use crate::{
    doctor::{database::Opened, finding::Finding},
    embedded::data_folder::{STICKY, replaceable},
    settings::{DatabaseSettings, Settings},
};

/// Checks the permissions of an embedded database's data folder. Returns `None` for PostgreSQL. Also returns `None` if
/// the path of the database is a folder, because the check of the database reports this fault.
pub(super) fn check(settings: &DatabaseSettings) -> Option<Finding> {
    let DatabaseUrl::Sqlite(file) = settings.database_url() else { return None };
    let file = owned_file::resolve_links(&file);
    (!file.is_dir()).then(|| permissions(settings, &owned_file::folder_of(&file), &file))
}

/// Checks the free space for an embedded database. Returns `None` with PostgreSQL.
pub(super) fn check_space(settings: &Settings, opened: Option<&Opened>) -> Option<Finding> {
    let DatabaseUrl::Sqlite(file) = settings.database.database_url() else { return None };
    let folder = owned_file::folder_of(&owned_file::resolve_links(&file));
    let free = match statvfs(nearest(&folder)) {
        Ok(found) => found.f_bavail.saturating_mul(found.f_frsize),
        Err(error) => {
            let text = format!("the free space cannot be read: {error}");
            return Some(Finding::warn("disk", text));
        }
    };
    // A server counts the unused pages inside the database as free space, too.
    let least = settings.service.min_free_bytes;
    let is_short = opened.and_then(|opened| opened.database.is_short_of_space(least).ok());
    Some(judge_free(free / MIB, is_short.unwrap_or(free < least)))
}

fn permissions(settings: &DatabaseSettings, folder: &Path, file: &Path) -> Finding {
    let shown = folder.display();
    if !folder.exists() {
        let above = nearest(folder);
        return match access(above, Access::WRITE_OK) {
            Ok(()) if !above.is_dir() => {
                let text = format!("{} is not a folder: give another --data-dir", above.display());
                Finding::fail("folder", text)
            }
            Ok(()) => Finding::ok("folder", format!("the first start creates {shown}")),
            Err(error) => Finding::fail(
                "folder",
                format!(
                    "{shown} cannot be created ({error}): create it, or give another --data-dir"
                ),
            ),
        };
    }
    if let Err(error) = access(folder, Access::WRITE_OK | Access::EXEC_OK) {
        let text = format!(
            "{shown} is not writable ({error}): make the server's user its owner with chown"
        );
        return Finding::fail("folder", text);
    }
    if let Some(open) = replaceable(settings, file).first().map(|folder| folder.display()) {
        let text = format!("other users can replace files in {open}: run chmod 700 {open}");
        return Finding::fail("folder", text);
    }
    let mode = |path: &Path| fs::metadata(path).map_or(0, |found| found.mode());
    if mode(file) & 0o007 != 0 {
        let text =
            format!("all users of this machine can read {0}: run chmod 600 {0}", file.display());
        return Finding::fail("folder", text);
    }
    if mode(folder) & 0o077 != 0 {
        // A folder with the sticky bit, such as `/tmp`, is meant to be shared.
        let is_shared = mode(folder) & STICKY != 0;
        let chmod = format!("run chmod 700 {shown}");
        let advice = if is_shared { "give the database another folder" } else { chmod.as_str() };
        return Finding::warn("folder", format!("other users can list {shown}: {advice}"));
    }
    Finding::ok("folder", format!("only the owner can access {shown}"))
}

fn judge_free(mib: u64, is_short: bool) -> Finding {
    match mib {
        // Too little even for a start.
        0..FREE_MIN_MIB => Finding::fail(
            "disk",
            "less than 1 MiB is free, so that a server cannot start: free some space",
        ),
        // Only a warning: a server with little free space can still open messages.
        _ if is_short => Finding::warn(
            "disk",
            format!(
                "{mib} MiB are free, less than --min-free-bytes, so that sends and activations get 503: free some space"
            ),
        ),
        FREE_MIN_MIB..FREE_LOW_MIB => Finding::warn(
            "disk",
            format!("{mib} MiB are free: free some space before the disk is full"),
        ),
        _ => Finding::ok("disk", format!("{mib} MiB are free")),
    }
}

/// Returns the folder if it exists, otherwise its nearest existing parent.
fn nearest(folder: &Path) -> &Path {
    let existing = folder.ancestors().find(|path| path.exists());
    existing.unwrap_or(Path::new("."))
}

const MIB: u64 = 1024 * 1024;
const FREE_MIN_MIB: u64 = 1;
const FREE_LOW_MIB: u64 = 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::finding::Verdict;

    #[test]
    fn a_full_disk_fails_and_a_nearly_full_disk_warns() {
        assert_eq!(judge_free(0, false).verdict, Verdict::Fail);
        assert_eq!(judge_free(0, true).verdict, Verdict::Fail);
        assert_eq!(judge_free(1, false).verdict, Verdict::Warn);
        assert_eq!(judge_free(1, true).verdict, Verdict::Warn);
        assert_eq!(judge_free(1023, false).verdict, Verdict::Warn);
        assert_eq!(judge_free(1024, false).verdict, Verdict::Ok);
        assert_eq!(judge_free(1024, true).verdict, Verdict::Warn);
    }

    #[test]
    fn a_folder_in_the_place_of_the_database_gets_no_advice_about_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let checked = |path| {
            let url = Some(DatabaseUrl::Sqlite(path));
            check(&DatabaseSettings { url, ..DatabaseSettings::default() })
        };
        assert!(checked(folder.path().join("sealpost.db")).is_some());
        assert!(checked(folder.path().to_owned()).is_none());
    }

    #[test]
    fn less_free_space_than_sends_require_warns() {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = Settings::default();
        settings.database.data_dir = folder.path().to_owned();
        settings.service.min_free_bytes = u64::MAX;
        let finding = check_space(&settings, None).unwrap();
        assert_eq!(finding.verdict, Verdict::Warn);
        assert!(finding.detail.contains("--min-free-bytes"), "{}", finding.detail);
    }
}
