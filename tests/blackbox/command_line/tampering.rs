//! Tamperings with the database by SQL, and lies of the service. An owner, a reader, an operator, a node or a witness
//! detects each within five seconds of the next checkpoint.

mod lies;
mod readers;

use std::{
    fs,
    time::{Duration, Instant},
};

use serde_json::Value;
use tempfile::TempDir;

use super::service::Shell;
use crate::support::{
    CommandResult, Database, Identity, SOON, Server, eventually, on_both, run, wait_until,
};

on_both!(
    nodes_sign_no_changed_tree,
    operators_detect_a_changed_audit_trail,
    owners_detect_changes_of_their_keys,
);

/// The detector of a tampering.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Detector {
    /// An operator with `sealpost admin audit verify`.
    AuditVerify,
    /// The same, with the checkpoint that the node has kept. The node signs no further checkpoint.
    AuditVerifyAfterRollback,
    /// The service itself, in `badges/verify`.
    BadgesVerify,
    /// A stranger with all files of the log and a guess.
    Guess,
    /// The sender of an envelope with the proof that it has kept.
    KeptProof,
    /// A node, which signs no further checkpoint.
    Node,
    /// A reader with `sealpost verify-proof` and a policy.
    VerifyProof,
    /// The owner of a key with `sealpost watch`.
    Watch,
    /// The owner of a revoked key with `sealpost watch`.
    WatchAfterRevocation,
    /// A witness, which does not cosign.
    Witness,
}

use Detector as D;

