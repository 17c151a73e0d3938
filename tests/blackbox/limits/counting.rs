//! Tests of counting: the requests and messages that count against each limit.

use std::thread;

use serde_json::{Value, json};

use crate::support::{Client, Database, Identity, Receiver, Response, on_both, within_one_minute};

on_both!(
    a_rejected_body_counts_as_a_request_but_not_as_a_message,
    only_stored_envelopes_count_against_the_month,
    the_twenty_first_request_of_a_minute_is_rejected,
    requests_that_are_never_admitted_use_no_limits,
);

fn the_twenty_first_request_of_a_minute_is_rejected(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (responses, sibling) = within_one_minute(|| {
        let alice = client.new_identity();
        let sibling = client.sibling(&alice);
        let responses: Vec<Response> = (0..25).map(|_| client.status(&alice)).collect();
        (responses, client.status(&sibling))
    });
    for (number, response) in (1..).zip(&responses[..20]) {
        let minute = &response.ok()["usage"]["minute"];
        assert_eq!((&minute["used"], &minute["remaining"]), (&json!(number), &json!(20 - number)));
    }
    for response in &responses[20..] {
        let problem = response.refused(429, "RATE_LIMIT_EXCEEDED");
        assert!(problem["detail"].as_str().unwrap().contains("20"), "{problem}");
        let wait: u32 = response.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=60).contains(&wait), "{wait}");
    }
    assert_eq!(sibling.ok()["usage"]["minute"]["used"], 1, "limits belong to a key");
}

fn a_rejected_body_counts_as_a_request_but_not_as_a_message(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let faulty: [(&str, &[u8]); 8] = [
        ("/v1/did/status", b"["),
        ("/v1/channel/send", b"["),
        ("/v1/channel/send", b"{}"),
        ("/v1/channel/send", b"{\"to\":\"did:key:x\",\"message\":\"x\"}"),
        ("/v1/channel/send", b"{\"to\":\"nobody\",\"message\":\"x\"}"),
        ("/v1/channel/open", b"{\"envelope_id\":\"env_x\"}"),
        ("/v1/webhooks/register", b"{\"url\":\"x\",\"events\":[\"envelope.received\"]}"),
        ("/v1/webhooks", b"{\"action\":\"burn\"}"),
    ];
    let (responses, status) = within_one_minute(|| {
        let alice = client.new_identity();
        let ask = |(path, body): &(&str, &[u8])| {
            client.post(path).by(&alice).body("application/json", body).response()
        };
        (faulty.iter().map(ask).collect::<Vec<_>>(), client.status(&alice).ok())
    });
    assert!(responses.iter().all(|response| matches!(response.status, 400 | 404)));
    assert_eq!(used(&status), [9, 9, 0]);
}

fn only_stored_envelopes_count_against_the_month(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let receiver = Receiver::start();
    // A burst over ten messages a second, repeated with another sender if the machine is too slow.
    for _ in 0..10 {
        let (bob, sent, status) = within_one_minute(|| {
            let (alice, bob) = (client.new_identity(), client.new_identity());
            client.register(&bob, &receiver.url);
            client.send(&alice, &bob.key, "nothing is looked up any more").ok();
            let sent = burst(client, &alice, &bob);
            (bob, sent, client.status(&alice).ok())
        });
        let (stored, refused): (Vec<_>, Vec<_>) = sent.iter().partition(|sent| sent.status == 200);
        for response in &refused {
            response.refused(429, "RATE_LIMIT_EXCEEDED");
            assert_eq!(response.header("retry-after"), Some("1"));
        }
        let stored = u64::try_from(stored.len()).unwrap() + 1;
        assert_eq!(used(&status), [stored + 1, stored + 1, stored], "of {} sent", sent.len() + 1);
        assert_eq!(client.status(&bob).ok()["usage"]["month"]["used"], 0);
        if !refused.is_empty() {
            return;
        }
    }
    panic!("the limit of ten messages a second was never reached");
}

fn requests_that_are_never_admitted_use_no_limits(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (alice, bob) = (client.new_identity(), client.new_identity());
    let body = json!({"to": bob.key, "message": "x"});
    let post = || client.post("/v1/channel/send").json(&body);
    for _ in 0..3 {
        post().key(&alice.key).response().refused(401, "UNAUTHORIZED");
        post().key(&alice.key).token(&bob.token).response().refused(401, "UNAUTHORIZED");
        post().token(&alice.token).response().refused(401, "UNAUTHORIZED");
        client
            .request("GET", "/v1/channel/send")
            .by(&alice)
            .response()
            .refused(405, "METHOD_NOT_ALLOWED");
        let typeless = client.post("/v1/channel/send").by(&alice).body("text/plain", b"x");
        typeless.response().refused(415, "UNSUPPORTED_MEDIA_TYPE");
    }
    assert_eq!(client.status(&alice).ok()["usage"]["day"]["used"], 1);
}

/// Sends eighteen messages concurrently.
fn burst(client: &Client, from: &Identity, to: &Identity) -> Vec<Response> {
    let send = || (0..6).map(|_| client.send(from, &to.key, "burst")).collect::<Vec<_>>();
    thread::scope(|scope| {
        let threads = [(); 3].map(|()| scope.spawn(send));
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

/// Returns the used part of the limits per minute, day and month.
fn used(status: &Value) -> [u64; 3] {
    ["minute", "day", "month"].map(|window| status["usage"][window]["used"].as_u64().unwrap())
}
