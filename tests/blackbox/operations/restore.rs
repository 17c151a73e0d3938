//! Tests of a database that is restored from an old backup. Later revocations, ended sessions and replaced secrets
//! still apply, because the revocation journal is stored outside the database.

mod inputs;
mod interruption;
mod logs;

use std::{fs, path::Path};

use serde_json::json;

use crate::support::{
    Client, Database, Identity, binary, on_both, on_embedded, run, text, wait_until,
};

on_both!(
    a_node_revokes_again_before_its_first_request,
    admin_recover_revokes_again_and_ends_api_tokens,
    ended_sessions_alone_are_recognised,
    a_running_node_revokes_again_after_a_loss_of_commits,
    a_journal_that_is_off_is_neither_written_nor_applied,
    a_journal_of_another_database_is_named,
);
on_embedded!(an_unusable_journal_is_refused);

fn a_node_revokes_again_before_its_first_request(database: &Database) {
    let scene = Scene::after_acts(database);
    let restored = scene.restored();
    let server = restored.serve();
    scene.check_revoked(&restored, &server);
    assert!(server.log().contains(RECOGNISED), "{}", server.log());
    // The token that was not revoked still works, because an outage of its owner would be worse.
    assert_eq!(restored.count("api_tokens"), 1);
    // The signed log can have entries that the restored trail lacks.
    restored.operate(&["log", "restart"]);
    assert_eq!(restored.operate(&["audit", "verify"])["verdict"], "whole");
    let session = server.login(&scene.bob.account, &scene.bob_secret).ok();
    assert!(session["session_token"].is_string());
    server.stop();

    let server = restored.serve();
    assert!(!server.log().contains(RECOGNISED), "{}", server.log());
    assert_eq!(restored.count("sessions"), 1, "the new session stays");
    server.stop();
}

fn admin_recover_revokes_again_and_ends_api_tokens(database: &Database) {
    let scene = Scene::after_acts(database);
    let restored = scene.restored();
    // A command before the recovery must not hide that the database is older than the journal.
    for _ in 0..10 {
        restored.operate(&["key", "deactivate", &scene.dave.key]);
        restored.operate(&["key", "reactivate", &scene.dave.key]);
    }
    let done = restored.operate(&["recover"]);
    for (field, expected) in [
        ("keys_revoked", 2),
        ("keys_deactivated", 1),
        ("accounts_erased", 1),
        ("badges_revoked", 1),
        ("secrets_replaced", 1),
        ("api_tokens_revoked", 1),
        ("api_tokens_ended", 1),
        ("damaged_lines", 0),
    ] {
        assert_eq!(done[field], expected, "{field}: {done}");
    }
    assert_eq!((restored.count("api_tokens"), restored.count("sessions")), (0, 0));
    let again = restored.operate(&["recover"]);
    assert_eq!((&again["keys_revoked"], &again["secrets_replaced"]), (&json!(0), &json!(0)));
    let server = restored.serve();
    assert!(!server.log().contains(RECOGNISED), "{}", server.log());
    scene.check_revoked(&restored, &server);
    server.stop();
}

fn ended_sessions_alone_are_recognised(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    server.stop();
    let copy = Copy::of(database);
    database.operate(&["session", "end", &alice.account]);
    let restored = copy.restore(database);
    let server = restored.serve();
    server.status(&alice).refused(401, "UNAUTHORIZED");
    assert!(server.log().contains(RECOGNISED), "{}", server.log());
    server.stop();
}

fn a_running_node_revokes_again_after_a_loss_of_commits(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let token = server.new_token(&alice, &["read"]);
    let bearer = text(&token, "token");
    let status = || server.status(&Identity { token: bearer.clone(), ..alice.clone() });
    status().ok();
    database.by_hand("CREATE TABLE kept AS SELECT * FROM api_tokens");
    database.operate(&["token", "revoke", &text(&token, "token_id")]);
    status().refused(401, "UNAUTHORIZED");
    // The state after a failover to a standby that lacked the last commit.
    database.by_hand(
        "INSERT INTO api_tokens SELECT * FROM kept; UPDATE journal_marks SET mark = mark - 1",
    );
    wait_until("the token is revoked again", || database.count("api_tokens") == 0);
    status().refused(401, "UNAUTHORIZED");
    wait_until("the sessions end", || server.status(&bob).status == 401);
    assert_eq!(server.log().matches(RECOGNISED).count(), 1, "{}", server.log());
    assert_eq!(database.operate(&["audit", "verify"])["verdict"], "whole");
    // Later acts have marks again.
    let marks = || database.count("journal_marks WHERE mark >= 2");
    let bob_again = server.new_session(&bob);
    database.operate(&["session", "end", &bob.account]);
    server.status(&bob_again).refused(401, "UNAUTHORIZED");
    assert_eq!(marks(), 1);
    server.stop();
}

