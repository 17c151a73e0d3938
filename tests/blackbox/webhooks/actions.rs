//! Tests that each webhook action has the same response at its own path as at `POST /v1/webhooks`.

use serde_json::{Value, json};

use crate::support::{
    Client, Database, Identity, Receiver, SOON, eventually, on_both, on_embedded, text,
};

on_both!(each_action_is_for_the_owner_of_the_webhook);
on_embedded!(
    each_action_has_a_path_with_the_same_response,
    each_path_refuses_members_of_other_actions,
);

fn each_action_has_a_path_with_the_same_response(database: &Database) {
    let (server, receiver) = (database.serve(), Receiver::start());
    let (alice, bob) = database.busy_pair(&server);
    let id = text(&server.register(&bob, &receiver.url), "webhook_id");
    let sent = server.send(&alice, &bob.key, "x").ok();
    receiver.await_requests(1);
    // A success that is recorded between two lists would make them differ.
    eventually("the recorded success", SOON, || {
        let list = server.act(&bob, "/v1/webhooks/list", &json!({})).ok();
        list["webhooks"][0]["last_success_at"].as_str().map(str::to_owned)
    });
    let one = json!({"webhook_id": id});
    let recover = json!({"webhook_id": id, "since": "2026-01-01T00:00:00Z", "dry_run": true});
    let redeliver = json!({"webhook_id": id, "envelope_id": sent["envelope_id"]});
    let compare = |path: &str, body: &Value| compare(&server, &bob, path, body);
    compare("list", &json!({}));
    compare("enable", &one);
    compare("recover", &recover);
    compare("redeliver", &redeliver);
    compare("redeliver", &json!({"webhook_id": id, "envelope_id": "env_x"}));
    compare("recover", &json!({"webhook_id": id, "since": "yesterday"}));
    compare("deliveries", &json!({"webhook_id": id, "limit": 0}));
    compare("deliveries", &json!({"webhook_id": id, "state": "pending", "cursor": "x"}));
    for path in ["delete", "deliveries", "enable", "recover", "redeliver", "rotate-secret", "test"]
    {
        compare(path, &json!({}));
        compare(path, &json!({"webhook_id": 7, "since": "x", "envelope_id": "x"}));
    }
    let rotated = server.act(&bob, "/v1/webhooks/rotate-secret", &one).ok();
    assert!(text(&rotated, "secret").starts_with("whsec_"));
    let page = server.act(&bob, "/v1/webhooks/deliveries", &one).ok();
    assert_eq!(page["deliveries"].as_array().unwrap().last().unwrap()["attempt"], 1);
    let deleted = server.act(&bob, "/v1/webhooks/delete", &one).ok();
    assert_eq!(deleted, json!({"webhook_id": id, "deleted": true}));
    assert_eq!(server.post("/v1/webhooks/list").by(&bob).response().ok(), json!({"webhooks": []}));
}

/// A webhook of another account, or of another key, looks like an unknown webhook.
fn each_action_is_for_the_owner_of_the_webhook(database: &Database) {
    let (server, receiver) = (database.serve(), Receiver::start());
    let (eve, bob) = database.busy_pair(&server);
    let sibling = server.sibling(&bob);
    database.set_enterprise(&sibling.key, [1000, 1000, 1000, 1000]);
    let id = text(&server.register(&bob, &receiver.url), "webhook_id");
    let sent = server.send(&eve, &bob.key, "x").ok();
    receiver.await_requests(1);
    for path in ["delete", "deliveries", "enable", "recover", "redeliver", "rotate-secret", "test"]
    {
        let own = format!("/v1/webhooks/{path}");
        for id in [&*id, "wh_01h455vb4pex5vsknk084sn02q", "nonsense"] {
            let mut body = members(path, id);
            if path == "redeliver" {
                body["envelope_id"] = sent["envelope_id"].clone();
            }
            for stranger in [&eve, &sibling] {
                server.act(stranger, &own, &body).refused(404, "WEBHOOK_NOT_FOUND");
            }
            let stolen = server.post(&own).token(&eve.token).key(&bob.key).json(&body);
            stolen.response().refused(401, "UNAUTHORIZED");
        }
    }
    assert_eq!(receiver.requests().len(), 1);
}

fn each_path_refuses_members_of_other_actions(database: &Database) {
    let server = database.serve();
    let (bob, _) = database.busy_pair(&server);
    for path in
        ["list", "delete", "deliveries", "enable", "recover", "redeliver", "rotate-secret", "test"]
    {
        for unknown in ["action", "state", "dry_run", "envelope_id"] {
            let mut body = members(path, "wh_x");
            if body.get(unknown).is_some() || knows(path, unknown) {
                continue;
            }
            body[unknown] = json!("list");
            let refused = server.act(&bob, &format!("/v1/webhooks/{path}"), &body);
            assert_eq!(refused.refused(400, "INVALID_FIELD")["field"], unknown, "{path}");
        }
        let other_method = server.get(&format!("/v1/webhooks/{path}"));
        other_method.refused(405, "METHOD_NOT_ALLOWED");
    }
}

/// Performs an action at its own path and at the shared path. Both must give the same response.
#[track_caller]
fn compare(client: &Client, identity: &Identity, path: &str, body: &Value) {
    let mut with_action = body.clone();
    with_action["action"] = path.replace('-', "_").into();
    let own = client.act(identity, &format!("/v1/webhooks/{path}"), body);
    let shared = client.manage(identity, &with_action);
    let mut bodies = [own.json(), shared.json()];
    for body in &mut bodies {
        body.as_object_mut().unwrap().remove("request_id");
    }
    assert_eq!((own.status, &bodies[0]), (shared.status, &bodies[1]), "{path}");
}

/// Returns the required members of an action.
fn members(path: &str, id: &str) -> Value {
    match path {
        "list" => json!({}),
        "recover" => json!({"webhook_id": id, "since": "2026-01-01T00:00:00Z"}),
        "redeliver" => json!({"webhook_id": id, "envelope_id": "env_x"}),
        _ => json!({"webhook_id": id}),
    }
}

fn knows(path: &str, member: &str) -> bool {
    matches!((path, member), ("deliveries", "state") | ("recover", "dry_run"))
}
