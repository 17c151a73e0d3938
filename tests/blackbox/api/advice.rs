//! Tests of the advice in error responses: misspelt members, ids of another kind, URLs that cannot be registered, and
//! paths and methods that do not exist.

use serde_json::{Value, json};

use crate::support::{Client, Database, Identity, Server, text};

/// Returns the `detail` of a refused request.
#[track_caller]
fn detail(
    client: &Client,
    identity: &Identity,
    path: &str,
    body: &Value,
    (status, code): (u16, &str),
) -> String {
    text(&client.act(identity, path, body).refused(status, code), "detail")
}

#[test]
fn a_misspelt_member_is_named_with_the_member_that_it_resembles() {
    let server = Server::shared();
    let alice = server.new_identity();
    let missing = (400, "MISSING_FIELD");
    for (path, body, given, meant) in [
        ("/v1/channel/send", json!({"to": "bob", "mesage": "x"}), "mesage", "message"),
        ("/v1/channel/send", json!({"too": "bob", "message": "x"}), "too", "to"),
        ("/v1/channel/open", json!({"envelopeId": "x"}), "envelopeId", "envelope_id"),
        ("/v1/webhooks/register", json!({"URL": "x", "events": ["x"]}), "URL", "url"),
        ("/v1/webhooks/register", json!({"url": "x", "event": ["x"]}), "event", "events"),
        ("/v1/webhooks/delete", json!({"webhook": "x"}), "webhook", "webhook_id"),
        ("/v1/webhooks/update", json!({"webhook_id": "x", "pause": true}), "pause", "paused"),
        ("/v1/webhooks", json!({"actions": "list"}), "actions", "action"),
    ] {
        let problem = server.act(&alice, path, &body).refused(missing.0, missing.1);
        let expected = format!("{given} is an unknown field, did you mean {meant}?");
        assert!(text(&problem, "detail").ends_with(&expected), "{problem}");
        assert_eq!(problem["field"], meant);
    }
    for (body, absent) in [
        (json!({"to": "bob", "body": "x"}), "did you mean"),
        (json!({"to": "bob", "metadata": "x"}), "metadata"),
    ] {
        let detail = detail(&server, &alice, "/v1/channel/send", &body, missing);
        assert!(!detail.contains(absent), "{detail}");
    }
    let batch = json!({"messages": [{"to": "bob", "mesage": "x"}]});
    let sent = server.act(&alice, "/v1/channel/send-batch", &batch).ok();
    assert_eq!(sent["results"][0]["code"], "MISSING_FIELD");
    assert!(text(&sent["results"][0], "detail").ends_with("did you mean message?"), "{sent}");
}

#[test]
fn an_id_of_another_kind_is_named_with_the_code_of_an_unknown_id() {
    let server = Server::shared();
    let alice = server.new_identity();
    let (account, webhook, envelope) = (&*alice.account, WEBHOOK, ENVELOPE);
    let (no_envelope, no_webhook, no_key) =
        ((404, "ENVELOPE_NOT_FOUND"), (404, "WEBHOOK_NOT_FOUND"), (404, "KEY_NOT_FOUND"));
    let own = text(&server.register(&alice, "https://hooks.invalid/"), "webhook_id");
    let (of_account, of_webhook, of_envelope) =
        ("account (acct_)", "webhook (wh_)", "envelope (env_)");
    let reply = json!({"to": alice.key, "message": "x", "reply_to": webhook});
    let redeliver = json!({"webhook_id": own, "envelope_id": webhook});
    for (path, body, refused, given, expected) in [
        ("channel/open", json!({"envelope_id": webhook}), no_envelope, of_webhook, "env_"),
        ("channel/receipt", json!({"envelope_id": account}), no_envelope, of_account, "env_"),
        ("channel/send", json!({"to": account, "message": "x"}), no_key, of_account, "handle"),
        ("channel/send", reply, no_envelope, of_webhook, "env_"),
        ("channel/list", json!({"recipient": envelope}), no_key, of_envelope, "handle"),
        ("did/resolve", json!({"id": webhook}), no_key, of_webhook, "handle"),
        ("did/policy", json!({"block": [account]}), no_key, of_account, "handle"),
        ("webhooks/delete", json!({"webhook_id": envelope}), no_webhook, of_envelope, "wh_"),
        ("webhooks/enable", json!({"webhook_id": alice.key}), no_webhook, "API key (ak_)", "wh_"),
        ("webhooks/test", json!({"webhook_id": account}), no_webhook, of_account, "wh_"),
        ("webhooks/redeliver", redeliver, no_envelope, of_webhook, "env_"),
    ] {
        let detail = detail(&server, &alice, &format!("/v1/{path}"), &body, refused);
        assert!(detail.contains(given) && detail.contains(expected), "{path}: {detail}");
        assert!(!detail.contains(&*alice.key), "{detail}");
    }
    let secret = server.new_token(&alice, &["send"]);
    let revoke = json!({"token_id": secret["token"]});
    let refused = server.act_as_owner(&alice, "/v1/auth/tokens/revoke", &revoke);
    let detail = text(&refused.refused(404, "TOKEN_NOT_FOUND"), "detail");
    assert!(detail.contains("a secret") && !detail.contains(&text(&secret, "token")), "{detail}");
    let key = server.post("/v1/did/status").token(&alice.token).key(&alice.account);
    let detail = text(&key.response().refused(404, "KEY_NOT_FOUND"), "detail");
    assert!(detail.contains("account (acct_)") && detail.ends_with("an API key (ak_)"), "{detail}");
    let login = server.login(&alice.key, alice.secret());
    let detail = text(&login.refused(401, "UNAUTHORIZED"), "detail");
    assert!(detail.contains("acct_") && !detail.contains("login_secret is wrong"), "{detail}");
}

