//! Tests that an owner can export everything that is stored about the account, and nothing else.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{Browser, Client, Database, Identity, Response, on_both, on_embedded, text};

on_both!(an_export_has_everything_of_the_account_and_nothing_else, a_long_export_has_each_row_once,);
on_embedded!(an_owner_downloads_the_export_in_a_browser);

fn export(client: &Client, who: &Identity) -> Response {
    let body = json!({"login_secret": who.login_secret});
    client.post("/v1/account/export").token(&who.token).json(&body).response()
}

fn entries<'a>(of: &'a Value, list: &str) -> &'a Vec<Value> {
    of[list].as_array().unwrap()
}

fn an_export_has_everything_of_the_account_and_nothing_else(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity_with_handle("alice"), server.new_identity());
    let sibling = server.sibling(&alice);
    let webhook = server.register(&alice, "https://93.184.216.34/hook");
    let token = server.new_token(&alice, &["send"]);
    server.act(&alice, "/v1/did/policy", &json!({"block": [bob.key]})).ok();
    let message = json!({"to": bob.key, "message": "the sealed text", "thread": "order:7"});
    let sent = text(&server.act(&alice, "/v1/channel/send", &message).ok(), "envelope_id");
    let of_sibling = text(&server.send(&sibling, &bob.key, "another").ok(), "envelope_id");
    let received = text(&server.send(&bob, &sibling.key, "to Alice").ok(), "envelope_id");
    database
        .by_hand(&format!("INSERT INTO daily_counts VALUES ('{}', 86400000, 3, 2, 1)", alice.key));
    database.operate(&["key", "revoke", &sibling.key]);

    let response = export(&server, &alice);
    assert_eq!(response.header("content-type"), Some("application/json"));
    let export = response.ok();
    assert_eq!(export["account_id"], alice.account);
    let keys = entries(&export, "keys");
    let ids: Vec<_> = keys.iter().map(|key| text(key, "api_key_id")).collect();
    assert_eq!(ids, [&*sibling.key, &alice.key], "newest first, with revoked ones");
    assert_eq!((&keys[0]["status"], &keys[1]["handle"]), (&json!("revoked"), &json!("alice")));
    assert_eq!(keys[1]["policy"]["blocked"], json!([bob.key]));
    assert_eq!(keys[1]["webhooks"][0]["webhook_id"], webhook["webhook_id"]);
    assert_eq!(keys[1]["usage"]["month"]["used"], 1);
    let day = json!({"day": "1970-01-02T00:00:00.000Z", "sent": 3, "received": 2, "delivered": 1});
    assert_eq!(keys[1]["daily_counts"][0], day);
    assert_eq!(export["api_tokens"][0]["token_id"], token["token_id"]);
    let session = &entries(&export, "sessions")[0];
    assert_eq!(session["client_address"], "127.0.0.1");
    assert_eq!(entries(&export, "sessions").len(), 1);
    let kinds: Vec<_> = entries(&export, "activity").iter().map(|it| text(it, "kind")).collect();
    assert_eq!(kinds.first().map(String::as_str), Some("account_exported"));
    assert!(kinds.contains(&"login".to_owned()) && kinds.contains(&"policy_changed".to_owned()));
    let envelopes = entries(&export, "envelopes");
    let sent_ids: Vec<_> = envelopes.iter().map(|it| text(it, "envelope_id")).collect();
    assert_eq!(sent_ids, [&*of_sibling, &sent]);
    let first = &envelopes[1];
    let context = (&first["sender"], &first["recipient"], &first["thread"]);
    assert_eq!(context, (&json!(alice.key), &json!(bob.key), &json!("order:7")));

    let exported = export.to_string();
    for hidden in [
        alice.secret(),
        &alice.token,
        &text(&webhook, "secret"),
        &text(&token, "token"),
        "the sealed text",
        "to Alice",
        &received,
        &bob.did,
        &bob.account,
    ] {
        assert!(!exported.contains(hidden), "{hidden} is exported");
    }
}

fn a_long_export_has_each_row_once(database: &Database) {
    let server = database.serve_with(&["--suite", "channel"]);
    let (alice, bob) = database.busy_pair(&server);
    let message = json!({"to": bob.key, "message": "x"});
    let batch = json!({"messages": vec![message; 100]});
    let sent: BTreeSet<_> = (0..11)
        .flat_map(|_| {
            let response = server.act(&alice, "/v1/channel/send-batch", &batch).ok();
            let results = response["results"].as_array().unwrap().clone();
            results.into_iter().map(|result| text(&result, "envelope_id"))
        })
        .collect();
    assert_eq!(sent.len(), 1100);
    let siblings: Vec<_> = (0..12).map(|_| server.sibling(&alice).key).collect();
    let export = export(&server, &alice).ok();
    let exported: Vec<_> =
        entries(&export, "envelopes").iter().map(|it| text(it, "envelope_id")).collect();
    assert_eq!(exported.len(), 1100);
    assert_eq!(exported.into_iter().collect::<BTreeSet<_>>(), sent);
    let keys: Vec<_> = entries(&export, "keys").iter().map(|it| text(it, "api_key_id")).collect();
    let newest_first: Vec<_> = siblings.iter().rev().chain([&alice.key]).cloned().collect();
    assert_eq!(keys, newest_first);
}

fn an_owner_downloads_the_export_in_a_browser(database: &Database) {
    let server = database.serve();
    let alice = server.new_identity();
    let browser = Browser::sign_in(&server, &alice);
    let form = format!("form_token={}", browser.form_token());
    let submit = |more: &str| {
        browser.post("/dashboard/account/export", &format!("{form}{more}"), "same-origin")
    };
    let file = submit("");
    let name = format!("attachment; filename=\"sealpost-{}.json\"", alice.account);
    assert_eq!(file.header("content-disposition"), Some(&*name));
    assert_eq!(file.ok()["keys"][0]["api_key_id"], alice.key);
    // The sign-in was longer ago than five minutes.
    database.by_hand("UPDATE sessions SET confirmed_at = confirmed_at - 300001");
    assert_eq!(submit("").status, 422);
    assert_eq!(submit("&login_secret=ls_x").status, 422);
    let secret = alice.secret();
    assert_eq!(submit(&format!("&login_secret={secret}")).ok()["account_id"], alice.account);
    assert_eq!(
        browser.post("/dashboard/account/export", "form_token=x", "same-origin").status,
        403
    );
}
