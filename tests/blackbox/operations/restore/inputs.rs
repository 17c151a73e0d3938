//! Tests of `sealpost restore` with all kinds of files: a file that is not a complete database replaces nothing.

use std::{
    fs,
    path::{Path, PathBuf},
};

use diesel::{Connection as _, SqliteConnection, connection::SimpleConnection as _};
use tempfile::TempDir;

use crate::support::{CommandResult, Database, Identity, binary, run};

/// A stopped server with one identity, and a backup of its database.
pub(super) struct Scene {
    pub(super) database: Database,
    pub(super) alice: Identity,
    folder: TempDir,
}

impl Scene {
    pub(super) fn new() -> Self {
        let database = Database::embedded();
        let server = database.serve();
        let alice = server.new_identity();
        server.stop();
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(run(database.backup_to(folder.path().join("backup.db"))).status, Some(0));
        Self { database, alice, folder }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Creates a file from the bytes of the backup.
    pub(super) fn changed(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) -> PathBuf {
        let mut bytes = fs::read(self.path("backup.db")).unwrap();
        change(&mut bytes);
        fs::write(self.path(name), bytes).unwrap();
        self.path(name)
    }

    /// Creates a database from the backup with these statements.
    fn altered(&self, name: &str, statements: &str) -> PathBuf {
        let path = self.changed(name, |_| ());
        execute(&path, statements);
        path
    }

    /// Restores the file, and checks that the command is refused and that the database stays as it was.
    #[track_caller]
    pub(super) fn refuses(&self, file: &Path, reason: &str) {
        let before = fs::read(self.database.file()).unwrap();
        let shown = file.display();
        let ended = restore(&self.database, file, &[]);
        assert_eq!((ended.status, ended.stdout.as_str()), (Some(1), ""), "{shown}: {ended:?}");
        assert_eq!(ended.stderr.lines().count(), 1, "{ended:?}");
        assert!(ended.stderr.contains(reason), "{shown}: no {reason:?} in {}", ended.stderr);
        assert!(!Path::new(&self.database.data()).join("restoring").exists());
        assert!(fs::read(self.database.file()).unwrap() == before, "{shown} changed the database");
    }

    /// Checks that the database still serves its identity.
    pub(super) fn check_serves(&self) {
        let server = self.database.serve();
        server.status(&self.alice).ok();
        server.stop();
    }
}

pub(super) fn restore(database: &Database, file: &Path, more: &[&str]) -> CommandResult {
    let mut command = binary(&["restore", "--data-dir", &database.data()]);
    command.args(more).arg(file);
    run(command)
}

fn execute(file: &Path, statements: &str) {
    let mut connection = SqliteConnection::establish(file.to_str().unwrap()).unwrap();
    connection.batch_execute(statements).unwrap();
}

#[test]
fn files_that_are_no_complete_database_replace_nothing() {
    let scene = Scene::new();
    let length = fs::read(scene.path("backup.db")).unwrap().len();
    scene.refuses(&scene.path("missing"), "No such file");
    scene.refuses(scene.folder.path(), "a folder");
    for (bytes, reason) in [(0, "has 0 bytes"), (50, "has 50 bytes"), (99, "has 99 bytes")] {
        scene.refuses(&scene.changed("short.db", |file| file.truncate(bytes)), reason);
    }
    for bytes in [100, 4096, 4097, length / 2, length - 4096, length - 1] {
        scene.refuses(&scene.changed("cut.db", |file| file.truncate(bytes)), "use another backup");
    }
    for page in [2, 3, 10, length / 4096 - 1] {
        let damaged = |file: &mut Vec<u8>| file[page * 4096..][..4096].fill(0xff);
        scene.refuses(&scene.changed("damaged.db", damaged), "use another backup");
        let zeroed = |file: &mut Vec<u8>| file[page * 4096..][..4096].fill(0);
        scene.refuses(&scene.changed("zeroed.db", zeroed), "use another backup");
    }
    fs::write(scene.path("text"), "not a database, but as long as one. ".repeat(1000)).unwrap();
    scene.refuses(&scene.path("text"), "is not a database");
    scene.check_serves();
}

#[test]
fn databases_of_other_programs_and_versions_replace_nothing() {
    let scene = Scene::new();
    let foreign = scene.path("foreign.db");
    execute(&foreign, "CREATE TABLE accounts (id TEXT); INSERT INTO accounts VALUES ('a')");
    scene.refuses(&foreign, "another program");
    let migrations =
        "CREATE TABLE __diesel_schema_migrations (version TEXT PRIMARY KEY, run_on TEXT);
        INSERT INTO __diesel_schema_migrations VALUES ('0001', '')";
    execute(&foreign, migrations);
    scene.refuses(&foreign, "another program");
    let newer = "INSERT INTO __diesel_schema_migrations (version) VALUES ('9999')";
    scene.refuses(&scene.altered("newer.db", newer), "run a newer sealpost");
    let unmarked = scene.altered("unmarked.db", "DELETE FROM kek_marks");
    scene.refuses(&unmarked, "no server has ever used");
    let migrated = Database::embedded();
    assert_eq!(run(binary(&["migrate", "--data-dir", &migrated.data()])).status, Some(0));
    scene.refuses(&migrated.file(), "no server has ever used");
    scene.check_serves();
}

#[test]
fn the_database_itself_is_no_backup_under_any_name() {
    let scene = Scene::new();
    let live = scene.database.file();
    scene.refuses(&live, "is the database itself");
    std::os::unix::fs::symlink(&live, scene.path("link.db")).unwrap();
    scene.refuses(&scene.path("link.db"), "is the database itself");
    fs::hard_link(&live, Path::new(&scene.database.data()).join("hard.db")).unwrap();
    scene.refuses(&Path::new(&scene.database.data()).join("hard.db"), "hard link");
    fs::remove_file(Path::new(&scene.database.data()).join("hard.db")).unwrap();
    scene.check_serves();
}

#[test]
fn a_database_in_use_is_no_backup_under_any_name() {
    let scene = Scene::new();
    let other = Database::embedded();
    let server = other.serve();
    scene.refuses(&other.file(), "in use");
    let hard = Path::new(&other.data()).join("hard.db");
    fs::hard_link(other.file(), &hard).unwrap();
    scene.refuses(&hard, "hard link");
    // With a log beside the name, only the locks of the running server show the use.
    fs::copy(log_of(&other.file()), log_of(&hard)).unwrap();
    scene.refuses(&hard, "in use");
    server.kill();
    scene.check_serves();
}

#[test]
fn a_backup_without_its_key_replaces_nothing() {
    let scene = Scene::new();
    let key_file = scene.database.kek_file();
    let (backup, right) = (scene.path("backup.db"), scene.path("kek"));
    fs::copy(&key_file, &right).unwrap();
    let wrong = run(binary(&["kek", "new"])).stdout;

    fs::write(&key_file, &wrong).unwrap();
    scene.refuses(&backup, "version 1 does not match");
    fs::write(&key_file, wrong.replacen("1:", "2:", 1)).unwrap();
    scene.refuses(&backup, "version 1 is missing");
    fs::remove_file(&key_file).unwrap();
    scene.refuses(&backup, "--without-keys");
    let new = Database::embedded();
    let ended = restore(&new, &backup, &[]);
    assert_eq!((ended.status, new.file().exists()), (Some(1), false), "{ended:?}");

    let argument = format!("--kek-file={}", right.display());
    restore(&scene.database, &backup, &[&argument]).ok();
    let with_variable = |more: &[&str]| {
        let mut command = binary(&["restore", "--data-dir", &scene.database.data()]);
        command.env("SEALPOST_KEK", fs::read_to_string(&right).unwrap().trim());
        command.args(more).arg(&backup);
        run(command)
    };
    assert_eq!(with_variable(&[]).status, Some(0));
    let both = with_variable(&[&argument]);
    assert!(both.stderr.contains("not both"), "{both:?}");
    restore(&scene.database, &backup, &["--without-keys"]).ok();
    fs::copy(&right, &key_file).unwrap();
    let server = scene.database.serve();
    server.new_session(&scene.alice);
    server.stop();
}

/// Returns a new database without a file, with the key file of another database.
pub(super) fn empty_with_key_of(database: &Database) -> Database {
    let new = Database::embedded();
    fs::create_dir(new.data()).unwrap();
    fs::copy(database.kek_file(), new.kek_file()).unwrap();
    new
}

pub(super) fn log_of(file: &Path) -> PathBuf {
    PathBuf::from(format!("{}-wal", file.display()))
}
