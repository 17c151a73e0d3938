//! `sealpost listen`: a receiver on a developer's machine.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpListener,
    process::Stdio,
    thread,
    time::Duration,
};

use serde_json::Value;

use crate::support::{
    Client, Database, Listener, PUBLIC_KEY, Reaction, Receiver, Signed, binary, exchange,
    private_file, run, status_of, text,
};

const SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const OTHER: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

#[test]
fn a_notice_of_a_real_server_is_verified_printed_and_forwarded_unchanged() {
    let database = Database::embedded();
    let server = database.serve();
    let (client, application, secret) = (server.client(), Receiver::start(), private_file(""));
    let listener = Listener::start(
        "",
        &["--forward-to", &application.url, "--secret-file", secret.path().to_str().unwrap()],
    );
    let (alice, bob) = (client.newcomer(), client.newcomer());
    let registered = text(&client.register(&bob, &listener.url), "secret");
    // The secret is known only now, while it runs.
    fs::write(secret.path(), format!("{OTHER}\n{registered}\n")).unwrap();
    let sent = client.send(&alice, &bob.key, "x").ok();

    let notice = application.await_notices(1).remove(0);
    notice.verify(&registered);
    assert_eq!(notice.path, "/hook");
    assert_eq!(notice.header("content-type"), "application/json");
    let printed = listener.next();
    assert_eq!((&printed["valid"], &printed["answered"]), (&true.into(), &204.into()));
    assert_eq!(printed["notice"], notice.json());
    assert_eq!(printed["notice"]["envelope_id"], sent["envelope_id"]);
    assert!(text(&printed["signatures"][0], "made_with").starts_with("secret 2 of "));
    assert!(printed["forwarded_ms"].is_u64());
    assert!(!printed.to_string().contains("whsec_"));
}

#[test]
fn the_application_decides_what_the_sender_is_answered() {
    let application = Receiver::reacting(|nth| Reaction::Answer(if nth == 0 { 503 } else { 200 }));
    let listener = Listener::start(SECRET, &["--forward-to", &application.url]);
    let notice = Signed::with(&[SECRET], 0);
    for status in [503, 200] {
        assert_eq!(notice.post(&listener.url).status, status);
        assert_eq!(listener.next()["answered"], status);
    }
}

#[test]
fn the_answers_body_and_retry_after_come_back_within_bounds() {
    let url = answering_once(format!(
        "HTTP/1.1 429 Later\r\nRetry-After: 7\r\nSet-Cookie: no\r\nContent-Length: 50000\r\n\r\n{}",
        "x".repeat(50_000)
    ));
    let listener = Listener::start(SECRET, &["--forward-to", &url]);
    let answer = Signed::with(&[SECRET], 0).post(&listener.url);
    assert_eq!((answer.status, answer.header("retry-after")), (429, Some("7")));
    assert_eq!((answer.body.len(), answer.header("set-cookie")), (16_384, None));
}

#[test]
fn what_is_not_to_be_believed_is_answered_and_not_forwarded() {
    let application = Receiver::start();
    let listener = Listener::start(SECRET, &["--forward-to", &application.url]);
    let sound = Signed::with(&[SECRET], 0);
    let mut refused = sound.flipped().to_vec();
    refused.extend([
        Signed::with(&[OTHER], 0),
        Signed::with(&[SECRET], 1000),
        Signed::asymmetric(0),
    ]);
    for notice in refused {
        let answer = notice.post(&listener.url);
        assert_eq!(answer.status, 401, "{notice:?}");
        assert!(answer.body.starts_with(b"sealpost listen: "));
        let printed = listener.next();
        assert_eq!((&printed["answered"], &printed["notice"]), (&401.into(), &Value::Null));
    }
    let unreadable = Signed { timestamp: "noon".to_owned(), ..sound.clone() };
    assert_eq!(unreadable.post(&listener.url).status, 400);
    assert_eq!(listener.next()["fault"], "timestamp_unreadable");
    let bare = Client::new(&listener.url).post("").body("application/json", b"{}").answer();
    assert_eq!((bare.status, &listener.next()["fault"]), (400, &"header_missing".into()));

    assert_eq!(sound.post(&listener.url).status, 204);
    assert_eq!(application.notices().len(), 1);
}

#[test]
fn every_key_that_was_given_counts() {
    let key = format!("--public-key={PUBLIC_KEY}");
    let listener = Listener::start(&format!("{OTHER},{SECRET}"), &[&key]);
    for notice in [Signed::with(&[SECRET], 0), Signed::with(&[OTHER], 0), Signed::asymmetric(0)] {
        assert_eq!(notice.post(&listener.url).status, 204, "{notice:?}");
        let printed = listener.next();
        assert!(printed["signatures"][0]["made_with"].is_string(), "{printed}");
    }
}

#[test]
fn an_application_that_is_away_is_a_bad_gateway() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let listener = Listener::start(SECRET, &["--forward-to", &format!("http://{free}/")]);
    assert_eq!(Signed::with(&[SECRET], 0).post(&listener.url).status, 502);
    assert!(text(&listener.next(), "forward_fault").contains("is the application up?"));
    let no_http = answering_once("SSH-2.0-nonsense\r\n".to_owned());
    let listener = Listener::start(SECRET, &["--forward-to", &no_http]);
    assert_eq!(Signed::with(&[SECRET], 0).post(&listener.url).status, 502);
}

