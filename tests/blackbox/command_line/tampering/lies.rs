//! Lies of a service that has the key of its log: a fork, an old log, an old checkpoint, and too few witnesses.

use std::{fs, time::Instant};

use serde_json::json;
use tempfile::TempDir;

use super::{Detector, NOT_EXTENDED, check, tamperings};
use crate::support::{
    CommandResult, Database, Identity, SOON, Server, Witness, binary, eventually, on_both,
    on_embedded, run, text,
};

on_both!(witnesses_refuse_forks_and_older_logs);
on_embedded!(readers_refuse_old_checkpoints_and_minorities);

/// A service with two witnesses, and a policy that requires both.
struct Scene<'a> {
    database: &'a Database,
    server: Server,
    witnesses: [Witness; 2],
    folder: TempDir,
    alice: Identity,
}

impl<'a> Scene<'a> {
    fn start(database: &'a Database) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = database.serve();
        let alice = server.new_identity();
        let log = server.log_key();
        server.stop();
        let witnesses = ["w1.example.org", "w2.example.org"]
            .map(|name| Witness::own(name, folder.path(), &log, 1));
        let [first, second] = &witnesses;
        let policy = format!(
            "log {log}\nwitness w1 {}\nwitness w2 {}\ngroup both all w1 w2\nquorum both\nmax-age 600\n",
            first.key(),
            second.key()
        );
        fs::write(folder.path().join("policy"), policy).unwrap();
        let server = Witness::serve(database, &[first, second]);
        Self { database, server, witnesses, folder, alice }
    }

    /// Changes the database and the node's file with the newest checkpoint, while the service is stopped.
    fn change(self, sql: &str) -> Self {
        self.server.stop();
        fs::remove_file(self.database.kept_checkpoint()).unwrap();
        self.database.by_hand(&format!("BEGIN; {sql}; COMMIT"));
        let [first, second] = &self.witnesses;
        Self { server: Witness::serve(self.database, &[first, second]), ..self }
    }

    /// Waits until all statements are in the log. Returns the time of this checkpoint.
    fn logged(&self) -> Instant {
        eventually("the next checkpoint", SOON, || {
            let is_logged = self.database.count("log_statements WHERE number IS NULL") == 0
                && self.database.count("log_heads WHERE checkpoint <> ''") == 1;
            is_logged.then(Instant::now)
        })
    }

    /// Waits until both witnesses have cosigned the newest checkpoint.
    fn cosigned(&self) {
        self.logged();
        eventually("the witnesses cosign", SOON, || {
            let checkpoint = self.database.text("checkpoint", "log_heads");
            let size = checkpoint.lines().nth(1)?;
            let cosigned = format!(
                "log_heads WHERE witnessed LIKE '%\n{size}\n%— w1.%' AND witnessed LIKE '%— w2.%'"
            );
            (self.database.count(&cosigned) == 1).then_some(())
        });
    }

    fn proof(&self, of: &Identity) -> String {
        let body = json!({"proof": true});
        text(&self.server.act(of, "/v1/did/status", &body).ok(), "proof")
    }

    fn verify(&self, proof: &str, more: &[&str]) -> CommandResult {
        let file = self.folder.path().join("proof");
        fs::write(&file, proof).unwrap();
        let mut command = binary(&["verify-proof", "--policy"]);
        command.arg(self.folder.path().join("policy")).arg(&file).args(more);
        run(command)
    }
}

fn readers_refuse_old_checkpoints_and_minorities(database: &Database) {
    let scene = Scene::start(database);
    scene.cosigned();
    let since = Instant::now();
    let proof = scene.proof(&scene.alice);
    let valid = scene.verify(&proof, &[]);
    assert_eq!(valid.status, Some(0), "{}", valid.stderr);
    let of_first: Vec<_> =
        proof.split_inclusive('\n').filter(|line| !line.starts_with("— w2.")).collect();
    let lies =
        [scene.verify(&proof, &["--at", "4000000000"]), scene.verify(&of_first.concat(), &[])];
    for ((name, _, says), refused) in tamperings(Detector::VerifyProof).zip(lies) {
        assert_eq!(refused.status, Some(1), "{name}");
        check(name, since, &refused.stderr, says);
    }
}

/// The forger has the database and the files of the node.
fn witnesses_refuse_forks_and_older_logs(database: &Database) {
    let mut scene = Scene::start(database);
    scene.cosigned();
    let tables = ["log_statements", "log_entries", "log_tiles", "log_heads"];
    let keep = |prefix: &str| {
        for table in tables {
            database.by_hand(&format!("CREATE TABLE {prefix}_{table} AS SELECT * FROM {table}"));
        }
    };
    let put_back = |prefix: &str| {
        let statements = tables.map(|table| {
            format!("DELETE FROM {table}; INSERT INTO {table} SELECT * FROM {prefix}_{table}")
        });
        statements.join("; ")
    };
    keep("kept");
    for _ in 0..2 {
        scene.server.new_identity();
    }
    scene.cosigned();
    keep("true");
    for (name, sql, says) in tamperings(Detector::Witness) {
        scene = scene.change(sql);
        // The reader of the lie. The witnesses have cosigned nothing that includes the entry of this key.
        let reader = scene.server.new_identity();
        let since = scene.logged();
        let log = eventually(name, SOON, || {
            let log = scene.server.log();
            (log.matches("a witness has not cosigned").count() >= 2).then_some(log)
        });
        check(name, since, &log, says);
        let refused = scene.verify(&scene.proof(&reader), &[]);
        assert!(refused.stderr.contains("0 of 2 witnesses"), "{name}: {}", refused.stderr);
        // All other readers see the true log.
        scene = scene.change(&put_back("true"));
        scene.server.new_identity();
        scene.cosigned();
        assert!(!scene.server.log().contains(NOT_EXTENDED), "{name}");
        assert_eq!(scene.verify(&scene.proof(&scene.alice), &[]).status, Some(0), "{name}");
        for table in tables {
            database.by_hand(&format!("DROP TABLE true_{table}"));
        }
        keep("true");
    }
}
