//! Tests of `sealpost witness`, beside a witness that other authors wrote.

use std::fs;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{
    Client, CommandResult, Database, Identity, Response, SOON, Server, Witness, ask_python, binary,
    eventually, on_both, on_embedded, run, text, wait_until,
};

on_both!(witnesses_refuse_a_fork);
on_embedded!(
    a_witness_refuses_what_does_not_continue,
    proofs_have_cosignatures_that_outlive_quantum_computers,
    proofs_have_the_cosignatures_of_all_witnesses,
);

/// A service with two witnesses, and a policy that requires both.
struct Scene<'a> {
    database: &'a Database,
    folder: TempDir,
    log: String,
    own: Witness,
    other: Witness,
    server: Server,
    alice: Identity,
}

impl<'a> Scene<'a> {
    fn start(database: &'a Database, own_keys: usize) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let server = database.serve();
        let alice = server.new_identity();
        let log = server.log_key();
        server.stop();
        let own = Witness::own("w.example.org", folder.path(), &log, own_keys);
        let other = Witness::of_other_authors(folder.path(), &log);
        let policy = format!(
            "log {log}\nwitness own {}\nwitness other {}\ngroup both all own other\nquorum both\nmax-age 600\n",
            own.key(),
            other.key()
        );
        fs::write(folder.path().join("policy"), policy).unwrap();
        let server = Witness::serve(database, &[&own, &other]);
        Self { database, folder, log, own, other, server, alice }
    }

    /// Serves again, with the present addresses of the witnesses.
    fn restart(self) -> Self {
        let Self { database, server, own, other, .. } = self;
        server.stop();
        let server = Witness::serve(database, &[&own, &other]);
        Self { own, other, server, ..self }
    }

    fn proof(&self) -> String {
        let body = json!({"proof": true});
        text(&self.server.act(&self.alice, "/v1/did/status", &body).ok(), "proof")
    }

    fn verify(&self, proof: &str, more: &[&str]) -> CommandResult {
        let file = self.folder.path().join("proof");
        fs::write(&file, proof).unwrap();
        let mut command = binary(&["verify-proof", "--json", "--policy"]);
        command.arg(self.folder.path().join("policy")).arg(&file).args(more);
        run(command)
    }

    /// Waits until both witnesses have cosigned the newest checkpoint of the log. Returns the checkpoint.
    fn cosigned(&self) -> String {
        eventually("both cosign the newest checkpoint", SOON, || {
            let checkpoint = self.server.get("/log/checkpoint").body;
            let checkpoint = String::from_utf8(checkpoint).unwrap();
            let size = checkpoint.lines().nth(1)?;
            let of = |name| format!("witnessed LIKE '%{name}%'");
            let (own, other) = (of("— w.example.org"), of("— other.example.org"));
            let at = format!("log_heads WHERE witnessed LIKE '%\n{size}\n%' AND {own} AND {other}");
            (self.database.count(&at) == 1).then(|| checkpoint.clone())
        })
    }

    /// Sends a request to the own witness.
    fn add(&self, body: &str) -> Response {
        let client = Client::new(&self.own.url);
        client.post("/add-checkpoint").body("text/plain", body.as_bytes()).response()
    }
}

fn proofs_have_the_cosignatures_of_all_witnesses(database: &Database) {
    let scene = Scene::start(database, 1);
    scene.cosigned();
    let proof = scene.proof();
    assert!(proof.len() <= 2048, "{}", proof.len());
    let report: Value = serde_json::from_str(&scene.verify(&proof, &[]).stdout).unwrap();
    assert_eq!(report["witnesses"], json!(["own", "other"]), "{report}");
    let stale = scene.verify(&proof, &["--at", "4000000000"]);
    assert_eq!(stale.status, Some(1), "{}", stale.stderr);
    assert!(stale.stderr.contains("0 of 2 witnesses"), "{}", stale.stderr);
    // One witness alone is a minority.
    let line = proof.lines().find(|line| line.starts_with("— other.example.org ")).unwrap();
    let minority = scene.verify(&proof.replacen(&format!("{line}\n"), "", 1), &[]);
    assert!(minority.stderr.contains("1 of 2 witnesses"), "{}", minority.stderr);
    scene.server.new_identity();
    scene.cosigned();
}

