//! Tests that commands of root leave all files to the owner of the folder, and that a file of another owner is reported.
//! They run only as root, and use an unprivileged user without a name.

use std::{
    fs,
    os::unix::{
        fs::{MetadataExt as _, PermissionsExt as _, chown},
        process::CommandExt as _,
    },
    path::{Path, PathBuf},
    process::Command,
};

use super::{doctor, finds};
use crate::support::{CommandResult, Database, Server, binary, run};

/// Returns a database whose data folder belongs to the user. `None` if the tests do not run as root.
pub(super) fn service() -> Option<Database> {
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        eprintln!("skipped: only root can create files for another user");
        return None;
    }
    let database = Database::embedded();
    let data = PathBuf::from(database.data());
    make_folder(&data);
    // Temporary folders have mode 0700.
    let above = data.parent().unwrap();
    fs::set_permissions(above, fs::Permissions::from_mode(0o755)).unwrap();
    Some(database)
}

/// Creates a folder that only the user can open.
pub(super) fn make_folder(folder: &Path) {
    fs::create_dir(folder).unwrap();
    fs::set_permissions(folder, fs::Permissions::from_mode(0o700)).unwrap();
    chown(folder, Some(USER), Some(USER)).unwrap();
}

/// Gives the folder of a database on PostgreSQL and its key file to the user.
pub(super) fn give_folder(database: &Database) {
    let key = database.kek_file();
    for path in [key.parent().unwrap(), &key] {
        chown(path, Some(USER), Some(USER)).unwrap();
    }
}

pub(super) fn as_user(mut command: Command) -> Command {
    command.uid(USER).gid(USER);
    command
}

fn serve_as_user(database: &Database) -> Server {
    Server::start(as_user(database.command(&["--dev"])))
}

#[track_caller]
pub(super) fn succeeds(command: Command) -> CommandResult {
    let ended = run(command);
    assert_eq!(ended.status, Some(0), "{ended:?}");
    ended
}

/// Checks that the user owns all files in the data folder, and returns their names.
#[track_caller]
fn check_owner(database: &Database) -> Vec<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(database.data()).unwrap() {
        let entry = entry.unwrap();
        let found = entry.metadata().unwrap();
        let name = entry.file_name().into_string().unwrap();
        assert_eq!((found.uid(), found.gid()), (USER, USER), "{name}");
        names.push(name);
    }
    names.sort();
    names
}

#[test]
fn the_first_start_of_root_leaves_all_files_to_the_owner_of_the_folder() {
    let Some(database) = service() else { return };
    let server = Server::start(database.command(&["--dev"]));
    let alice = server.new_identity();
    database.operate(&["key", "deactivate", &alice.key]);
    let names = check_owner(&database);
    for expected in ["kek", "sealpost.db", "sealpost.db-shm", "sealpost.db-wal", "sealpost.db.lock"]
    {
        assert!(names.iter().any(|name| name == expected), "{expected}: {names:?}");
    }
    server.kill();
    let server = serve_as_user(&database);
    server.log_in(&alice).ok();
    server.stop();
}

#[test]
fn commands_of_root_leave_all_files_to_the_owner_of_the_folder() {
    let Some(database) = service() else { return };
    let server = serve_as_user(&database);
    let alice = server.new_identity();
    server.stop();
    let names = check_owner(&database);
    let journal = names.iter().find(|name| name.starts_with("revocations-")).unwrap();
    for removed in ["sealpost.db.lock", "sealpost.db.reserve", journal] {
        drop(fs::remove_file(Path::new(&database.data()).join(removed)));
    }
    let backup = Path::new(&database.data()).join("backup.db");
    succeeds(database.backup_to(&backup));
    check_owner(&database);
    database.operate(&["key", "deactivate", &alice.key]);
    check_owner(&database);
    database.operate(&["kek", "rotate"]);
    assert!(check_owner(&database).contains(&"kek.lock".to_owned()));
    succeeds(database.restore_from(&backup));
    assert!(check_owner(&database).contains(&"sealpost.db.lock".to_owned()));

    let server = serve_as_user(&database);
    server.log_in(&alice).ok();
    succeeds(as_user(database.admin_command(&["kek", "rotate"])));
    server.stop();
    check_owner(&database);
    let new = Path::new(&database.data()).join("new/data").display().to_string();
    fs::copy(database.kek_file(), database.kek_file().with_extension("copy")).unwrap();
    let mut command = binary(&["restore", "--without-keys", "--data-dir", &new]);
    command.arg(&backup);
    succeeds(command);
    for made in ["..", ".", "sealpost.db"] {
        assert_eq!(fs::metadata(Path::new(&new).join(made)).unwrap().uid(), USER, "{made}");
    }
}