#[test]
fn an_application_that_takes_too_long_is_a_gateway_timeout() {
    let application = Receiver::reacting(|_| Reaction::Ignore);
    let arguments = ["--forward-timeout", "100ms", "--forward-to", &application.url];
    let listener = Listener::start(SECRET, &arguments);
    assert_eq!(Signed::with(&[SECRET], 0).post(&listener.url).status, 504);
    assert!(text(&listener.next(), "forward_fault").contains("in time"));
}

/// It takes as long as a body may, which is 10 s.
#[test]
fn a_body_that_does_not_arrive_is_not_waited_for() {
    let listener = Listener::start(SECRET, &[]);
    let url = listener.url.trim_end_matches('/');
    let answer = exchange(url, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf");
    assert_eq!(status_of(&answer), 408, "{answer}");
}

#[test]
fn only_a_bounded_post_is_taken() {
    let listener = Listener::start(SECRET, &[]);
    let client = Client::new(&listener.url);
    let got = client.request("GET", "").answer();
    assert_eq!((got.status, got.header("allow")), (405, Some("POST")));
    let long = vec![b'x'; 1_048_577];
    assert_eq!(client.post("").body("application/json", &long).answer().status, 413);
}

#[test]
fn it_finishes_what_is_under_way_and_ends_in_order() {
    let application = Receiver::reacting(|_| Reaction::Hang);
    let mut listener = Listener::start(SECRET, &["--forward-to", &application.url]);
    let url = listener.url.clone();
    let sender = thread::spawn(move || Signed::with(&[SECRET], 0).post(&url).status);
    application.await_notices(1);
    listener.terminate();
    application.go_on();
    assert_eq!(sender.join().unwrap(), 204);
    assert_eq!(listener.ended(Duration::from_secs(20)), Some(0));
}

#[test]
fn people_get_a_line_with_details_and_colours_only_on_a_terminal() {
    let mut command = binary(&["listen", "--listen", "127.0.0.1:0"]);
    command.env("SEALPOST_WEBHOOK_SECRET", SECRET).stdout(Stdio::piped());
    let mut listener = command.spawn().unwrap();
    let mut stdout = listener.stdout.take().unwrap();
    let greeting = read_until(&mut stdout, "answers\n");
    assert!(greeting.starts_with("sealpost listening on http://127.0.0.1:"), "{greeting}");
    assert!(greeting.contains("--dev"), "{greeting}");
    let url = greeting.split([' ', ';']).find(|word| word.starts_with("http://")).unwrap();
    let sound = Signed::with(&[SECRET], 0);
    assert_eq!(sound.post(url).status, 204);
    let shown = read_until(&mut stdout, "}\n");
    assert!(
        shown.contains("✓") && shown.contains("envelope.received env_01h455vb4pex5vsknk084sn02q")
    );
    // What could deceive whoever reads it is escaped.
    let deceiving = "{\"event\":\"\u{202e}\\u001b[2J\"}";
    assert_eq!(sound.saying(deceiving, &[SECRET]).post(url).status, 204);
    let shown = shown + &read_until(&mut stdout, "}\n");
    assert!(shown.contains("\\u{202e}\\u{1b}[2J"), "{shown}");
    assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}'), "{shown}");
    listener.kill().unwrap();
    listener.wait().unwrap();
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let circle = format!("http://localhost:{}/x", taken.port());
    let listen = format!("--listen={taken}");
    for (arguments, secret, words) in [
        (vec!["--listen=127.0.0.1:0"], "", "nothing to verify with"),
        (vec!["--listen=127.0.0.1:0"], "whsec_short", "is no webhook secret"),
        (vec!["--listen=0.0.0.0:0"], SECRET, "loopback"),
        (vec!["--listen=127.0.0.1:0", "--forward-to=https://a.example/"], SECRET, "http URL"),
        (vec![&listen, "--forward-to", &circle], SECRET, "the address that this listens on"),
    ] {
        let mut command = binary(&["listen"]);
        command.args(&arguments).env("SEALPOST_WEBHOOK_SECRET", secret);
        let ended = run(command);
        assert_eq!((ended.status, ended.stdout.as_str()), (Some(2), ""), "{arguments:?}");
        assert!(ended.stderr.contains(words), "{}", ended.stderr);
        assert!(!ended.stderr.contains("whsec_short"));
    }
}

/// A server that gives one connection these bytes.
fn answering_once(bytes: String) -> String {
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    thread::spawn(move || {
        let (mut connection, _) = socket.accept().unwrap();
        let mut request = [0; 4096];
        assert!(connection.read(&mut request).unwrap() > 0);
        // The other side may have read enough.
        drop(connection.write_all(bytes.as_bytes()));
    });
    format!("http://{address}/")
}

fn read_until(stdout: &mut impl std::io::Read, end: &str) -> String {
    let (mut said, mut byte) = (Vec::new(), [0]);
    while !said.ends_with(end.as_bytes()) {
        stdout.read_exact(&mut byte).unwrap();
        said.push(byte[0]);
    }
    String::from_utf8(said).unwrap()
}
