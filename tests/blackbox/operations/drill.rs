//! The drill of `docs/operating/backup.md`. An operator without root rights loses the disk of the database, the key file, the
//! revocation journal and a PostgreSQL primary. The losses afterwards are those of the page.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use super::{
    doctor, finds,
    ownership::{as_user, give_folder, make_folder, service, succeeds},
};
use crate::{
    resilience::failover::Cluster,
    support::{Client, Database, Identity, SOON, Server, binary, eventually, run, text},
};

#[test]
fn the_drill_loses_what_the_page_states() {
    let Some(database) = service() else { return };
    let vault = Vault::of(&database);
    let server = serve(&database, &vault);
    let [alice, bob, carol] = [(); 3].map(|()| server.new_identity());
    let before = send(&server, &alice, &bob, 3);
    back_up(&database, &vault);
    let after = send(&server, &alice, &bob, 2);
    let revoke = ["key", "revoke", &carol.key, &vault.journal_argument()];
    succeeds(as_user(database.admin_command(&revoke)));

    // The disk: all that was acknowledged after the backup is lost, except revocations. All sessions end.
    server.kill();
    fs::remove_dir_all(database.data()).unwrap();
    make_folder(Path::new(&database.data()));
    refuses_restore(&database, &vault);
    copy_key_back(&database, &vault);
    succeeds(restore(&database, &vault));
    let server = serve(&database, &vault);
    server.status(&alice).refused(401, "UNAUTHORIZED");
    let bob = server.new_session(&bob);
    let opened = |ids: &[String]| {
        let opens = |id: &&String| server.open(&bob, id).status == 200;
        ids.iter().filter(opens).count()
    };
    assert_eq!((opened(&before), opened(&after)), (3, 0));
    let shown = as_user(database.admin_command(&["key", "show", &carol.key, "--json"]));
    assert!(succeeds(shown).stdout.contains("\"status\":\"revoked\""));

    // The key file: nothing is lost, if a copy exists.
    server.stop();
    fs::remove_file(database.kek_file()).unwrap();
    let refused = run(as_user(database.command(&["--dev", &vault.journal_argument()])));
    assert!(refused.status == Some(1) && refused.stderr.contains("restore the key file"));
    copy_key_back(&database, &vault);
    let server = serve(&database, &vault);
    assert_eq!(server.open(&bob, &before[0]).ok()["message"], "letter 0");

    // The journal: nothing is lost now, and the next restore ends tokens that were revoked before.
    server.stop();
    fs::remove_file(&vault.journal).unwrap();
    let journal = &vault.journal_argument();
    finds(as_user(doctor(&database, &[journal])), "journal", "warn", "admin journal complete");
    succeeds(as_user(database.admin_command(&["journal", "complete", journal])));
    finds(as_user(doctor(&database, &[journal])), "journal", "ok", "has every revocation");
    succeeds(restore(&database, &vault));
    let shown = as_user(database.admin_command(&["key", "show", &carol.key, "--json"]));
    assert!(succeeds(shown).stdout.contains("\"status\":\"revoked\""));
    serve(&database, &vault).stop();
}

/// The standby is asynchronous, and its replication stops before the last changes.
#[test]
fn a_lost_primary_costs_what_its_standby_lacked() {
    if service().is_none() {
        return;
    }
    let cluster = Cluster::start();
    let database = &cluster.database;
    give_folder(database);
    let vault = Vault::of(database);
    let server = serve(database, &vault);
    let [alice, bob, mallory] = [(); 3].map(|()| server.new_identity());
    let before = send(&server, &alice, &bob, 3);
    cluster.await_replay();
    cluster.stop_replication();
    let after = send(&server, &alice, &bob, 2);
    let revoke = ["key", "revoke", &mallory.key, &vault.journal_argument()];
    succeeds(as_user(database.admin_command(&revoke)));
    cluster.fail_over();

    // The journal revokes the key again, and ends all sessions.
    let bob = eventually("the server works on the promoted standby", SOON, || {
        let shown = run(as_user(database.admin_command(&["key", "show", &mallory.key, "--json"])));
        let is_revoked = shown.stdout.contains("\"status\":\"revoked\"");
        let session = server.log_in(&bob);
        (is_revoked && session.status == 200)
            .then(|| Identity { token: text(&session.ok(), "session_token"), ..bob.clone() })
    });
    let opened = |ids: &[String]| {
        let opens = |id: &&String| server.open(&bob, id).status == 200;
        ids.iter().filter(opens).count()
    };
    assert_eq!((opened(&before), opened(&after)), (3, 0));
}

/// The places outside the disk of the database.
struct Vault {
    backup: PathBuf,
    key: PathBuf,
    journal: PathBuf,
}

impl Vault {
    fn of(database: &Database) -> Self {
        let folder = PathBuf::from(database.data()).with_file_name("vault");
        make_folder(&folder);
        let [backup, key, journal] = ["backup.db", "kek", "journal"].map(|name| folder.join(name));
        Self { backup, key, journal }
    }

    fn journal_argument(&self) -> String {
        format!("--revocation-journal={}", self.journal.display())
    }
}

fn serve(database: &Database, vault: &Vault) -> Server {
    Server::start(as_user(database.command(&["--dev", &vault.journal_argument()])))
}

fn send(client: &Client, from: &Identity, to: &Identity, count: usize) -> Vec<String> {
    let send = |number| client.send(from, &to.key, &format!("letter {number}")).ok();
    (0..count).map(|number| text(&send(number), "envelope_id")).collect()
}

fn back_up(database: &Database, vault: &Vault) {
    succeeds(as_user(database.backup_to(&vault.backup)));
    copy_as_user(&database.kek_file(), &vault.key);
}

fn copy_key_back(database: &Database, vault: &Vault) {
    copy_as_user(&vault.key, &database.kek_file());
}

fn copy_as_user(from: &Path, to: &Path) {
    let mut command = Command::new("cp");
    command.arg(from).arg(to);
    succeeds(as_user(command));
}

fn restore(database: &Database, vault: &Vault) -> Command {
    let mut command = binary(&["restore", "--data-dir", &database.data()]);
    command.arg(vault.journal_argument()).arg(&vault.backup);
    as_user(command)
}

#[track_caller]
fn refuses_restore(database: &Database, vault: &Vault) {
    let ended = run(restore(database, vault));
    assert_eq!(ended.status, Some(1), "{ended:?}");
    assert!(ended.stderr.contains("key file") && !database.file().exists(), "{ended:?}");
}