fn a_journal_that_is_off_is_neither_written_nor_applied(database: &Database) {
    let server = database.serve_with(&["--revocation-journal=off"]);
    let alice = server.new_identity();
    let off = ["session", "end", &alice.account, "--revocation-journal=off"];
    let copy = Copy::of(database);
    database.operate(&off);
    server.status(&alice).refused(401, "UNAUTHORIZED");
    server.stop();
    assert_eq!(journals(database), Vec::<String>::new());
    let restored = copy.restore(database);
    let server = restored.serve();
    server.status(&alice).ok();
    server.stop();
}

fn an_unusable_journal_is_refused(database: &Database) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("journal");
    fs::write(&file, "mine\n").unwrap();
    let argument = format!("--revocation-journal={}", file.display());
    let ended = run(database.command(&["--dev", &argument]));
    assert_eq!((ended.status, ended.stdout.as_str()), (Some(1), ""), "{ended:?}");
    assert!(ended.stderr.contains("cannot be used: correct its permissions"), "{}", ended.stderr);
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine\n");
}

fn a_journal_of_another_database_is_named(database: &Database) {
    let other = Database::embedded();
    other.serve().stop();
    let server = database.serve();
    let alice = server.new_identity();
    server.stop();
    let copy = Copy::of(database);
    database.operate(&["key", "revoke", &alice.key]);
    let foreign = Path::new(&other.data()).join(&journals(&other)[0]).display().to_string();
    if let Copy::File(file, _) = &copy {
        let mut command = binary(&["restore", "--data-dir", &database.data()]);
        command.args(["--journal", &foreign]).arg(file);
        let stdout = run(command).ok();
        assert!(stdout.contains(&format!("{foreign}, which belongs to another database")));
        assert_eq!(stdout.matches("another database").count(), 1, "{stdout}");
        assert!(stdout.contains("revoked 1 keys"), "{stdout}");
    }
    let restored = copy.restore(database);
    let done = restored.operate(&["recover", "--journal", &foreign]);
    assert_eq!(done["foreign_journals"], json!([foreign]));
    assert_eq!(done["journals"].as_array().unwrap().len(), 2);
}

