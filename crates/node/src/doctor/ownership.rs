//! Checks that the server can write to its files: database, logs, locks, disk reserve and revocation journals. A file
//! that root has created is often readable by root only.

use std::{
    fs::{self, Metadata},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{Access, access},
    process::geteuid,
};
use sealpost_storage::{
    DatabaseUrl,
    owned_file::{folder_of, resolve_links, with_suffix},
};

use crate::{
    doctor::finding::Finding,
    embedded::data_folder,
    keys::source::KeySource,
    settings::{JournalLocation, Settings},
};

/// Returns a finding for each file that the owner of its folder cannot read and write, because the server runs as this
/// owner. If a user other than root runs the check, this user must also be able to read and write each file.
pub(super) fn check(settings: &Settings) -> Vec<Finding> {
    let mut findings: Vec<_> =
        files(settings).iter().filter_map(|file| refusal(file)).map(fail).collect();
    if let DatabaseUrl::Sqlite(file) = settings.database.database_url()
        && let Err(error) = data_folder::require_single_name(&file)
    {
        findings.push(fail(error.with_causes()));
    }
    findings
}

fn fail(text: String) -> Finding {
    Finding::fail("files", text)
}

/// Returns the existing files that the server or an operator command writes.
fn files(settings: &Settings) -> Vec<PathBuf> {
    let database = match settings.database.database_url() {
        DatabaseUrl::Postgres(_) => None,
        DatabaseUrl::Sqlite(file) => Some(file),
    };
    let mut files = Vec::new();
    if let Some(database) = &database {
        let database = resolve_links(database);
        let suffixes = ["", "-wal", "-shm", ".reserve"];
        files.extend(suffixes.map(|suffix| with_suffix(&database, suffix)));
        files.push(data_folder::lock_file(&database));
    }
    if let Ok(source) = KeySource::new(&settings.keys, &settings.database)
        && let Some(file) = source.file()
    {
        let lock = with_suffix(&resolve_links(file), ".lock");
        // Omits the lock of the key file if root owns its folder. Only root can then add keys, and a server never opens
        // this lock.
        if fs::metadata(folder_of(&lock)).is_ok_and(|folder| folder.uid() != 0) {
            files.push(lock);
        }
    }
    match &settings.database.revocation_journal {
        JournalLocation::DataFolder => files.extend(journals(settings, database.as_deref())),
        JournalLocation::File(file) => files.push(file.clone()),
        JournalLocation::Off => {}
    }
    files.retain(|file| file.exists() && !file.is_dir());
    files
}

fn journals(settings: &Settings, database: Option<&Path>) -> Vec<PathBuf> {
    let folder = database.map_or_else(|| settings.database.data_dir.clone(), folder_of);
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_journal = |file: &PathBuf| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        (name.starts_with("revocations-") && name.ends_with(".log"))
            || (name.starts_with("log-") && name.ends_with(".checkpoint"))
    };
    entries.map(|entry| entry.path()).filter(is_journal).collect()
}

/// Returns the reason why the server cannot use the file, with advice. Returns `None` if the server can use the file.
fn refusal(file: &Path) -> Option<String> {
    let (own, folder) = (fs::metadata(file).ok()?, fs::metadata(folder_of(file)).ok()?);
    let is_open =
        || geteuid().is_root() || access(file, Access::READ_OK | Access::WRITE_OK).is_ok();
    if is_usable_for_owner(&own, &folder) && is_open() {
        return None;
    }
    Some(format!(
        "{0} belongs to user {1}, so that the server, user {2}, cannot write to it: run chown {2}:{3} {0}",
        file.display(),
        own.uid(),
        folder.uid(),
        folder.gid()
    ))
}

fn is_usable_for_owner(file: &Metadata, folder: &Metadata) -> bool {
    let bits = if folder.uid() == 0 {
        return true;
    } else if file.uid() == folder.uid() {
        0o600
    } else if file.gid() == folder.gid() {
        0o060
    } else {
        0o006
    };
    file.mode() & bits == bits
}
