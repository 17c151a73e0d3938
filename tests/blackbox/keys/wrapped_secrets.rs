//! Tests that the layout of wrapped secrets in `docs/sealing.md` is the layout of the database.

use serde_json::{Value, json};

use crate::support::{Database, ask_python, text};

#[test]
fn a_program_unwraps_the_secrets_of_a_database_by_the_page() {
    let database = Database::embedded();
    let server = database.serve();
    let alice = server.new_identity();
    let registered = server.register(&alice, "https://93.184.216.34/hook");
    database.operate(&["kek", "rotate"]);
    let bob = server.new_identity();
    let webhook = json!({"webhook_id": registered["webhook_id"]});
    let rotated = server.act(&alice, "/v1/webhooks/rotate-secret", &webhook).ok();
    database.operate(&["issuer", "rotate"]);
    let issuers = database.operate_lines(&["issuer", "list"]);
    let first = text(&server.send(&alice, &bob.key, "hello").ok(), "envelope_id");
    let send_body =
        |body: Value| text(&server.act(&alice, "/v1/channel/send", &body).ok(), "envelope_id");
    let reply = json!({"to": bob.key, "message": "x", "reply_to": first, "type": "text/plain"});
    let sent = [
        first.clone(),
        send_body(reply),
        send_body(json!({"to": bob.key, "message": "x", "thread": "A"})),
    ];
    server.stop();

    let unwrapped = ask_python("wrapped.py", [database.file(), database.kek_file()]);
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