/// Each tampering: its name, its detector, its SQL, and what the detector says. Lies of the service have no SQL. `KEY`,
/// `ENVELOPE`, `OTHER` and `BADGE` are ids. The tables `kept_…` and `old_…` have earlier rows.
const TAMPERINGS: [(&str, Detector, &str, &str); 32] = [
    (
        "swap a DID",
        D::Watch,
        "UPDATE api_keys SET did = 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK' WHERE id = 'KEY'",
        "INTERNAL_ERROR",
    ),
    (
        "change a sealing version",
        D::Watch,
        "UPDATE api_keys SET sealing_version = 9 WHERE id = 'KEY'",
        "the key has changed since the last check",
    ),
    (
        "change a status",
        D::Watch,
        "UPDATE api_keys SET status = 'rotating' WHERE id = 'KEY'",
        "this API key is being rotated",
    ),
    (
        "change a status and change it back",
        D::Watch,
        "UPDATE api_keys SET status = 'rotating' WHERE id = 'KEY'; \
         UPDATE api_keys SET status = 'active' WHERE id = 'KEY'",
        "the key was changed and changed back since the last check",
    ),
    (
        "un-revoke a key",
        D::WatchAfterRevocation,
        "UPDATE api_keys SET status = 'active' WHERE id = 'KEY'",
        "the key was changed and changed back since the last check",
    ),
    (
        "replace a statement",
        D::Watch,
        "UPDATE log_statements SET text = replace(text, 'version 1', 'version 2') WHERE api_key_id = 'KEY'",
        "the checkpoint does not include the entry",
    ),
    (
        "back-date an entry",
        D::Watch,
        "UPDATE log_statements SET at = at - 86400000 WHERE api_key_id = 'KEY'",
        "the checkpoint does not include the entry",
    ),
    (
        "replace a salt",
        D::Watch,
        "UPDATE log_statements SET salt = (SELECT o.salt FROM log_statements AS o WHERE o.number = 0) \
         WHERE api_key_id = 'KEY'",
        "the checkpoint does not include the entry",
    ),
    (
        "remove a statement",
        D::Watch,
        "DELETE FROM log_statements WHERE api_key_id = 'KEY'",
        "the service has no proof of the newest change",
    ),
    (
        "change an entry of the audit trail",
        D::AuditVerify,
        "UPDATE audit_entries SET actor = 'operator:mallory' WHERE number = 2",
        "broken at entry 2: it was changed",
    ),
    (
        "change two entries of the audit trail",
        D::AuditVerify,
        "UPDATE audit_entries SET at = at + 1 WHERE number IN (3, 4)",
        "broken at entry 3: it was changed",
    ),
    (
        "delete an entry of the audit trail",
        D::AuditVerify,
        "DELETE FROM audit_entries WHERE number = 2",
        "broken at entry 2: an entry is missing",
    ),
    (
        "cut the audit trail",
        D::AuditVerify,
        "DELETE FROM audit_entries WHERE number > 3",
        "broken at entry 4: it was deleted, but the transparency log has it",
    ),
    (
        "cut the audit trail and its statements",
        D::AuditVerify,
        "DELETE FROM audit_entries WHERE number > 3; \
         DELETE FROM log_statements WHERE kind = 'audit' AND subject = '4'",
        "broken at entry 4: the transparency log or one of its statements was changed",
    ),
    (
        "cut the audit trail and the log",
        D::AuditVerify,
        "DELETE FROM audit_entries WHERE number > 3; \
         DELETE FROM log_entries WHERE number = \
             (SELECT number FROM log_statements WHERE kind = 'audit' AND subject = '4'); \
         DELETE FROM log_statements WHERE kind = 'audit' AND subject = '4'",
        "broken at entry 4: the transparency log or one of its statements was changed",
    ),
    (
        "roll back the audit trail and the log",
        D::AuditVerifyAfterRollback,
        "DELETE FROM audit_entries; INSERT INTO audit_entries SELECT * FROM old_audit_entries ORDER BY number; \
         DELETE FROM log_statements; INSERT INTO log_statements SELECT * FROM old_log_statements; \
         DELETE FROM log_entries; INSERT INTO log_entries SELECT * FROM old_log_entries; \
         DELETE FROM log_tiles; INSERT INTO log_tiles SELECT * FROM old_log_tiles; \
         DELETE FROM log_heads; INSERT INTO log_heads SELECT * FROM old_log_heads",
        "the transparency log lacks entries of the checkpoint that a node has kept",
    ),
    (
        "remove the log",
        D::AuditVerifyAfterRollback,
        "DELETE FROM log_heads; DELETE FROM log_statements; DELETE FROM log_entries; DELETE FROM log_tiles",
        "the transparency log lacks entries of the checkpoint that a node has kept",
    ),
    (
        "replace the bytes of an envelope",
        D::KeptProof,
        "UPDATE envelopes SET sealed = (SELECT o.sealed FROM envelopes AS o WHERE o.id = 'OTHER') \
         WHERE id = 'ENVELOPE'",
        "another envelope",
    ),
    (
        "replace an envelope by another one",
        D::KeptProof,
        "DELETE FROM envelopes WHERE id = 'ENVELOPE'; \
         UPDATE envelopes SET id = 'ENVELOPE' WHERE id = 'OTHER'",
        "another envelope",
    ),
    (
        "back-date an envelope",
        D::KeptProof,
        "UPDATE envelopes SET created_at = created_at - 1000 WHERE id = 'ENVELOPE'",
        "another envelope",
    ),
    (
        "un-revoke a badge",
        D::BadgesVerify,
        "UPDATE badges SET revoked_at = NULL, revoked_by = NULL, revocation_reason = NULL, \
         tag = (SELECT o.tag FROM badges AS o WHERE o.id <> 'BADGE') WHERE id = 'BADGE'",
        "revoked",
    ),
    (
        "remove the tag of an un-revoked badge",
        D::BadgesVerify,
        "UPDATE badges SET tag = NULL WHERE id = 'BADGE'",
        "revoked",
    ),
    ("remove the tiles", D::Node, "DELETE FROM log_tiles", NOT_EXTENDED),
    (
        "rewrite a tile",
        D::Node,
        "UPDATE log_tiles SET hashes = (SELECT salt FROM log_statements WHERE number = 0)",
        NOT_EXTENDED,
    ),
    ("cut off the log", D::Node, "UPDATE log_heads SET size = 1", NOT_EXTENDED),
    ("extend the log", D::Node, "UPDATE log_heads SET size = 3", NOT_EXTENDED),
    (
        "replace the signature of the checkpoint",
        D::Node,
        "UPDATE log_heads SET checkpoint = replace(checkpoint, '— ', '— other.')",
        NOT_EXTENDED,
    ),
    (
        "fork the log for one reader",
        D::Witness,
        "UPDATE log_statements SET number = NULL, at = NULL, salt = NULL; \
         DELETE FROM log_entries; DELETE FROM log_tiles; \
         UPDATE log_heads SET size = 0, checkpoint = '', witnessed = NULL",
        "status 4",
    ),
    (
        "show a log of fewer entries",
        D::Witness,
        "DELETE FROM log_statements; INSERT INTO log_statements SELECT * FROM kept_log_statements; \
         DELETE FROM log_entries; INSERT INTO log_entries SELECT * FROM kept_log_entries; \
         DELETE FROM log_tiles; INSERT INTO log_tiles SELECT * FROM kept_log_tiles; \
         DELETE FROM log_heads; INSERT INTO log_heads SELECT * FROM kept_log_heads",
        "the database is older than the log",
    ),
    (
        "show a stale checkpoint",
        D::VerifyProof,
        "",
        "0 of 2 witnesses have a cosignature that counts and is at most 600 s old",
    ),
    ("show cosignatures of a minority of witnesses", D::VerifyProof, "", "1 of 2 witnesses"),
    ("guess the name in an entry", D::Guess, "", "not confirmed"),
];

