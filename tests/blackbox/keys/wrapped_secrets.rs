//! Tests that the layout of wrapped secrets in `docs/sealing.md` is the layout of the database.

use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Database, python, root, text};

#[test]
fn a_program_unwraps_the_secrets_of_a_database_by_the_page() {
    let database = Database::embedded();
    let server = database.serve();
    let client = server.client();
    let alice = client.new_identity();
    let registered = client.register(&alice, "https://93.184.216.34/hook");
    database.operate(&["kek", "rotate"]);
    let bob = client.new_identity();
    let webhook = json!({"webhook_id": registered["webhook_id"]});
    let rotated = client.act(&alice, "/v1/webhooks/rotate-secret", &webhook).ok();
    database.operate(&["issuer", "rotate"]);
    let issuers = database.operate_lines(&["issuer", "list"]);
    let first = text(&client.send(&alice, &bob.key, "hello").ok(), "envelope_id");
    let send_body =
        |body: Value| text(&client.act(&alice, "/v1/channel/send", &body).ok(), "envelope_id");
    let reply = json!({"to": bob.key, "message": "x", "reply_to": first, "type": "text/plain"});
    let sent = [
        first.clone(),
        send_body(reply),
        send_body(json!({"to": bob.key, "message": "x", "thread": "A"})),
    ];
    server.stop();

    let unwrapped = unwrap(&database);
    assert_eq!(unwrapped["dids"], json!({&alice.key: alice.did, &bob.key: bob.did}));
    let secrets = json!([rotated["secret"], registered["secret"]]);
    assert_eq!(unwrapped["secrets"], json!({text(&registered, "webhook_id"): secrets}));
    let mark = "sealpost/v1/kek-mark";
    assert_eq!(unwrapped["marks"], json!({"1": mark, "2": mark}));
    let signed: serde_json::Map<_, _> = sent.into_iter().map(|id| (id, json!(true))).collect();
    assert_eq!(unwrapped["signed"], Value::Object(signed));
    assert_eq!((issuers.len(), unwrapped["issuers"].as_object().unwrap().len()), (2, 2));
    for issuer in &issuers {
        assert_eq!(unwrapped["issuers"][text(issuer, "issuer_key_id")], issuer["whpk"]);
    }
}

fn unwrap(database: &Database) -> Value {
    let mut program = Command::new(python());
    program.arg(root().join("tests/blackbox/oracles/wrapped.py"));
    let output = program.arg(database.file()).arg(database.kek_file()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}
