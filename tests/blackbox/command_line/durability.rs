//! Tests that new and replaced files are on the disk before a command ends, so that a crash of the machine loses none
//! of them. A library logs which files and folders the program syncs.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use tempfile::TempDir;

use super::service::Shell;
use crate::support::{Database, Server, binary, root, run};

/// Logs the calls of programs that sync or rename files.
struct SyncLog {
    folder: TempDir,
}

impl SyncLog {
    fn new() -> Self {
        let log = Self { folder: tempfile::tempdir().unwrap() };
        let source = root().join("tests/blackbox/support/sync_log.c");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-o"]).arg(log.library()).arg(source).arg("-ldl");
        assert!(compiler.status().unwrap().success());
        log
    }

    fn library(&self) -> PathBuf {
        self.folder.path().join("sync_log.so")
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("calls")
    }

    fn watch(&self, mut command: Command) -> Command {
        command.env("LD_PRELOAD", self.library()).env("SYNC_LOG", self.file());
        command
    }

    /// Checks that a call of the log is followed by a sync of the folder.
    #[track_caller]
    fn has_synced(&self, folder: &Path, after: &str) {
        let calls = fs::read_to_string(self.file()).unwrap();
        let sync = format!("sync {}", folder.display());
        let mut later = calls.lines().skip_while(|call| *call != after).skip(1);
        assert!(later.any(|call| call == sync), "{sync} after {after}: {calls}");
    }
}

#[test]
fn a_profile_and_its_new_folders_are_on_the_disk() {
    let (_server, shell) = Shell::with_server();
    let (log, config) = (SyncLog::new(), fs::canonicalize(shell.config.path()).unwrap());
    let mut login = binary(&["login", "--url", &shell.url, "--new", "Alice"]);
    login.env("XDG_CONFIG_HOME", config.join("new")).stdin(Stdio::null());
    let done = run(log.watch(login));
    assert_eq!(done.status, Some(0), "{done:?}");
    let folder = config.join("new/sealpost");
    log.has_synced(&folder, &format!("rename {}", folder.join("default.json").display()));
    let calls = fs::read_to_string(log.file()).unwrap();
    for parent in [&config, &config.join("new")] {
        let sync = format!("sync {}", parent.display());
        assert!(calls.lines().any(|call| call == sync), "{sync}: {calls}");
    }
}

#[test]
fn a_file_with_a_new_signing_secret_is_on_the_disk() {
    let (server, shell) = Shell::with_server();
    let (log, config) = (SyncLog::new(), fs::canonicalize(shell.config.path()).unwrap());
    shell.log_in("default", &server.new_identity());
    let file = config.join("secret");
    let mut register = binary(&["webhooks", "register", "--relay", "--secret-file"]);
    register.arg(&file).env("XDG_CONFIG_HOME", &config).stdin(Stdio::null());
    let done = run(log.watch(register));
    assert_eq!(done.status, Some(0), "{done:?}");
    log.has_synced(&config, &format!("sync {}", file.display()));
}

#[test]
fn a_new_data_folder_is_on_the_disk() {
    let (log, database) = (SyncLog::new(), Database::embedded());
    let server = Server::start(log.watch(database.command(&["--dev"])));
    let data = fs::canonicalize(database.data()).unwrap();
    let calls = fs::read_to_string(log.file()).unwrap();
    let sync = format!("sync {}", data.parent().unwrap().display());
    assert!(calls.lines().any(|call| call == sync), "{sync}: {calls}");
    server.stop();
}
