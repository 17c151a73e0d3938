//! Tests of reserved handles, and of handles that operators release and assign.

use std::fs;

use serde_json::json;

use crate::support::{Client, Database, Response, on_both};

on_both!(
    reserved_handles_are_refused,
    a_file_replaces_the_reserved_handles,
    an_operator_releases_and_assigns_handles,
    handles_of_revoked_keys_are_limited,
);

fn take(client: &Client, handle: &str) -> Response {
    client.activate(&json!({"label": "a", "handle": handle}))
}

fn reserved_handles_are_refused(database: &Database) {
    let server = database.serve();
    for handle in ["admin", "Support", "security", "postmaster", "sealpost"] {
        let problem = take(server.client(), handle).refused(400, "INVALID_FIELD");
        assert_eq!(problem["field"], "handle");
    }
    take(server.client(), "administrators-friend").ok();
}

fn a_file_replaces_the_reserved_handles(database: &Database) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("reserved.txt");
    fs::write(&file, "# Our names\nacme\nAcme-Support\n").unwrap();
    let setting = format!("--reserved-handles={}", file.display());
    let server = database.serve_with(&[&setting]);
    for handle in ["acme", "acme-support"] {
        take(server.client(), handle).refused(400, "INVALID_FIELD");
    }
    take(server.client(), "admin").ok();
}

fn an_operator_releases_and_assigns_handles(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (alice, bob) = (client.new_identity(), client.new_identity_with_handle("bob"));
    // The node caches the key of the handle.
    client.send(&alice, "bob", "x").ok();
    let refused = database.operate_refused(1, &["handle", "assign", "bob", &alice.key]);
    assert!(refused.contains(&bob.key) && refused.contains("release"), "{refused}");
    let released = database.operate(&["handle", "release", "@bob"]);
    assert_eq!(
        (&released["api_key_id"], &released["account_id"]),
        (&json!(bob.key), &json!(bob.account))
    );
    client.send(&alice, "bob", "x").refused(404, "KEY_NOT_FOUND");
    client.send(&alice, &bob.key, "x").ok();
    assert_eq!(client.status(&bob).ok()["handle"], json!(null));
    let assigned = database.operate(&["handle", "assign", "bob", &alice.key]);
    assert_eq!(assigned["handle"], "bob");
    assert_eq!(client.send(&bob, "bob", "x").ok()["recipient"], alice.key);
    assert_eq!(client.status(&alice).ok()["handle"], "bob");
    // Reserved handles are for operators.
    let support = database.operate(&["handle", "assign", "support", &bob.key]);
    assert_eq!(support["api_key_id"], bob.key);
    assert_eq!(client.send(&alice, "@support", "x").ok()["recipient"], bob.key);
    database.operate_refused(1, &["handle", "release", "unused"]);
    let refused = database.operate_refused(1, &["handle", "assign", "evt_abc", &bob.key]);
    assert!(refused.contains("must not look like an id"), "{refused}");
    let trail = database.operate(&["audit", "list"]);
    let entries = trail["entries"].as_array().unwrap();
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
    let client = server.client();
    let alice = client.new_identity_with_handle("first");
    let sibling = client.sibling(&alice);
    database.operate(&["key", "revoke", &alice.key]);
    let activate = |handle: &str| {
        let request = client.post("/v1/did/activate").token(&sibling.token);
        request.json(&json!({"label": "a", "handle": handle})).response()
    };
    activate("second").refused(403, "QUOTA_EXCEEDED");
    activate("first").ok();
    activate("second").ok();
}
