//! What counts, and against which limit.

use std::thread;

use serde_json::{Value, json};

use crate::support::{Answer, Client, Database, Identity, Receiver, on_both, within_one_minute};

on_both!(
    a_refused_body_counts_as_a_request_but_not_as_a_message,
    only_stored_envelopes_count_against_the_month,
    the_twenty_first_request_of_a_minute_is_refused,
    who_never_was_admitted_uses_nothing,
);

fn the_twenty_first_request_of_a_minute_is_refused(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (answers, sibling) = within_one_minute(|| {
        let alice = client.newcomer();
        let sibling = client.sibling(&alice);
        let answers: Vec<Answer> = (0..25).map(|_| client.status(&alice)).collect();
        (answers, client.status(&sibling))
    });
    for (number, answer) in (1..).zip(&answers[..20]) {
        let minute = &answer.ok()["usage"]["minute"];
        assert_eq!((&minute["used"], &minute["remaining"]), (&json!(number), &json!(20 - number)));
    }
    for answer in &answers[20..] {
        let problem = answer.refused(429, "RATE_LIMIT_EXCEEDED");
        assert!(problem["detail"].as_str().unwrap().contains("20"), "{problem}");
        let wait: u32 = answer.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=60).contains(&wait), "{wait}");
    }
    assert_eq!(sibling.ok()["usage"]["minute"]["used"], 1, "limits are those of a key");
}

fn a_refused_body_counts_as_a_request_but_not_as_a_message(database: &Database) {
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
    let (answers, status) = within_one_minute(|| {
        let alice = client.newcomer();
        let ask = |(path, body): &(&str, &[u8])| {
            client.post(path).by(&alice).body("application/json", body).answer()
        };
        (faulty.iter().map(ask).collect::<Vec<_>>(), client.status(&alice).ok())
    });
    assert!(answers.iter().all(|answer| matches!(answer.status, 400 | 404)));
    assert_eq!(used(&status), [9, 9, 0]);
}

fn only_stored_envelopes_count_against_the_month(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let receiver = Receiver::start();
    // A burst over ten messages a second, again with another sender where the machine is too slow for it.
    for _ in 0..10 {
        let (bob, sent, status) = within_one_minute(|| {
            let (alice, bob) = (client.newcomer(), client.newcomer());
            client.register(&bob, &receiver.url);
            client.send(&alice, &bob.key, "nothing is looked up any more").ok();
            let sent = burst(client, &alice, &bob);
            (bob, sent, client.status(&alice).ok())
        });
        let (stored, refused): (Vec<_>, Vec<_>) = sent.iter().partition(|sent| sent.status == 200);
        for answer in &refused {
            answer.refused(429, "RATE_LIMIT_EXCEEDED");
            assert_eq!(answer.header("retry-after"), Some("1"));
        }
        let stored = u64::try_from(stored.len()).unwrap() + 1;
        assert_eq!(used(&status), [stored + 1, stored + 1, stored], "of {} sent", sent.len() + 1);
        assert_eq!(client.status(&bob).ok()["usage"]["month"]["used"], 0);
        if !refused.is_empty() {
            return;
        }
    }
    panic!("ten messages a second were never reached");
}

fn who_never_was_admitted_uses_nothing(database: &Database) {
    let server = database.serve();
    let client = server.client();
    let (alice, bob) = (client.newcomer(), client.newcomer());
    let body = json!({"to": bob.key, "message": "x"});
    let post = || client.post("/v1/channel/send").json(&body);
    for _ in 0..3 {
        post().key(&alice.key).answer().refused(401, "UNAUTHORIZED");
        post().key(&alice.key).token(&bob.token).answer().refused(401, "UNAUTHORIZED");
        post().token(&alice.token).answer().refused(401, "UNAUTHORIZED");
        client
            .request("GET", "/v1/channel/send")
            .by(&alice)
            .answer()
            .refused(405, "METHOD_NOT_ALLOWED");
        let typeless = client.post("/v1/channel/send").by(&alice).body("text/plain", b"x");
        typeless.answer().refused(415, "UNSUPPORTED_MEDIA_TYPE");
    }
    assert_eq!(client.status(&alice).ok()["usage"]["day"]["used"], 1);
}

/// Eighteen messages at once.
fn burst(client: &Client, from: &Identity, to: &Identity) -> Vec<Answer> {
    let send = || (0..6).map(|_| client.send(from, &to.key, "burst")).collect::<Vec<_>>();
    thread::scope(|scope| {
        let threads = [(); 3].map(|()| scope.spawn(send));
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

/// Of minute, day and month.
fn used(status: &Value) -> [u64; 3] {
    ["minute", "day", "month"].map(|window| status["usage"][window]["used"].as_u64().unwrap())
}
