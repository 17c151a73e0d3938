//! Tests of relays: webhooks whose receivers connect by WebSocket.

use std::{
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::support::{
    Browser, Client, Database, Identity, Receiver, SOON, Server, Socket, eventually, exchange, has,
    on_both, on_embedded, status_of, text,
};

on_both!(
    a_relay_gets_the_request_that_a_url_would_get,
    deliveries_wait_for_a_connection_and_come_oldest_first,
    messages_through_any_node_reach_the_connection,
    unanswered_deliveries_come_back_without_a_failed_attempt,
    statuses_mean_what_they_mean_in_a_response,
    a_connection_closes_when_it_must_get_nothing_more,
    a_connection_closes_although_it_opens_during_the_change,
    an_account_with_more_connections_yields_on_a_full_node,
    a_webhook_can_become_a_relay_and_back,
    the_connections_of_a_killed_node_soon_count_no_more,
    a_node_that_was_taken_for_dead_closes_its_connections,
    a_receiver_gets_a_bounded_number_of_unanswered_deliveries,
);
on_embedded!(
    a_connection_ends_at_once_after_its_close_frames,
    connections_are_refused_with_problem_documents,
    an_answer_may_be_long_and_in_fragments,
);

fn register(client: &Client, identity: &Identity) -> (String, String) {
    let registered = client.register(identity, "relay:");
    assert_eq!((&registered["url"], &registered["warning"]), (&json!("relay:"), &Value::Null));
    (text(&registered, "webhook_id"), text(&registered, "secret"))
}

fn send(client: &Client, from: &Identity, to: &Identity) -> String {
    text(&client.send(from, &to.key, "x").ok(), "envelope_id")
}

fn state(client: &Client, sender: &Identity, envelope: &str) -> String {
    let body = json!({"envelope_id": envelope});
    text(&client.act(sender, "/v1/channel/receipt", &body).ok(), "state")
}

fn attempts(client: &Client, identity: &Identity, webhook: &str) -> Vec<Value> {
    let query = json!({"action": "deliveries", "webhook_id": webhook, "limit": 100});
    let page = client.manage(identity, &query).ok();
    let all = page["deliveries"].as_array().unwrap().iter();
    all.filter(|it| it["outcome"] != "pending").cloned().collect()
}

fn a_relay_gets_the_request_that_a_url_would_get(database: &Database) {
    let server = database.serve();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let (id, secret) = register(&server, &bob);
    assert_eq!(server.only_webhook(&bob)["connected"], 0);
    let mut socket = Socket::open(&server, &bob, &id);
    assert_eq!(server.only_webhook(&bob)["connected"], 1);
    let sent = send(&server, &alice, &bob);
    let (delivery, request) = socket.next().unwrap();
    request.verify(&secret);
    assert_eq!((request.id(), request.header("content-type")), (sent.clone(), "application/json"));
    assert_eq!(request.json()["envelope_id"], json!(sent));
    let browser = Browser::sign_in(&server, &bob);
    let page = || browser.page(&format!("/dashboard/keys/{}/webhooks/{id}", bob.key));
    assert!(page().contains("from 127.0.0.1, 1 event in flight"), "{}", page());
    socket.answer(&delivery, 200);
    eventually("the receipt says so", Duration::from_secs(10), || {
        (state(&server, &alice, &sent) == "notified").then_some(())
    });
    assert!(page().contains("0 events in flight"), "{}", page());
    let [attempt] = &attempts(&server, &bob, &id)[..] else { panic!("one attempt") };
    assert_eq!((&attempt["outcome"], &attempt["status_code"]), (&json!("succeeded"), &json!(200)));
    drop(socket);
    eventually("the connection counts no more", Duration::from_secs(5), || {
        (server.only_webhook(&bob)["connected"] == 0).then_some(())
    });
}

fn deliveries_wait_for_a_connection_and_come_oldest_first(database: &Database) {
    let server = database.serve();
    let (alice, bob) = database.busy_pair(&server);
    let (id, _) = register(&server, &bob);
    let sent: Vec<_> = (0..40).map(|_| send(&server, &alice, &bob)).collect();
    assert_eq!(state(&server, &alice, &sent[0]), "sent");
    let mut socket = Socket::open(&server, &bob, &id);
    let started = Instant::now();
    let got: Vec<_> = sent.iter().map(|_| socket.accept().id()).collect();
    assert_eq!(got, sent);
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert!(attempts(&server, &bob, &id).iter().all(|attempt| attempt["outcome"] == "succeeded"));
}

fn messages_through_any_node_reach_the_connection(database: &Database) {
    let servers = database.serve_on_every_node();
    let client = servers[0].client();
    let (alice, bob) = database.busy_pair(client);
    let (id, secret) = register(client, &bob);
    let mut socket = Socket::open(&servers[0], &bob, &id);
    for server in servers.iter().cycle().take(6) {
        let sent = send(server.client(), &alice, &bob);
        let answered = Instant::now();
        let request = socket.accept();
        request.verify(&secret);
        assert_eq!(request.id(), sent);
        assert!(answered.elapsed() < Duration::from_secs(1), "{:?}", answered.elapsed());
    }
    assert!(servers.iter().all(|server| server.only_webhook(&bob)["connected"] == 1));
    if let Some(other) = servers.get(1) {
        let browser = Browser::sign_in(other.client(), &bob);
        let page = browser.page(&format!("/dashboard/keys/{}/webhooks/{id}", bob.key));
        assert!(page.contains("at another node"), "{page}");
    }
}

fn unanswered_deliveries_come_back_without_a_failed_attempt(database: &Database) {
    let server = database.serve();
    let (alice, bob) = database.busy_pair(&server);
    let (id, _) = register(&server, &bob);
    let mut first = Socket::open(&server, &bob, &id);
    let sent: Vec<_> = (0..5).map(|_| send(&server, &alice, &bob)).collect();
    first.accept();
    let (_, unanswered) = first.next().unwrap();
    drop(first);
    let mut second = Socket::open(&server, &bob, &id);
    let mut got: Vec<_> = sent[1..].iter().map(|_| second.accept().id()).collect();
    got.sort_unstable();
    assert_eq!(got, sent[1..]);
    assert!(got.contains(&unanswered.id()));
    let attempts = eventually("all attempts are recorded", Duration::from_secs(10), || {
        Some(attempts(&server, &bob, &id)).filter(|all| all.len() == sent.len())
    });
    assert!(
        attempts.iter().all(|attempt| attempt["outcome"] == "succeeded" && attempt["attempt"] == 1)
    );
}

fn statuses_mean_what_they_mean_in_a_response(database: &Database) {
    let server = database.serve_with(&["--webhook-retry-schedule", "1s,1h"]);
    let (alice, bob) = database.busy_pair(&server);
    let (id, _) = register(&server, &bob);
    let mut socket = Socket::open(&server, &bob, &id);
    let sent = send(&server, &alice, &bob);
    let (delivery, _) = socket.next().unwrap();
    let answer = json!({"delivery": delivery, "status": 500, "body": "later"});
    socket.send(&answer.to_string());
    let (delivery, again) = socket.next().unwrap();
    assert_eq!(again.id(), sent);
    socket.send(&json!({"delivery": delivery, "status": "none"}).to_string());
    let failed = eventually("the attempts are recorded", Duration::from_secs(10), || {
        Some(attempts(&server, &bob, &id)).filter(|all| all.len() == 2)
    });
    has(&failed[0], &json!({"error": "protocol", "status_code": null}));
    has(&failed[1], &json!({"error": "http_status", "status_code": 500}));

    let tested = thread::scope(|scope| {
        let act = || server.act(&bob, "/v1/webhooks/test", &json!({"webhook_id": id})).ok();
        let test = scope.spawn(act);
        let (delivery, _) = socket.next().unwrap();
        socket.send(&json!({"delivery": delivery, "status": 202, "body": "fine"}).to_string());
        test.join().unwrap()
    });
    assert_eq!((&tested["outcome"], &tested["response"]), (&json!("succeeded"), &json!("fine")));

    send(&server, &alice, &bob);
    let (delivery, _) = socket.next().unwrap();
    socket.answer(&delivery, 410);
    assert_eq!(socket.closed(), (1008, "the webhook is disabled".to_owned()));
    assert_eq!(server.only_webhook(&bob)["status"], "disabled");
}

fn a_connection_closes_when_it_must_get_nothing_more(database: &Database) {
    let servers = database.serve_on_every_node();
    let (here, elsewhere) = (&servers[0], servers.last().unwrap().client());
    let bob = here.new_identity();
    let (id, _) = register(here.client(), &bob);
    let update = |changes: Value| {
        let mut body = changes;
        body["webhook_id"] = json!(id);
        elsewhere.act(&bob, "/v1/webhooks/update", &body).ok();
    };
    let closes = |act: &dyn Fn(), reason: &str| {
        let mut socket = Socket::open(here, &bob, &id);
        act();
        let acted = Instant::now();
        assert_eq!(socket.closed(), (1008, reason.to_owned()));
        assert!(acted.elapsed() < Duration::from_secs(2), "{reason}: {:?}", acted.elapsed());
    };
    closes(&|| update(json!({"paused": true})), "the webhook is paused");
    update(json!({"paused": false}));
    closes(&|| update(json!({"url": "http://127.0.0.1:65000/"})), "the webhook has another url");
    update(json!({"url": "relay:"}));

    let created = elsewhere.new_token(&bob, &["webhooks"]);
    let mut socket = Socket::try_open(here, &text(&created, "token"), None, &id).ok().unwrap();
    let body = json!({"token_id": created["token_id"]});
    elsewhere.post("/v1/auth/tokens/revoke").token(&bob.token).json(&body).response().ok();
    assert_eq!(socket.closed(), (1008, "the session or API token has ended".to_owned()));

    closes(
        &|| drop(database.operate(&["key", "deactivate", &bob.key])),
        "the API key is not active",
    );
    database.operate(&["key", "reactivate", &bob.key]);

    closes(
        &|| drop(elsewhere.manage(&bob, &json!({"action": "delete", "webhook_id": id})).ok()),
        "the webhook was deleted",
    );
    let (id, _) = register(here.client(), &bob);
    let mut socket = Socket::open(here, &bob, &id);
    elsewhere.post("/v1/auth/logout").token(&bob.token).response().ok();
    assert_eq!(socket.closed(), (1008, "the session or API token has ended".to_owned()));
}

fn a_connection_closes_although_it_opens_during_the_change(database: &Database) {
    let servers = database.serve_on_every_node();
    let (here, elsewhere) = (&servers[0], servers.last().unwrap().client());
    let bob = here.new_identity();
    let (id, _) = register(here.client(), &bob);
    for _ in 0..8 {
        let created = elsewhere.new_token(&bob, &["webhooks"]);
        let token = text(&created, "token");
        let opened = thread::scope(|scope| {
            let opened = scope.spawn(|| Socket::try_open(here, &token, None, &id));
            let body = json!({"token_id": created["token_id"]});
            elsewhere.post("/v1/auth/tokens/revoke").token(&bob.token).json(&body).response().ok();
            opened.join().unwrap()
        });
        let changed = Instant::now();
        match opened {
            Ok(mut socket) => {
                let reason = "the session or API token has ended".to_owned();
                assert_eq!(socket.closed(), (1008, reason));
                assert!(changed.elapsed() < Duration::from_secs(2), "{:?}", changed.elapsed());
            }
            Err(status) => assert_eq!(status, 401),
        }
    }
}

/// A client waits for the server to end the connection (RFC 6455, section 7.1.1).
fn a_connection_ends_at_once_after_its_close_frames(database: &Database) {
    let server = database.serve();
    let bob = server.new_identity();
    let (id, _) = register(&server, &bob);
    let mut socket = Socket::open(&server, &bob, &id);
    assert_eq!(socket.close().0, 0, "the close frame had no status");
    assert!(socket.time_to_end() < AT_ONCE);

    let mut socket = Socket::open(&server, &bob, &id);
    let pause = json!({"webhook_id": id, "paused": true});
    server.act(&bob, "/v1/webhooks/update", &pause).ok();
    assert_eq!(socket.closed().0, 1008);
    assert!(socket.time_to_end() < AT_ONCE);
}

fn connections_are_refused_with_problem_documents(database: &Database) {
    let server = database.serve();
    let (bob, carol) = (server.new_identity(), server.new_identity());
    let (id, _) = register(&server, &bob);
    let path = format!("/v1/webhooks/relay?webhook_id={id}");
    server.request("GET", &path).by(&bob).response().refused(426, "UPGRADE_REQUIRED");
    let handshake = |query: &str, token: &str, key: &str| {
        let request = format!(
            "GET /v1/webhooks/relay{query} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n\
             Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: Bearer {token}\r\n\
             X-DID-API-Key: {key}\r\n\r\n"
        );
        let response = exchange(server.url(), request);
        let body = response.split("\r\n\r\n").nth(1).unwrap_or_default();
        let problem: Value = serde_json::from_str(body).unwrap_or_default();
        (status_of(&response), text(&problem, "code"), problem["field"].clone())
    };
    let query = format!("?webhook_id={id}");
    let field = json!("webhook_id");
    let is = |status: u16, code: &str, field: &Value| (status, code.to_owned(), field.clone());
    assert_eq!(handshake(&query, "st_x", &bob.key), is(401, "UNAUTHORIZED", &Value::Null));
    assert_eq!(handshake("", &bob.token, &bob.key), is(400, "MISSING_FIELD", &field));
    let foreign = handshake(&query, &carol.token, &carol.key);
    assert_eq!((foreign.0, &*foreign.1), (404, "WEBHOOK_NOT_FOUND"));
    let other = text(&server.register(&bob, "http://127.0.0.1:65000/"), "webhook_id");
    let with_url = handshake(&format!("?webhook_id={other}"), &bob.token, &bob.key);
    assert_eq!(with_url, is(400, "INVALID_FIELD", &field));
    let pause = |paused: bool| {
        let body = json!({"webhook_id": id, "paused": paused});
        server.act(&bob, "/v1/webhooks/update", &body).ok();
    };
    pause(true);
    assert_eq!(handshake(&query, &bob.token, &bob.key), is(400, "INVALID_FIELD", &field));
    pause(false);
    let sockets: Vec<_> = (0..4).map(|_| Socket::open(&server, &bob, &id)).collect();
    assert_eq!(handshake(&query, &bob.token, &bob.key), is(403, "QUOTA_EXCEEDED", &Value::Null));
    let listed = server.act(&bob, "/v1/webhooks/list", &json!({})).ok();
    assert_eq!(listed["webhooks"][0]["connected"], 4);
    let listed = database.operate_lines(&["webhook", "list", "--key", &bob.key]);
    let relay = listed.iter().find(|webhook| webhook["url"] == "relay:").unwrap();
    assert_eq!(relay["connected"], 4);
    drop(sockets);
}

fn an_account_with_more_connections_yields_on_a_full_node(database: &Database) {
    let server = database.serve_with(&["--max-relays", "2"]);
    let (busy, other) = (server.new_identity(), server.new_identity());
    let ids = [(); 2].map(|()| register(&server, &busy).0);
    let mut sockets = ids.each_ref().map(|id| Socket::open(&server, &busy, id));
    send(&server, &other, &busy);
    // A delivery shows that the server counts the connection.
    for socket in &mut sockets {
        socket.accept();
    }
    let further = Socket::try_open(&server, &busy.token, Some(&busy.key), &ids[0]);
    assert_eq!(further.err(), Some(503));
    let (id, _) = register(&server, &other);
    let mut socket = Socket::open(&server, &other, &id);
    let sent = send(&server, &busy, &other);
    assert_eq!(socket.accept().id(), sent);
    eventually("one connection has yielded", Duration::from_secs(5), || {
        let listed = server.manage(&busy, &json!({"action": "list"})).ok();
        let webhooks = listed["webhooks"].as_array().unwrap();
        (webhooks.iter().filter(|it| it["connected"] == 1).count() == 1).then_some(())
    });
}

#[test]
fn a_faulty_handshake_is_refused_and_is_no_connection() {
    let server = Server::shared();
    let bob = server.new_identity();
    let (id, _) = register(&server, &bob);
    let handshake = |headers: &str| {
        let request = format!(
            "GET /v1/webhooks/relay?webhook_id={id} HTTP/1.1\r\nHost: x\r\n{headers}\
             Authorization: Bearer {}\r\nX-DID-API-Key: {}\r\n\r\n",
            bob.token, bob.key
        );
        let response = exchange(server.url(), request);
        let (head, body) = response.split_once("\r\n\r\n").unwrap_or_default();
        let problem: Value = serde_json::from_str(body).unwrap_or_default();
        assert_eq!(problem["status"], status_of(&response), "{response}");
        let has_version = head.to_ascii_lowercase().contains("sec-websocket-version: 13");
        (has_version, text(&problem, "code"), text(&problem, "detail"), problem["field"].clone())
    };
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n";
    let key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let (has_version, code, detail, _) = handshake("");
    assert_eq!((has_version, &*code), (true, "UPGRADE_REQUIRED"), "{detail}");
    assert!(!detail.contains("version"), "{detail}");
    for version in ["", "Sec-WebSocket-Version: 8\r\n", "Sec-WebSocket-Version: 14\r\n"] {
        let (has_version, code, detail, _) = handshake(&format!("{upgrade}{version}{key}"));
        assert_eq!((has_version, &*code), (true, "UPGRADE_REQUIRED"), "{version} {detail}");
        assert!(detail.contains("Sec-WebSocket-Version: 13"), "{detail}");
    }
    let sixteen = "dGhlIHNhbXBsZSBub25jZQ";
    for key in [None, Some(""), Some("c2hvcnQ="), Some(sixteen), Some("!!!!!!!!!!!!!!!!!!!!!!==")] {
        let key = key.map_or_else(String::new, |key| format!("Sec-WebSocket-Key: {key}\r\n"));
        let headers = format!("{upgrade}Sec-WebSocket-Version: 13\r\n{key}");
        let (has_version, code, detail, field) = handshake(&headers);
        assert_eq!((has_version, &*code), (false, "INVALID_HTTP"), "{key} {detail}");
        assert_eq!(field, "Sec-WebSocket-Key", "{detail}");
    }
    assert_eq!(server.only_webhook(&bob)["connected"], 0);
    let sockets: Vec<_> = (0..4).map(|_| Socket::open(&server, &bob, &id)).collect();
    assert_eq!(server.only_webhook(&bob)["connected"], 4);
    drop(sockets);
}

fn a_webhook_can_become_a_relay_and_back(database: &Database) {
    let (server, receiver) = (database.serve(), Receiver::start());
    let (alice, bob) = database.busy_pair(&server);
    let (id, _) = register(&server, &bob);
    let waiting = send(&server, &alice, &bob);
    let update = |url: &str| {
        let body = json!({"webhook_id": id, "url": url});
        server.act(&bob, "/v1/webhooks/update", &body).ok()
    };
    assert_eq!(update(&receiver.url)["connected"], Value::Null);
    let request = receiver.await_requests_within(1, Duration::from_secs(20)).remove(0);
    assert_eq!(request.id(), waiting);
    assert_eq!(update("relay:")["connected"], 0);
    let sent = send(&server, &alice, &bob);
    let mut socket = Socket::open(&server, &bob, &id);
    assert_eq!(socket.accept().id(), sent);
}

fn the_connections_of_a_killed_node_soon_count_no_more(database: &Database) {
    let server = database.serve();
    let (alice, bob) = database.busy_pair(&server);
    let (id, _) = register(&server, &bob);
    let mut sockets: Vec<_> = (0..4).map(|_| Socket::open(&server, &bob, &id)).collect();
    let sent = send(&server, &alice, &bob);
    let pause = Duration::from_millis(300);
    assert!(sockets.iter_mut().any(|socket| !socket.is_silent_for(pause)), "one gets the delivery");
    server.kill();
    let server: Server = database.serve();
    eventually("the connections count no more", Duration::from_secs(10), || {
        (server.only_webhook(&bob)["connected"] == 0).then_some(())
    });
    let mut socket = Socket::open(&server, &bob, &id);
    assert_eq!(socket.accept().id(), sent);
}

fn a_node_that_was_taken_for_dead_closes_its_connections(database: &Database) {
    let server = database.serve();
    let bob = server.new_identity();
    let (id, _) = register(&server, &bob);
    let mut socket = Socket::open(&server, &bob, &id);
    database.by_hand("DELETE FROM relay_connections; DELETE FROM relay_nodes");
    let (code, reason) = socket.closed();
    assert_eq!(
        (code, reason.as_str()),
        (1001, "the server was silent for too long; connect again")
    );
    let _again = Socket::open(&server, &bob, &id);
    assert_eq!(server.only_webhook(&bob)["connected"], 1);
    server.stop();
}

fn a_receiver_gets_a_bounded_number_of_unanswered_deliveries(database: &Database) {
    let server = database.serve();
    let (alice, bob) = database.busy_pair(&server);
    let (id, _) = register(&server, &bob);
    let mut socket = Socket::open(&server, &bob, &id);
    send(&server, &alice, &bob);
    socket.accept();
    let sent: Vec<_> = (0..40).map(|_| send(&server, &alice, &bob)).collect();
    let taken: Vec<_> = (0..32).map(|_| socket.next().unwrap().0).collect();
    assert!(socket.is_silent_for(Duration::from_millis(500)), "32 deliveries are unanswered");
    for delivery in &taken {
        socket.answer(delivery, 204);
    }
    for _ in 32..sent.len() {
        socket.accept();
    }
    socket.send("no answer");
    assert_eq!(socket.closed().0, 1007);
}

fn an_answer_may_be_long_and_in_fragments(database: &Database) {
    let server = database.serve();
    let (alice, bob) = database.busy_pair(&server);
    let (id, _) = register(&server, &bob);
    let mut socket = Socket::open(&server, &bob, &id);
    let answer = |delivery: &str, length: usize| {
        json!({"delivery": delivery, "status": 200, "body": "x".repeat(length)}).to_string()
    };
    for length in [20_000, 65_000] {
        let sent = send(&server, &alice, &bob);
        let delivery = socket.next().unwrap().0;
        socket.send(&answer(&delivery, length));
        await_success(&server, &bob, &id, &sent);
        let sent = send(&server, &alice, &bob);
        let delivery = socket.next().unwrap().0;
        socket.send_in_fragments(&answer(&delivery, length));
        await_success(&server, &bob, &id, &sent);
    }
    send(&server, &alice, &bob);
    let delivery = socket.next().unwrap().0;
    socket.send_in_fragments(&answer(&delivery, 70_000));
    assert_eq!(socket.closed().0, 1009);
}

fn await_success(client: &Client, identity: &Identity, webhook: &str, envelope: &str) {
    eventually("the delivery succeeds", SOON, || {
        let attempts = attempts(client, identity, webhook);
        let newest = attempts.iter().find(|attempt| attempt["envelope_id"] == envelope)?;
        (newest["outcome"] == "succeeded").then_some(())
    });
}

/// Less than the two seconds for which the server waits for a client that does not close its side.
const AT_ONCE: Duration = Duration::from_millis(1_500);
