//! Tamperings that senders of envelopes, verifiers of badges and strangers meet.

use std::fs;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use super::{Detector, Scene, check, tamperings};
use crate::support::{Database, binary, on_both, on_embedded, run, text};

on_both!(a_badge_stays_revoked, senders_detect_replaced_envelopes,);
on_embedded!(a_guessed_name_is_not_confirmed);

fn senders_detect_replaced_envelopes(database: &Database) {
    let scene = Scene::start(database);
    let client = scene.server.client();
    let (alice, bob) = (client.new_identity(), client.new_identity());
    for (name, sql, says) in tamperings(Detector::KeptProof) {
        let [envelope, other] =
            [(); 2].map(|()| text(&client.send(&alice, &bob.key, "hello").ok(), "envelope_id"));
        scene.logged();
        let receipt = || {
            let body = json!({"envelope_id": envelope, "proof": true});
            client.act(&alice, "/v1/channel/receipt", &body).ok()
        };
        let kept = scene.folder.path().join(&envelope);
        fs::write(&kept, text(&receipt(), "proof")).unwrap();
        let since = scene.tamper(&sql.replace("ENVELOPE", &envelope).replace("OTHER", &other));
        // The kept proof stays valid, and the service has no proof of the row as it is now.
        let mut verify = binary(&["verify-proof", "--json", "--policy"]);
        verify.arg(scene.folder.path().join("policy")).arg(&kept);
        let proven: Value = serde_json::from_str(&run(verify).stdout).unwrap();
        assert_eq!(proven["statement"]["envelope"], json!(envelope), "{name}: {proven}");
        let said = match receipt().get("proof") {
            Some(_) => "the same envelope",
            None => "another envelope",
        };
        client.open(&bob, &envelope).refused(500, "INTERNAL_ERROR");
        check(name, since, said, says);
    }
}

fn a_badge_stays_revoked(database: &Database) {
    let scene = Scene::start(database);
    let client = scene.server.client();
    let alice = client.new_identity();
    database.assess(&alice.key, ["1", "1", "1", "0"]);
    let [badge, other] = [(); 2].map(|()| client.act(&alice, "/v1/badges/issue", &json!({})).ok());
    let verified = |badge: &Value| {
        let body = json!({"credential": badge["credential"], "proof": true});
        client.act(&alice, "/v1/badges/verify", &body).ok()
    };
    let id = text(&badge, "badge_id");
    database.operate(&["badge", "revoke", &id, "--reason", "misuse"]);
    scene.logged();
    assert!(verified(&badge).get("proof").is_some());
    for (name, sql, says) in tamperings(Detector::BadgesVerify) {
        let since = scene.tamper(&sql.replace("BADGE", &id));
        let shown = verified(&badge);
        check(name, since, &text(&shown, "status"), says);
        // The log has the change by SQL, but it is not given out as a proof.
        assert!(shown.get("proof").is_none(), "{shown}");
        assert_eq!(verified(&other)["status"], "valid", "{name}");
    }
}

/// A stranger has all files of the log, and guesses a key with its DID, sealing version and status.
fn a_guessed_name_is_not_confirmed(database: &Database) {
    let scene = Scene::start(database);
    let client = scene.server.client();
    let alice = client.new_identity_with_handle("alice");
    let since = scene.logged();
    let size = database.text("CAST(size AS TEXT)", "log_heads");
    let tiles = ["0/000.p", "entries/000.p"].map(|tile| format!("tile/{tile}/{size}"));
    let paths = tiles.iter().map(String::as_str).chain(["checkpoint"]);
    let file = |path: &str| {
        let file = client.get(&format!("/log/{path}"));
        assert_eq!(file.status, 200, "{path}");
        file.body
    };
    let files: Vec<u8> = paths.flat_map(file).collect();
    let statement =
        format!("key {}\ndid {}\nsealing_version 1\nstatus active\n", alice.key, alice.did);
    assert_eq!(database.count(&format!("log_statements WHERE text = '{statement}'")), 1);
    let hash = |parts: &[&[u8]]| digest(&SHA256, &parts.concat()).as_ref().to_vec();
    let (first, text) = (b"sealpost/log/v1/commitment\n".as_slice(), statement.as_bytes());
    let mut guesses = vec![hash(&[text]), hash(&[first, text]), hash(&[first, &[0; 32], text])];
    guesses.extend(files.windows(32).map(|salt| hash(&[first, salt, text])));
    for name in [&*alice.key, &*alice.did, &*alice.account, "alice"].map(str::as_bytes) {
        guesses.extend([name.to_vec(), hash(&[name])]);
    }
    let forms = guesses.iter().flat_map(|guess| {
        let hex: Vec<_> = guess.iter().map(|byte| format!("{byte:02x}")).collect();
        [guess.clone(), STANDARD.encode(guess).into_bytes(), hex.concat().into_bytes()]
    });
    let found = forms.into_iter().find(|form| contains(&files, form));
    let said = if found.is_some() { "confirmed" } else { "not confirmed" };
    for (name, _, says) in tamperings(Detector::Guess) {
        check(name, since, said, says);
    }
}

fn contains(files: &[u8], part: &[u8]) -> bool {
    files.windows(part.len()).any(|window| window == part)
}
