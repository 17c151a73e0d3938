//! Tests of `sealpost listen`, which receives webhook requests on a developer's machine.

use std::{
    fs,
    io::{BufReader, Read as _, Write as _},
    net::TcpListener,
    process::{ChildStdout, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use serde_json::Value;

use crate::support::{
    Client, Database, Listener, PUBLIC_KEY, Reaction, Receiver, SOON, Signed, binary, exchange,
    private_file, run, status_of, text,
};

const SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const FREE: &str = "--listen=127.0.0.1:0";
const OTHER: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

#[test]
fn a_webhook_request_is_verified_printed_and_forwarded_unchanged() {
    let (server, application, secret) =
        (Database::embedded().serve(), Receiver::start(), private_file(""));
    let listener = Listener::start(
        "",
        &["--forward-to", &application.url, "--secret-file", secret.path().to_str().unwrap()],
    );
    let (alice, bob) = (server.new_identity(), server.new_identity());
    let registered = text(&server.register(&bob, &listener.url), "secret");
    // The secret exists only now, while the listener runs.
    fs::write(secret.path(), format!("{OTHER}\n{registered}\n")).unwrap();
    let sent = server.send(&alice, &bob.key, "x").ok();

    let request = application.await_requests(1).remove(0);
    request.verify(&registered);
    assert_eq!(request.path, "/hook");
    assert_eq!(request.header("content-type"), "application/json");
    let printed = listener.next();
    assert_eq!((&printed["valid"], &printed["answered"]), (&true.into(), &204.into()));
    assert_eq!(printed["notice"], request.json());
    assert_eq!(printed["notice"]["envelope_id"], sent["envelope_id"]);
    assert!(text(&printed["signatures"][0], "made_with").starts_with("secret 2 of "));
    assert!(printed["forwarded_ms"].is_u64());
    assert!(!printed.to_string().contains("whsec_"));
}

#[test]
fn the_status_of_the_application_is_returned_to_the_sender() {
    let application = Receiver::reacting(|nth| Reaction::Status(if nth == 0 { 503 } else { 200 }));
    let listener = Listener::start(SECRET, &["--forward-to", &application.url]);
    let request = Signed::with(&[SECRET], 0);
    for status in [503, 200] {
        assert_eq!(request.post(&listener.url).status, status);
        assert_eq!(listener.next()["answered"], status);
    }
}

/// Interim responses of the application, such as those of `writeProcessing` in Node, are not its response.
#[test]
fn the_final_status_of_the_application_is_returned_to_the_sender() {
    for interim in ["100 Continue", "102 Processing", "103 Hints\r\nLink: </a>; rel=preload"] {
        let url = responding_once(format!(
            "HTTP/1.1 {interim}\r\n\r\nHTTP/1.1 422 No\r\nContent-Length: 4\r\n\r\nfine"
        ));
        let listener = Listener::start(SECRET, &["--forward-to", &url]);
        let response = Signed::with(&[SECRET], 0).post(&listener.url);
        assert_eq!((response.status, response.body.as_slice()), (422, &b"fine"[..]), "{interim}");
        assert_eq!(listener.next()["answered"], 422);
    }
}

#[test]
fn the_response_body_and_retry_after_are_returned_within_bounds() {
    let url = responding_once(format!(
        "HTTP/1.1 429 Later\r\nRetry-After: 7\r\nWebhook-Delivery: abort-message\r\n\
         Set-Cookie: no\r\nContent-Length: 50000\r\n\r\n{}",
        "x".repeat(50_000)
    ));
    let listener = Listener::start(SECRET, &["--forward-to", &url]);
    let response = Signed::with(&[SECRET], 0).post(&listener.url);
    assert_eq!((response.status, response.header("retry-after")), (429, Some("7")));
    assert_eq!(response.header("webhook-delivery"), Some("abort-message"));
    assert_eq!((response.body.len(), response.header("set-cookie")), (16_384, None));
}

#[test]
fn an_unverified_request_is_rejected_and_not_forwarded() {
    let application = Receiver::start();
    let listener = Listener::start(SECRET, &["--forward-to", &application.url]);
    let sound = Signed::with(&[SECRET], 0);
    let mut refused = sound.flipped().to_vec();
    refused.extend([
        Signed::with(&[OTHER], 0),
        Signed::with(&[SECRET], 1000),
        Signed::asymmetric(0),
    ]);
    for request in refused {
        let response = request.post(&listener.url);
        assert_eq!(response.status, 401, "{request:?}");
        assert!(response.body.starts_with(b"sealpost receiver: "));
        let printed = listener.next();
        assert_eq!((&printed["answered"], &printed["notice"]), (&401.into(), &Value::Null));
    }
    let unreadable = Signed { timestamp: "noon".to_owned(), ..sound.clone() };
    assert_eq!(unreadable.post(&listener.url).status, 400);
    assert_eq!(listener.next()["fault"], "timestamp_unreadable");
    let bare = Client::new(&listener.url).post("").body("application/json", b"{}").response();
    assert_eq!((bare.status, &listener.next()["fault"]), (400, &"header_missing".into()));

    assert_eq!(sound.post(&listener.url).status, 204);
    assert_eq!(application.requests().len(), 1);
}

#[test]
fn a_request_may_be_signed_with_any_of_the_given_keys() {
    let key = format!("--public-key={PUBLIC_KEY}");
    let listener = Listener::start(&format!("{OTHER},{SECRET}"), &[&key]);
    for request in [Signed::with(&[SECRET], 0), Signed::with(&[OTHER], 0), Signed::asymmetric(0)] {
        assert_eq!(request.post(&listener.url).status, 204, "{request:?}");
        let printed = listener.next();
        assert!(printed["signatures"][0]["made_with"].is_string(), "{printed}");
    }
}

#[test]
fn an_unreachable_application_is_a_bad_gateway() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let listener = Listener::start(SECRET, &["--forward-to", &format!("http://{free}/")]);
    assert_eq!(Signed::with(&[SECRET], 0).post(&listener.url).status, 502);
    assert!(text(&listener.next(), "forward_fault").contains("is the application up?"));
    let no_http = responding_once("SSH-2.0-nonsense\r\n".to_owned());
    let listener = Listener::start(SECRET, &["--forward-to", &no_http]);
    assert_eq!(Signed::with(&[SECRET], 0).post(&listener.url).status, 502);
}

#[test]
fn a_slow_application_is_a_gateway_timeout() {
    let application = Receiver::reacting(|_| Reaction::Ignore);
    let arguments = ["--forward-timeout", "100ms", "--forward-to", &application.url];
    let listener = Listener::start(SECRET, &arguments);
    assert_eq!(Signed::with(&[SECRET], 0).post(&listener.url).status, 504);
    assert!(text(&listener.next(), "forward_fault").contains("in time"));
}

/// This test takes 10 s, the time limit of a request body.
#[test]
fn an_incomplete_body_times_out() {
    let listener = Listener::start(SECRET, &[]);
    let url = listener.url.trim_end_matches('/');
    let response = exchange(url, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf");
    assert_eq!(status_of(&response), 408, "{response}");
}

#[test]
fn only_a_bounded_post_is_accepted() {
    let listener = Listener::start(SECRET, &[]);
    let client = Client::new(&listener.url);
    let got = client.get("");
    assert_eq!((got.status, got.header("allow")), (405, Some("POST")));
    let long = vec![b'x'; 1_048_577];
    assert_eq!(client.post("").body("application/json", &long).response().status, 413);
}

#[test]
fn requests_in_flight_finish_before_the_listener_stops() {
    let application = Receiver::reacting(|_| Reaction::Hang);
    let mut listener = Listener::start(SECRET, &["--forward-to", &application.url]);
    assert_eq!(listener.listening_sockets().len(), 1);
    let url = listener.url.clone();
    let sender = thread::spawn(move || Signed::with(&[SECRET], 0).post(&url).status);
    application.await_requests(1);
    listener.terminate();
    application.go_on();
    assert_eq!(sender.join().unwrap(), 204);
    assert_eq!(listener.ended(Duration::from_secs(20)), Some(0));
}

#[test]
fn text_output_has_details_and_colours_only_on_a_terminal() {
    let mut command = binary(&["listen", "--listen", "127.0.0.1:0"]);
    command.env("SEALPOST_WEBHOOK_SECRET", SECRET).stdout(Stdio::piped());
    let mut listener = command.spawn().unwrap();
    let stdout = bytes_of(listener.stdout.take().unwrap());
    let greeting = read_until(&stdout, "response\n");
    assert!(greeting.starts_with("sealpost listening on http://127.0.0.1:"), "{greeting}");
    assert!(greeting.contains("--dev"), "{greeting}");
    let url = greeting.split([' ', ';']).find(|word| word.starts_with("http://")).unwrap();
    let sound = Signed::with(&[SECRET], 0);
    assert_eq!(sound.post(url).status, 204);
    let shown = read_until(&stdout, "}\n");
    assert!(
        shown.contains("✓") && shown.contains("envelope.received env_01h455vb4pex5vsknk084sn02q")
    );
    // Characters that could deceive a reader are escaped.
    let deceiving = "{\"event\":\"\u{202e}\\u001b[2J\"}";
    assert_eq!(sound.saying(deceiving, &[SECRET]).post(url).status, 204);
    let shown = shown + &read_until(&stdout, "}\n");
    assert!(shown.contains("\\u{202e}\\u{1b}[2J"), "{shown}");
    assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}'), "{shown}");
    listener.kill().unwrap();
    listener.wait().unwrap();
}

#[test]
fn invalid_settings_are_rejected() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let circle = format!("http://localhost:{}/x", taken.port());
    let listen = format!("--listen={taken}");
    let config = tempfile::tempdir().unwrap();
    let (elsewhere, own) =
        ("is no URL of this machine", "the address that this command listens on");
    for (arguments, secret, words) in [
        (vec![FREE], "", "no key is given"),
        (vec![FREE], "whsec_short", "is not a webhook secret"),
        (vec!["--listen=0.0.0.0:0"], SECRET, "loopback"),
        (vec![FREE, "--forward-to=https://a.example/"], SECRET, "http URL"),
        (vec![FREE, "--forward-to=http://example.org/"], SECRET, elsewhere),
        (
            vec![FREE, "--forward-to=http://10.0.0.1:3000/"],
            SECRET,
            "http://10.0.0.1:3000/ is no URL",
        ),
        (vec![FREE, "--forward-to=http://[2001:db8::1]/"], SECRET, elsewhere),
        (vec![FREE, "--forward-to=http://127.0.0.1.example.org/"], SECRET, elsewhere),
        // No profile exists, so that nothing can be registered before the check.
        (vec!["--relay", "--forward-to=http://example.org/"], SECRET, elsewhere),
        (vec![&listen, "--forward-to", &circle], SECRET, own),
    ] {
        let mut command = binary(&["listen"]);
        command.args(&arguments).env("SEALPOST_WEBHOOK_SECRET", secret);
        command.env("XDG_CONFIG_HOME", config.path());
        let ended = run(command);
        assert_eq!((ended.status, ended.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(ended.stderr.contains(words), "{}", ended.stderr);
        assert!(!ended.stderr.contains("whsec_short"));
    }
}

/// Starts a server that accepts one connection and responds with these bytes. Returns its URL.
fn responding_once(bytes: String) -> String {
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    thread::spawn(move || {
        let (mut connection, _) = socket.accept().unwrap();
        let mut request = [0; 4096];
        assert!(connection.read(&mut request).unwrap() > 0);
        // The peer may have read enough.
        drop(connection.write_all(bytes.as_bytes()));
    });
    format!("http://{address}/")
}

/// Returns a channel with the bytes of standard output as they arrive.
fn bytes_of(stdout: ChildStdout) -> mpsc::Receiver<u8> {
    let (sender, bytes) = mpsc::channel();
    thread::spawn(move || {
        BufReader::new(stdout).bytes().flatten().try_for_each(|byte| sender.send(byte))
    });
    bytes
}

fn read_until(stdout: &mpsc::Receiver<u8>, end: &str) -> String {
    let mut reported = Vec::new();
    while !reported.ends_with(end.as_bytes()) {
        reported.push(stdout.recv_timeout(SOON).expect(end));
    }
    String::from_utf8(reported).unwrap()
}