const NOT_EXTENDED: &str = "the transparency log was not extended";

/// The largest time between the next checkpoint and the detection.
const DETECTED_WITHIN: Duration = Duration::from_secs(5);

fn tamperings(
    detector: Detector,
) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let all = TAMPERINGS.into_iter();
    all.filter(move |row| row.1 == detector).map(|(name, _, sql, says)| (name, sql, says))
}

/// A service, and a policy that trusts its log without witnesses. The guards of the database are removed, as its owner can.
struct Scene<'a> {
    database: &'a Database,
    server: Server,
    folder: TempDir,
}

impl<'a> Scene<'a> {
    fn start(database: &'a Database) -> Self {
        let server = database.serve();
        server.new_identity();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("policy"), format!("log {}\nquorum none\n", server.log_key()))
            .unwrap();
        database.by_hand(match database.postgres_url() {
            Some(_) => {
                "DROP TRIGGER tr_audit_entries__append_only ON audit_entries; \
                 DROP TRIGGER tr_api_keys__revoked_is_final ON api_keys"
            }
            None => {
                "DROP TRIGGER tr_audit_entries__no_update; DROP TRIGGER tr_audit_entries__no_delete; \
                 DROP TRIGGER tr_api_keys__revoked_is_final"
            }
        });
        Self { database, server, folder }
    }

    /// Waits until all statements are in the log. Returns the time of this checkpoint.
    fn logged(&self) -> Instant {
        eventually("the next checkpoint", SOON, || {
            let pending = self.database.count("log_statements WHERE number IS NULL");
            (pending == 0).then(Instant::now)
        })
    }

    /// Tampers, and returns the time of the next checkpoint.
    fn tamper(&self, sql: &str) -> Instant {
        self.database.by_hand(&format!("BEGIN; {sql}; COMMIT"));
        self.server.new_identity();
        self.logged()
    }
}

#[track_caller]
fn check(name: &str, since: Instant, said: &str, expected: &str) {
    let took = since.elapsed();
    assert!(said.contains(expected), "{name}: {said}");
    assert!(took <= DETECTED_WITHIN, "{name}: {took:?}");
}

/// An owner who watches the key.
struct Owner {
    identity: Identity,
    shell: Shell,
}

impl Owner {
    fn new(scene: &Scene<'_>) -> Self {
        let identity = scene.server.new_identity();
        let shell = Shell::of(&scene.server);
        shell.log_in("default", &identity);
        Self { identity, shell }
    }

    fn watch(&self, scene: &Scene<'_>) -> CommandResult {
        let files = ["policy", &*self.identity.key];
        let [policy, state] = files.map(|name| scene.folder.path().join(name));
        let (policy, state) = (policy.to_str().unwrap(), state.to_str().unwrap());
        self.shell.run(&["watch", "--policy", policy, "--state", state], "")
    }
}

fn owners_detect_changes_of_their_keys(database: &Database) {
    let scene = Scene::start(database);
    for detector in [Detector::Watch, Detector::WatchAfterRevocation] {
        for (name, sql, says) in tamperings(detector) {
            let owner = Owner::new(&scene);
            assert_eq!(owner.watch(&scene).status, Some(0), "{name}");
            if detector == Detector::WatchAfterRevocation {
                database.operate(&["key", "revoke", &owner.identity.key]);
                let revoked = owner.watch(&scene);
                assert!(revoked.stderr.contains("revoked"), "{}", revoked.stderr);
            }
            let since = scene.tamper(&sql.replace("KEY", &owner.identity.key));
            let detected = owner.watch(&scene);
            assert_eq!(detected.status, Some(1), "{name}: {}", detected.stderr);
            check(name, since, &detected.stderr, says);
        }
    }
}