#[test]
fn a_receipt_of_a_foreign_envelope_gets_the_advice_of_a_sender() {
    let server = Server::shared();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let envelope = text(&server.send(&alice, &bob.key, "x").ok(), "envelope_id");
    for (reader, id) in [(&bob, &*envelope), (&alice, ENVELOPE)] {
        let body = json!({"envelope_id": id});
        let refused = (404, "ENVELOPE_NOT_FOUND");
        let detail = detail(&server, reader, "/v1/channel/receipt", &body, refused);
        assert!(detail.contains("sent no stored envelope"), "{detail}");
        assert!(detail.contains("response to your send"), "{detail}");
    }
}

#[test]
fn the_redelivery_of_an_event_that_the_webhook_does_not_name_is_refused_with_this_reason() {
    let server = Database::embedded().serve_with(&["--events", "v1.1"]);
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let envelope = text(&server.send(&alice, &bob.key, "x").ok(), "envelope_id");
    let hook = json!({"url": "https://hooks.invalid/", "events": ["usage.threshold"]});
    let hook = text(&server.act(&bob, "/v1/webhooks/register", &hook).ok(), "webhook_id");
    let body = json!({"webhook_id": hook, "envelope_id": envelope});
    let refused = (404, "ENVELOPE_NOT_FOUND");
    let detail = detail(&server, &bob, "/v1/webhooks/redeliver", &body, refused);
    assert!(detail.contains("does not name its kind"), "{detail}");
}

#[test]
fn a_url_that_cannot_be_registered_names_the_ways_without_a_public_address() {
    let database = Database::embedded();
    let production = Server::start(database.command(&[]));
    let client = production.client();
    let alice = client.new_identity();
    let refused = |client: &Client, identity: &Identity, url: &str| {
        let body = json!({"url": url, "events": ["envelope.received"]});
        detail(client, identity, "/v1/webhooks/register", &body, (400, "INVALID_FIELD"))
    };
    for url in ["http://127.0.0.1:3000/", "https://127.0.0.1:3000/", "https://localhost/"] {
        let detail = refused(client, &alice, url);
        for way in ["--dev", "relay:", "/docs/behind-nat"] {
            assert!(detail.contains(way), "{detail}");
        }
    }
    production.stop();
    let server = database.serve();
    let identity = server.new_identity();
    let detail = refused(&server, &identity, "http://10.0.0.1/");
    assert!(detail.contains("only loopback") && !detail.contains("start the server"), "{detail}");
}

#[test]
fn a_browser_gets_a_page_for_an_unknown_path_and_a_program_a_problem_document() {
    let server = Server::shared();
    let get =
        |path: &str, accept: &str| server.request("GET", path).header("Accept", accept).response();
    let page = get("/nope", "text/html,*/*;q=0.8");
    assert_eq!((page.status, page.header("content-type")), (404, Some("text/html; charset=utf-8")));
    assert_eq!(page.header("cache-control"), Some("no-store"));
    let html = String::from_utf8(page.body.clone()).unwrap();
    assert!(html.contains("No such page") && html.contains("href=\"/docs\""), "{html}");
    get("/nope", "*/*").refused(404, "NOT_FOUND");
    get("/v1/nope", "text/html").refused(404, "NOT_FOUND");
}

#[test]
fn a_preflight_request_is_told_that_the_api_has_no_cors() {
    let server = Server::shared();
    let response = server.request("OPTIONS", "/v1/channel/send").response();
    let problem = response.refused(405, "METHOD_NOT_ALLOWED");
    assert!(text(&problem, "detail").contains("no CORS"), "{problem}");
    assert_eq!(response.header("allow"), Some("POST"));
    let other = server.get("/v1/channel/send");
    let problem = other.refused(405, "METHOD_NOT_ALLOWED");
    assert!(!text(&problem, "detail").contains("CORS"), "{problem}");
}

#[test]
fn a_key_of_another_account_is_refused_with_the_advice_that_a_login_does_not_help() {
    let server = Server::shared();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let request = server.post("/v1/did/status").token(&alice.token).key(&bob.key);
    let problem = request.response().refused(401, "UNAUTHORIZED");
    assert!(text(&problem, "detail").contains("a new login does not change that"), "{problem}");
}

const ENVELOPE: &str = "env_01h455vb4pex5vsknk084sn02q";
const WEBHOOK: &str = "wh_01h455vb4pex5vsknk084sn02q";
