//! Tests of counting: the requests and messages that count against each limit.

use serde_json::{Value, json};

use crate::support::{
    Client, Database, Identity, Receiver, Response, Server, at_once, on_both, within_one_minute,
};

on_both!(
    only_stored_envelopes_count_against_the_month,
    the_twenty_first_request_of_a_minute_is_rejected,
);

fn the_twenty_first_request_of_a_minute_is_rejected(database: &Database) {
    let server = database.serve();
    let (responses, sibling) = within_one_minute(|| {
        let alice = server.new_identity();
        let sibling = server.sibling(&alice);
        let responses: Vec<Response> = (0..25).map(|_| server.status(&alice)).collect();
        (responses, server.status(&sibling))
    });
    for (number, response) in (1..).zip(&responses[..20]) {
        let minute = &response.ok()["usage"]["minute"];
        assert_eq!((&minute["used"], &minute["remaining"]), (&json!(number), &json!(20 - number)));
    }
    for response in &responses[20..] {
        let problem = response.refused(429, "RATE_LIMIT_EXCEEDED");
        assert!(problem["detail"].as_str().unwrap().contains("20"), "{problem}");
        response.check_wait();
    }
    assert_eq!(sibling.ok()["usage"]["minute"]["used"], 1, "limits belong to a key");
}

fn only_stored_envelopes_count_against_the_month(database: &Database) {
    let server = database.serve();
    let receiver = Receiver::start();
    let (bob, sent, status) = within_one_minute(|| {
        let (alice, bob) = (server.new_identity(), server.new_identity());
        server.register(&bob, &receiver.url);
        // At two messages a second, the burst exceeds this limit unless it takes nine seconds.
        database.set_enterprise(&alice.key, [100, 100, 100, 2]);
        server.send(&alice, &bob.key, "nothing is looked up any more").ok();
        let sent = burst(&server, &alice, &bob);
        (bob, sent, server.status(&alice).ok())
    });
    let (stored, refused): (Vec<_>, Vec<_>) = sent.iter().partition(|sent| sent.status == 200);
    assert!(!refused.is_empty(), "{} of 18 messages were stored", stored.len());
    for response in &refused {
        response.refused(429, "RATE_LIMIT_EXCEEDED");
        assert_eq!(response.header("retry-after"), Some("1"));
    }
    let stored = u64::try_from(stored.len()).unwrap() + 1;
    assert_eq!(used(&status), [stored + 1, stored + 1, stored], "of {} sent", sent.len() + 1);
    assert_eq!(server.status(&bob).ok()["usage"]["month"]["used"], 0);
}

#[test]
fn requests_that_are_never_admitted_use_no_limits() {
    let server = Server::shared();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let body = json!({"to": bob.key, "message": "x"});
    let post = || server.post("/v1/channel/send").json(&body);
    for _ in 0..3 {
        post().key(&alice.key).response().refused(401, "UNAUTHORIZED");
        post().key(&alice.key).token(&bob.token).response().refused(401, "UNAUTHORIZED");
        post().token(&alice.token).response().refused(401, "UNAUTHORIZED");
        let wrong_method = server.request("GET", "/v1/channel/send").by(&alice);
        wrong_method.response().refused(405, "METHOD_NOT_ALLOWED");
        let typeless = server.post("/v1/channel/send").by(&alice).body("text/plain", b"x");
        typeless.response().refused(415, "UNSUPPORTED_MEDIA_TYPE");
    }
    assert_eq!(server.status(&alice).ok()["usage"]["day"]["used"], 1);
}

/// Sends eighteen messages concurrently.
fn burst(client: &Client, from: &Identity, to: &Identity) -> Vec<Response> {
    let send = |_| [(); 6].map(|()| client.send(from, &to.key, "burst"));
    at_once(3, send).into_iter().flatten().collect()
}

/// Returns the used part of the limits per minute, day and month.
fn used(status: &Value) -> [u64; 3] {
    ["minute", "day", "month"].map(|window| status["usage"][window]["used"].as_u64().unwrap())
}