/// The policy names the ML-DSA-44 key of the own witness. proofbundle, a program of other authors, agrees.
fn proofs_have_cosignatures_that_outlive_quantum_computers(database: &Database) {
    let scene = Scene::start(database, 2);
    scene.cosigned();
    let proof = scene.proof();
    assert!(proof.len() <= 2048 + 3_400, "{}", proof.len());
    let report: Value = serde_json::from_str(&scene.verify(&proof, &[]).stdout).unwrap();
    assert_eq!(report["witnesses"], json!(["own", "other"]), "{report}");
    let (_, checkpoint) = proof.split_once("\n\n").unwrap();
    let keys = scene.own.keys.iter().map(|key| (key, checkpoint));
    let file = scene.folder.path().join("notes");
    fs::write(&file, serde_json::to_string(&keys.collect::<Vec<_>>()).unwrap()).unwrap();
    let found = ask_python("cosignatures.py", [&file]);
    let [ed25519, ml_dsa_44] = [0, 1].map(|at| found["times"][at].as_u64().unwrap());
    assert_eq!(ed25519, ml_dsa_44);
    // Without the line of ML-DSA-44, the Ed25519 signature of the same witness does not count.
    let id = scene.own.key().split('+').nth(1).unwrap();
    let of_key = |line: &str| line_id(line).as_deref() == Some(id);
    let without: Vec<_> = proof.split_inclusive('\n').filter(|line| !of_key(line)).collect();
    let minority = scene.verify(&without.concat(), &[]);
    assert!(minority.stderr.contains("1 of 2 witnesses"), "{}", minority.stderr);
}

/// Returns the id of the key in a line with a signature.
fn line_id(line: &str) -> Option<String> {
    let (_, signature) = line.trim().strip_prefix("— ")?.split_once(' ')?;
    let bytes = STANDARD.decode(signature).unwrap();
    Some(bytes[..4].iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat())
}

/// Starts several witnesses, because a signal right after the start would end only some of them out of order.
#[test]
fn a_witness_stops_in_order_as_soon_as_it_listens() {
    let (database, folder) = (Database::embedded(), tempfile::tempdir().unwrap());
    let server = database.serve();
    server.new_identity();
    let log = server.log_key();
    server.stop();
    for _ in 0..8 {
        let mut witness = Witness::own("w.example.org", folder.path(), &log, 1);
        witness.process.terminate();
        assert_eq!(witness.process.ended(SOON), Some(0));
    }
}

fn a_witness_refuses_what_does_not_continue(database: &Database) {
    let scene = Scene::start(database, 1);
    scene.cosigned();
    scene.server.stop();
    let Scene { own, .. } = scene;
    let keys = own.keys.clone();
    own.process.terminate();
    drop(own);
    let own = Witness::own("w.example.org", scene.folder.path(), &scene.log, 1);
    assert_eq!(own.keys, keys, "the key stays");
    let server = Witness::serve(database, &[&own, &scene.other]);
    let scene = Scene { own, server, ..scene };
    scene.server.new_identity();
    let checkpoint = scene.cosigned();
    let size = checkpoint.lines().nth(1).unwrap();
    let conflict = scene.add(&format!("old 0\n\n{checkpoint}"));
    assert_eq!((conflict.status, conflict.body), (409, format!("{size}\n").into_bytes()));
    // Anybody can add signatures of unknown keys, up to 100 in all.
    let junk = "— unknown.example AAAAAAAA\n".repeat(98);
    for _ in 0..2 {
        assert_eq!(scene.add(&format!("old {size}\n\n{checkpoint}{junk}")).status, 200);
    }
    let folder = scene.folder.path().join("w.example.org");
    let mut second = binary(&["witness", "--name=w.example.org", "--listen=127.0.0.1:0"]);
    second.args(["--log", &scene.log]).arg("--folder").arg(folder);
    let second = run(second);
    assert!(second.stderr.contains("another witness is running"), "{}", second.stderr);
    let unknown = checkpoint.replacen(scene.log.split('+').next().unwrap(), "unknown/log", 1);
    let unsigned = checkpoint.replacen(&format!("\n{size}\n"), "\n7000\n", 1);
    let long = "A".repeat(70_000);
    for (body, status) in [
        ("old 0\n\nno checkpoint\n", 400),
        (&*format!("old {size}\n\n{unknown}"), 404),
        (&*format!("old {size}\n\n{unsigned}"), 403),
        (&*long, 413),
    ] {
        assert_eq!(scene.add(body).status, status, "{body:.50}");
    }
}

fn witnesses_refuse_a_fork(database: &Database) {
    let scene = Scene::start(database, 1);
    scene.cosigned();
    // A forger with the database and the node's files lets the service sign another history.
    fs::remove_file(database.kept_checkpoint()).unwrap();
    database.by_hand(
        "BEGIN; UPDATE log_statements SET number = NULL, at = NULL, salt = NULL; \
         DELETE FROM log_entries; DELETE FROM log_tiles; \
         UPDATE log_heads SET size = 0, checkpoint = '', witnessed = NULL; COMMIT",
    );
    let scene = scene.restart();
    wait_until("the fork is refused", || {
        let log = scene.server.log();
        let refused = log.matches("a witness has not cosigned").count() >= 2;
        refused && log.contains("status 422")
    });
    wait_until("the witness reports it", || {
        let lines = scene.own.process.stderr();
        ["rewritten its history", "changed old entries"].iter().any(|line| lines.contains(line))
    });
    let refused = scene.verify(&scene.proof(), &[]);
    assert_eq!(refused.status, Some(1));
    assert!(refused.stderr.contains("0 of 2 witnesses"), "{}", refused.stderr);
}