fn operators_detect_a_changed_audit_trail(database: &Database) {
    let scene = Scene::start(database);
    let alice = scene.server.new_identity();
    let act = |actions: [&str; 2]| {
        for action in actions {
            database.operate(&["key", action, &alice.key]);
        }
        scene.logged();
    };
    let copy = |prefix: &str, tables: &[&str]| {
        for table in tables {
            database.by_hand(&format!("CREATE TABLE {prefix}_{table} AS SELECT * FROM {table}"));
        }
    };
    act(["deactivate", "reactivate"]);
    copy("old", &["audit_entries", "log_statements", "log_entries", "log_tiles", "log_heads"]);
    act(["deactivate", "reactivate"]);
    assert_eq!(database.operate(&["audit", "verify"])["entries"], 4);
    // The rows that a test puts back are no new statements.
    database.by_hand(match database.postgres_url() {
        Some(_) => "DROP TRIGGER tr_audit_entries__log ON audit_entries",
        None => "DROP TRIGGER tr_audit_entries__log",
    });
    copy("kept", &["audit_entries", "log_statements", "log_entries"]);
    for (name, sql, says) in tamperings(Detector::AuditVerify) {
        let since = scene.tamper(sql);
        let detected = run(database.admin_command(&["audit", "verify"]));
        assert_eq!(detected.status, Some(1), "{name}");
        check(name, since, &detected.stderr, says);
        let json = run(database.admin_command(&["audit", "verify", "--json"]));
        let verdict: Value = serde_json::from_str(&json.stdout).unwrap();
        assert_eq!((json.status, &verdict["verdict"]), (Some(1), &"broken".into()), "{name}");
        assert!(says.contains(&format!("entry {}:", verdict["number"])), "{name}: {verdict}");
        database.by_hand(
            "DELETE FROM audit_entries; INSERT INTO audit_entries SELECT * FROM kept_audit_entries ORDER BY number; \
             INSERT INTO log_statements SELECT * FROM kept_log_statements AS k \
             WHERE NOT EXISTS (SELECT 1 FROM log_statements AS s WHERE s.id = k.id); \
             INSERT INTO log_entries SELECT * FROM kept_log_entries AS k \
             WHERE NOT EXISTS (SELECT 1 FROM log_entries AS e WHERE e.number = k.number)",
        );
        assert_eq!(database.operate(&["audit", "verify"])["entries"], 4, "{name}");
    }
    // A new entry takes the place of a deleted one.
    let since = scene.tamper("DELETE FROM audit_entries WHERE number > 3");
    database.operate(&["key", "deactivate", &alice.key]);
    let detected = run(database.admin_command(&["audit", "verify"]));
    let says = "broken at entry 4: the transparency log has another entry with its number";
    check("replace the end of the audit trail", since, &detected.stderr, says);
    for (name, sql, says) in tamperings(Detector::AuditVerifyAfterRollback) {
        database.by_hand(&format!("BEGIN; {sql}; COMMIT"));
        let since = Instant::now();
        let detected = run(database.admin_command(&["audit", "verify"]));
        check(name, since, &detected.stderr, says);
    }
}

fn nodes_sign_no_changed_tree(database: &Database) {
    let Scene { server, .. } = Scene::start(database);
    server.new_identity();
    wait_until("both are in the log", || database.count("log_heads WHERE size = 2") == 1);
    server.stop();
    for table in ["log_tiles", "log_heads"] {
        database.by_hand(&format!("CREATE TABLE kept_{table} AS SELECT * FROM {table}"));
    }
    for (name, sql, says) in tamperings(Detector::Node) {
        database.by_hand(sql);
        let server = database.serve();
        server.new_identity();
        let since = Instant::now();
        let log = eventually(name, SOON, || Some(server.log()).filter(|log| log.contains(says)));
        check(name, since, &log, says);
        assert_eq!(database.count("log_entries"), 2, "{name}");
        server.stop();
        for table in ["log_tiles", "log_heads"] {
            database.by_hand(&format!(
                "DELETE FROM {table}; INSERT INTO {table} SELECT * FROM kept_{table}"
            ));
        }
    }
}
