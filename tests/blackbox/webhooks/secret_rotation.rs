//! Tests of the rotation of webhook signing secrets.

use serde_json::json;
use standardwebhooks::Webhook;

use crate::support::{Browser, Database, Receiver, Server, WebhookRequest, on_both, text};

on_both!(
    both_secrets_verify_during_the_overlap,
    an_expired_secret_signs_no_more_requests,
    replaced_secrets_survive_a_rotation_of_the_key_encryption_key,
);

fn verifies(request: &WebhookRequest, secret: &str) -> bool {
    Webhook::new(secret).unwrap().verify(&request.body, &request.headers).is_ok()
}

fn both_secrets_verify_during_the_overlap(database: &Database) {
    let (server, receiver) = (database.serve(), Receiver::start());
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let registered = server.register(&bob, &receiver.url);
    let old = text(&registered, "secret");
    let rotate = json!({"action": "rotate_secret", "webhook_id": registered["webhook_id"]});
    server.send(&alice, &bob.key, "x").ok();
    assert!(verifies(&receiver.await_requests(1)[0], &old));
    let rotated = server.manage(&bob, &rotate).ok();
    let new = text(&rotated, "secret");
    assert!(new.starts_with("whsec_") && new != old);
    assert_eq!(rotated["retiring"].as_array().unwrap().len(), 1);
    assert!(text(&rotated["retiring"][0], "expires_at") > text(&registered, "created_at"));
    server.send(&alice, &bob.key, "x").ok();
    let request = receiver.await_requests(2).remove(1);
    request.verify(&new);
    request.verify(&old);
    let third = text(&server.manage(&bob, &rotate).ok(), "secret");
    server.send(&alice, &bob.key, "x").ok();
    let request = receiver.await_requests(3).remove(2);
    assert!([&old, &new, &third].into_iter().all(|secret| verifies(&request, secret)));
    let listed = server.manage(&bob, &json!({"action": "list"})).ok();
    assert!(!listed.to_string().contains("whsec_"));
}

fn an_expired_secret_signs_no_more_requests(database: &Database) {
    let (server, receiver) =
        (database.serve_with(&["--webhook-secret-overlap", "0s"]), Receiver::start());
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let registered = server.register(&bob, &receiver.url);
    let rotate = json!({"action": "rotate_secret", "webhook_id": registered["webhook_id"]});
    let rotated = server.manage(&bob, &rotate).ok();
    assert_eq!(rotated["retiring"], json!([]));
    server.send(&alice, &bob.key, "x").ok();
    let request = receiver.await_requests(1).remove(0);
    assert!(verifies(&request, &text(&rotated, "secret")));
    assert!(!verifies(&request, &text(&registered, "secret")));
}

#[test]
fn a_fifth_replacement_is_refused_and_every_secret_still_signs() {
    let (server, receiver) = (Server::shared(), Receiver::start());
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let registered = server.register(&bob, &receiver.url);
    let id = &registered["webhook_id"];
    let rotate = json!({"action": "rotate_secret", "webhook_id": id});
    let mut secrets = vec![text(&registered, "secret")];
    let mut oldest = String::new();
    for _ in 0..4 {
        let rotated = server.manage(&bob, &rotate).ok();
        secrets.push(text(&rotated, "secret"));
        oldest = text(rotated["retiring"].as_array().unwrap().last().unwrap(), "expires_at");
    }
    for response in [
        server.manage(&bob, &rotate),
        server.act(&bob, "/v1/webhooks/rotate-secret", &json!({"webhook_id": id})),
    ] {
        let problem = response.refused(403, "QUOTA_EXCEEDED");
        assert!(text(&problem, "detail").contains(&oldest), "{oldest}: {problem}");
    }
    let browser = Browser::sign_in(&server, &bob);
    let page = format!("/dashboard/keys/{}/webhooks/{}", bob.key, text(&registered, "webhook_id"));
    let form = format!("form_token={}&do=rotate_secret", browser.form_token());
    let refused = browser.post(&page, &form, "same-origin");
    assert!(String::from_utf8_lossy(&refused.body).contains(&oldest), "{refused:?}");
    server.send(&alice, &bob.key, "x").ok();
    let request = receiver.await_requests(1).remove(0);
    assert!(secrets.iter().all(|secret| verifies(&request, secret)));
}

fn replaced_secrets_survive_a_rotation_of_the_key_encryption_key(database: &Database) {
    let (server, receiver) = (database.serve(), Receiver::start());
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let registered = server.register(&bob, &receiver.url);
    let rotate = json!({"action": "rotate_secret", "webhook_id": registered["webhook_id"]});
    let new = text(&server.manage(&bob, &rotate).ok(), "secret");
    assert_eq!(database.operate(&["kek", "rotate"])["secrets"], 2);
    server.send(&alice, &bob.key, "x").ok();
    let request = receiver.await_requests(1).remove(0);
    assert!(verifies(&request, &new) && verifies(&request, &text(&registered, "secret")));
}