#[test]
fn the_command_restore_replaces_the_database_and_applies_the_journal() {
    let database = &Database::embedded();
    let scene = Scene::after_acts(database);
    let Copy::File(copy, _folder) = &scene.copy else { unreachable!() };
    let restore = || run(database.restore_from(copy));
    let server = database.serve();
    let ended = restore();
    assert_eq!((ended.status, ended.stderr.lines().count()), (Some(1), 1), "{ended:?}");
    assert!(ended.stderr.contains("stop the server first"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("--data-dir"), "{}", ended.stderr);
    let late = server.new_identity();
    server.kill();
    assert!(Path::new(&format!("{}-wal", database.file().display())).exists());

    let stdout = restore().ok();
    assert!(stdout.contains("revoked 2 keys"), "{stdout}");
    assert_eq!((database.count("api_tokens"), database.count("sessions")), (0, 0));
    let server = database.serve();
    assert!(!server.log().contains(RECOGNISED), "{}", server.log());
    scene.check_revoked(database, &server);
    assert_eq!(database.count(&format!("api_keys WHERE id = '{}'", late.key)), 0);
    server.stop();

    // The replaced database is complete: its log is empty.
    let line = stdout.lines().find_map(|line| line.strip_prefix("the replaced database is "));
    let replaced = line.unwrap().split_once(": ").unwrap().0;
    assert_eq!(fs::read(format!("{replaced}-wal")).unwrap_or_default(), [0; 0]);
    let shown = run({
        let mut command = binary(&["admin", "key", "show", &late.key]);
        command.args(["--database-url", &format!("sqlite:{replaced}")]);
        command
    });
    assert_eq!((shown.status, shown.stderr.as_str()), (Some(0), ""), "{shown:?}");
    assert!(!Path::new(&database.data()).join("restoring").exists());
}

#[test]
fn a_command_that_changes_nothing_creates_no_data_folder() {
    let database = Database::postgres();
    database.serve().stop();
    let folder = tempfile::tempdir().unwrap();
    let mut command = binary(&["admin", "audit", "verify", "--database-url", database.url()]);
    command.current_dir(folder.path());
    let ended = run(command);
    assert_eq!(ended.status, Some(0), "{ended:?}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// A database, and a copy of it from before several revocations.
pub(super) struct Scene<'a> {
    pub(super) database: &'a Database,
    copy: Copy,
    /// Her API key was revoked. Carol's key was revoked too, when her account was closed.
    alice: Identity,
    /// He replaced the secrets of his account.
    bob: Identity,
    bob_secret: String,
    /// An operator closed her account, and erased her data.
    carol: Identity,
    /// He has a deactivated key, a revoked badge, a revoked API token, and a valid API token.
    dave: Identity,
    dave_sibling: Identity,
}

impl<'a> Scene<'a> {
    pub(super) fn after_acts(database: &'a Database) -> Self {
        let server = database.serve();
        let [alice, bob, carol, dave] = [(); 4].map(|()| server.new_identity());
        let dave_sibling = server.sibling(&dave);
        let token = server.new_token(&dave, &["read"]);
        server.new_token(&dave, &["send"]);
        database.assess(&dave.key, ["1", "1", "1", "0"]);
        let badge = server.act(&dave, "/v1/badges/issue", &json!({})).ok();
        let copy = Copy::of(database);
        database.operate(&["key", "revoke", &alice.key]);
        let body = json!({"login_secret": bob.login_secret});
        let secrets = server.act(&bob, "/v1/auth/rotate-secret", &body).ok();
        let bob_secret = text(&secrets, "login_secret");
        database.operate(&["account", "close", &carol.account]);
        database.operate(&["account", "erase", &carol.account]);
        let badge = text(&badge, "badge_id");
        database.operate(&["badge", "revoke", &badge, "--reason", "withdrawn"]);
        database.operate(&["key", "deactivate", &dave.key]);
        database.operate(&["key", "reactivate", &dave.key]);
        database.operate(&["key", "deactivate", &dave_sibling.key]);
        database.operate(&["token", "revoke", &text(&token, "token_id")]);
        server.kill();
        assert_eq!(journals(database).len(), 1);
        Self { database, copy, alice, bob, bob_secret, carol, dave, dave_sibling }
    }

    pub(super) fn restored(&self) -> Database {
        self.copy.restore(self.database)
    }

    #[track_caller]
    pub(super) fn check_revoked(&self, restored: &Database, client: &Client) {
        for identity in [&self.alice, &self.bob, &self.carol, &self.dave] {
            client.status(identity).refused(401, "UNAUTHORIZED");
        }
        client.log_in(&self.bob).refused(401, "UNAUTHORIZED");
        client.log_in(&self.carol).refused(401, "UNAUTHORIZED");
        client.log_in(&self.alice).ok();
        client.login(&self.bob.account, &self.bob_secret).ok();
        restored.operate(&["session", "end", "--all"]);
        let status = |identity: &Identity| {
            text(&restored.operate(&["key", "show", &identity.key]), "status")
        };
        assert_eq!(status(&self.alice), "revoked");
        assert_eq!(status(&self.carol), "revoked");
        let carol = restored.operate(&["account", "show", &self.carol.account]);
        assert_eq!(carol["keys"][0]["label"], "erased");
        assert_eq!(restored.count("badges WHERE revoked_at IS NULL"), 0);
        assert_eq!(status(&self.dave_sibling), "deactivated");
        assert_eq!(status(&self.dave), "active");
    }
}

/// A copy of a database.
enum Copy {
    File(std::path::PathBuf, tempfile::TempDir),
    Postgres(String),
}

impl Copy {
    fn of(database: &Database) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("copy.db");
        let mut command = match database.postgres_url() {
            None => binary(&["backup", "--data-dir", &database.data()]),
            Some(url) => {
                let copy = Database::empty_postgres();
                let mut dump = crate::support::postgres_tool("pg_dump");
                dump.args(["--format=custom", "--dbname", url, "--file"]).arg(&file);
                assert_eq!(run(dump).status, Some(0));
                let mut load = crate::support::postgres_tool("pg_restore");
                load.args(["--exit-on-error", "--no-owner", "--dbname", copy.url()]).arg(&file);
                assert_eq!(run(load).status, Some(0));
                return Self::Postgres(copy.url().to_owned());
            }
        };
        command.arg(&file);
        assert_eq!(run(command).status, Some(0));
        Self::File(file, folder)
    }

    /// Replaces the database by the copy, with the same data folder.
    fn restore(&self, database: &Database) -> Database {
        match self {
            Self::File(copy, _) => {
                for suffix in ["-wal", "-shm"] {
                    drop(fs::remove_file(format!("{}{suffix}", database.file().display())));
                }
                fs::copy(copy, database.file()).unwrap();
                database.moved_to(None)
            }
            Self::Postgres(url) => database.moved_to(Some(url.clone())),
        }
    }
}

/// Returns the file names of the revocation journals in the data folder.
pub(super) fn journals(database: &Database) -> Vec<String> {
    let Ok(files) = fs::read_dir(database.data()) else { return Vec::new() };
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("revocations-")).collect()
}

pub(super) const RECOGNISED: &str = "the database is older than the revocation journal";
