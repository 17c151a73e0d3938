//! Tests of reserved handles, and of handles that operators release and assign.

use std::fs;

use serde_json::json;

use crate::support::{Client, Database, Response, Server, has, on_both, on_embedded};

on_both!(an_operator_releases_and_assigns_handles, handles_of_revoked_keys_are_limited,);
on_embedded!(a_file_replaces_the_reserved_handles);

fn take(client: &Client, handle: &str) -> Response {
    client.activate(&json!({"label": "a", "handle": handle}))
}

#[test]
fn reserved_handles_are_refused() {
    let server = Server::shared();
    for handle in ["admin", "Support", "security", "postmaster", "sealpost"] {
        let problem = take(&server, handle).refused(400, "INVALID_FIELD");
        assert_eq!(problem["field"], "handle");
    }
    take(&server, "administrators-friend").ok();
}

fn a_file_replaces_the_reserved_handles(database: &Database) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("reserved.txt");
    fs::write(&file, "# Our names\nacme\nAcme-Support\n").unwrap();
    let setting = format!("--reserved-handles={}", file.display());
    let server = database.serve_with(&[&setting]);
    for handle in ["acme", "acme-support"] {
        take(&server, handle).refused(400, "INVALID_FIELD");
    }
    take(&server, "admin").ok();
}

fn an_operator_releases_and_assigns_handles(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity_with_handle("bob"));
    // The node caches the key of the handle.
    server.send(&alice, "bob", "x").ok();
    let refused = database.operate_refused(1, &["handle", "assign", "bob", &alice.key]);
    assert!(refused.contains(&bob.key) && refused.contains("release"), "{refused}");
    let released = database.operate(&["handle", "release", "@bob"]);
    has(&released, &json!({"api_key_id": bob.key, "account_id": bob.account}));
    server.send(&alice, "bob", "x").refused(404, "KEY_NOT_FOUND");
    server.send(&alice, &bob.key, "x").ok();
    assert_eq!(server.status(&bob).ok()["handle"], json!(null));
    let assigned = database.operate(&["handle", "assign", "bob", &alice.key]);
    assert_eq!(assigned["handle"], "bob");
    assert_eq!(server.send(&bob, "bob", "x").ok()["recipient"], alice.key);
    assert_eq!(server.status(&alice).ok()["handle"], "bob");
    // Reserved handles are for operators.
    let support = database.operate(&["handle", "assign", "support", &bob.key]);
    assert_eq!(support["api_key_id"], bob.key);
    assert_eq!(server.send(&alice, "@support", "x").ok()["recipient"], bob.key);
    database.operate_refused(1, &["handle", "release", "unused"]);
    let refused = database.operate_refused(1, &["handle", "assign", "evt_abc", &bob.key]);
    assert!(refused.contains("must not look like an id"), "{refused}");
    let entries = database.audit();
    let shown: Vec<_> = entries.iter().map(|entry| (&entry["action"], &entry["subject"])).collect();
    let entry = |action, subject| (json!(action), json!(subject));
    let expected = [
        entry("handle.release", "handle:bob"),
        entry("handle.assign", "handle:bob"),
        entry("handle.assign", "handle:support"),
    ];
    assert_eq!(shown, expected.each_ref().map(|(action, subject)| (action, subject)));
}

fn handles_of_revoked_keys_are_limited(database: &Database) {
    let server = database.serve_with(&["--max-revoked-handles=1"]);
    let alice = server.new_identity_with_handle("first");
    let sibling = server.sibling(&alice);
    database.operate(&["key", "revoke", &alice.key]);
    let activate = |handle: &str| {
        let request = server.post("/v1/did/activate").token(&sibling.token);
        request.json(&json!({"label": "a", "handle": handle})).response()
    };
    activate("second").refused(403, "QUOTA_EXCEEDED");
    activate("first").ok();
    activate("second").ok();
}