#[test]
fn an_interrupted_restore_of_root_is_repeated_by_the_owner_of_the_folder() {
    let Some(database) = service() else { return };
    serve_as_user(&database).stop();
    let backup = Path::new(&database.data()).join("backup.db");
    succeeds(as_user(database.backup_to(&backup)));
    let restore = || database.restore_from(&backup);
    let mut command = restore();
    command.stdout(std::process::Stdio::null());
    let mut process = crate::support::Process::start(command);
    let work = Path::new(&database.data()).join("restoring/copy.db");
    while !work.exists() && process.child().try_wait().unwrap().is_none() {
        std::hint::spin_loop();
    }
    process.kill();
    succeeds(as_user(restore()));
    check_owner(&database);
}

#[test]
fn files_of_another_owner_are_reported() {
    let Some(database) = service() else { return };
    let server = serve_as_user(&database);
    succeeds(as_user(database.admin_command(&["kek", "rotate"])));
    server.stop();
    let names = check_owner(&database);
    let journal = names.iter().find(|name| name.starts_with("revocations-")).unwrap();
    let file = |name: &str| Path::new(&database.data()).join(name);
    for name in ["sealpost.db.lock", "kek.lock", "sealpost.db.reserve", "sealpost.db", journal] {
        if !file(name).exists() {
            assert_eq!(name, "sealpost.db.reserve", "only the reserve depends on the disk");
            continue;
        }
        chown(file(name), Some(0), Some(0)).unwrap();
        let advice = format!("chown {USER}:{USER} {}", file(name).display());
        finds(doctor(&database, &[]), "files", "fail", &advice);
        chown(file(name), Some(USER), Some(USER)).unwrap();
    }
    finds(as_user(doctor(&database, &[])), "folder", "ok", "only the owner");

    chown(file("sealpost.db.lock"), Some(0), Some(0)).unwrap();
    let ended = run(as_user(database.command(&["--dev"])));
    assert_eq!(ended.status, Some(1));
    assert!(
        ended.stderr.contains("sealpost.db.lock") && ended.stderr.contains("chown"),
        "{ended:?}"
    );
    finds(as_user(doctor(&database, &[])), "files", "fail", "sealpost.db.lock");
    chown(file("sealpost.db.lock"), Some(USER), Some(USER)).unwrap();
    chown(file("kek.lock"), Some(0), Some(0)).unwrap();
    let ended = run(as_user(database.admin_command(&["kek", "rotate"])));
    assert_eq!(ended.status, Some(1));
    assert!(ended.stderr.contains("kek.lock") && ended.stderr.contains("chown"), "{ended:?}");
}

#[test]
fn the_lock_of_a_key_file_in_a_folder_of_root_is_no_finding() {
    let Some(database) = service() else { return };
    serve_as_user(&database).stop();
    let keys = Path::new(&database.data()).parent().unwrap().join("keys");
    fs::create_dir(&keys).unwrap();
    fs::set_permissions(&keys, fs::Permissions::from_mode(0o755)).unwrap();
    fs::copy(database.kek_file(), keys.join("kek")).unwrap();
    chown(keys.join("kek"), Some(USER), Some(USER)).unwrap();
    fs::write(keys.join("kek.lock"), "").unwrap();
    let given = format!("--kek-file={}", keys.join("kek").display());
    finds(as_user(doctor(&database, &[&given])), "keys", "ok", "match the database");
}

#[test]
fn a_journal_that_the_server_cannot_create_is_reported() {
    let Some(database) = service() else { return };
    serve_as_user(&database).stop();
    let above = Path::new(&database.data()).parent().unwrap().join("new/journal");
    let given = format!("--revocation-journal={}", above.display());
    finds(as_user(doctor(&database, &[&given])), "journal", "fail", "permissions of its folder");
}

#[test]
fn a_database_in_a_folder_of_another_user_is_not_reported_as_missing() {
    let Some(database) = service() else { return };
    serve_as_user(&database).stop();
    chown(database.data(), Some(0), Some(0)).unwrap();
    let above = Path::new(&database.data()).parent().unwrap().join("backup.db");
    let source = format!("--from=sqlite:{}", database.file().display());
    for command in [
        database.admin_command(&["stats"]),
        database.backup_to(&above),
        binary(&["move", &source, "--to=postgres://localhost/x"]),
    ] {
        let ended = run(as_user(command));
        assert_eq!(ended.status, Some(1), "{ended:?}");
        assert!(ended.stderr.contains("cannot be reached (Permission denied"), "{ended:?}");
    }
    let doctor = run(as_user(doctor(&database, &[])));
    assert!(doctor.stdout.contains("cannot be reached (Permission denied"), "{doctor:?}");
}

/// The id of a user without an entry in the user database.
const USER: u32 = 47_811;
