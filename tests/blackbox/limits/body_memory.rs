//! Tests of the memory limit of request bodies: large bodies need a session and share one memory budget.

use std::{io::Write as _, net::TcpStream};

use sealpost_wallet::SessionToken;

use crate::support::{
    Database, Identity, Response, Server, connect, exchange, on_embedded, response_on, status_of,
    wait_until,
};

on_embedded!(a_large_body_without_a_session_is_refused_before_it_arrives);

#[test]
fn unfinished_large_bodies_hold_memory_until_they_are_gone() {
    let server = serve(&[]);
    let alice = server.new_identity();
    let (begin, ask) =
        (|framing| begin(&server, &alice, framing), |length| ask(&server, &alice, length));
    for framing in [Framing::Chunked, Framing::Declared] {
        let (broken_off, slow) = (begin(framing), begin(framing));
        holds(&server, 2 * PIECE);
        ask(LARGE).refused(503, "SERVICE_UNAVAILABLE");
        let response = response_on(&mut begin(framing));
        assert_eq!(
            status_of(&response),
            503,
            "the response must come before the end of the body: {response}"
        );
        assert!(response.to_ascii_lowercase().contains("retry-after: 1"), "{response}");
        ask(SMALL).refused(401, "UNAUTHORIZED");
        server.new_identity();
        drop(broken_off);
        holds(&server, PIECE);
        ask(LARGE).refused(401, "UNAUTHORIZED");
        let slower = begin(framing);
        holds(&server, 2 * PIECE);
        ask(LARGE).refused(503, "SERVICE_UNAVAILABLE");
        for mut socket in [slow, slower] {
            socket.write_all(framing.end().as_bytes()).unwrap();
            assert_eq!(status_of(&response_on(&mut socket)), 200);
        }
        holds(&server, 0);
        ask(LARGE).refused(401, "UNAUTHORIZED");
    }
}

#[test]
fn an_account_cannot_take_the_body_memory_of_others() {
    let server = serve(&[&format!("--body-memory-per-account={BODY_MAX}")]);
    let [alice, bob] = [(); 2].map(|()| server.new_identity());
    let other_key = server.sibling(&alice);
    let unfinished = begin(&server, &alice, Framing::Declared);
    holds(&server, PIECE);
    for of_account in [&alice, &other_key] {
        ask(&server, of_account, LARGE).refused(503, "SERVICE_UNAVAILABLE");
    }
    ask(&server, &bob, LARGE).refused(401, "UNAUTHORIZED");
    drop(unfinished);
    holds(&server, 0);
    ask(&server, &alice, LARGE).refused(401, "UNAUTHORIZED");
}

fn a_large_body_without_a_session_is_refused_before_it_arrives(database: &Database) {
    let server = database.serve_with(&["--body-timeout=50s"]);
    let unknown = SessionToken::generate().unwrap();
    let required = ["/v1/channel/send", "/v1/did/status", "/v1/auth/logout", "/v1/badges/issue"];
    let optional = ["/v1/did/activate", "/v1/auth/login"];
    let tokens = [None, Some("st_x"), Some(unknown.expose())];
    for (path, token) in required
        .iter()
        .chain(&optional)
        .flat_map(|path| tokens.iter().map(move |token| (*path, *token)))
    {
        let is_too_large = token.is_none() && optional.contains(&path);
        let authorization =
            token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
        let declared = "Content-Length: 20000\r\n\r\n".to_owned();
        let piece = format!("4e20\r\n{}\r\n", " ".repeat(20_000));
        let chunked = format!("Transfer-Encoding: chunked\r\n\r\n{piece}");
        for rest in [declared, chunked] {
            let request = format!(
                "POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{authorization}{rest}"
            );
            let response = exchange(&server.url, request);
            let expected = if is_too_large { 413 } else { 401 };
            assert_eq!(status_of(&response), expected, "{path} {token:?}: {response}");
            assert!(!is_too_large || response.contains("16384"), "{response}");
        }
    }
    assert_eq!(server.metric("sealpost_body_memory_bytes"), 0);
}

#[test]
fn body_memory_is_released_after_any_response() {
    let server = serve(&[]);
    let alice = server.new_identity();
    // Together many times the budget.
    for _ in 0..6 {
        for body in [padded("{\"label\":\"a\"}"), padded("{\"label\":7}"), padded("[")] {
            let ask = |path| server.post(path).body("application/json", body.as_bytes());
            ask("/v1/did/activate").token(&alice.token).response();
            ask("/v1/did/activate").response().refused(413, "PAYLOAD_TOO_LARGE");
            assert_ne!(ask("/v1/did/status").by(&alice).response().status, 503);
            ask("/v1/auth/logout").token("st_x").response().refused(401, "UNAUTHORIZED");
        }
        let long = format!("{:>1$}", "{}", BODY_MAX + 1);
        let long = server.post("/v1/did/status").body("application/json", long.as_bytes());
        long.response().refused(413, "PAYLOAD_TOO_LARGE");
    }
    holds(&server, 0);
    ask(&server, &alice, BODY_MAX).refused(401, "UNAUTHORIZED");
}

/// The HTTP framing of a body: chunked, or with a declared `Content-Length`.
#[derive(Clone, Copy)]
enum Framing {
    Chunked,
    Declared,
}

impl Framing {
    /// Returns the first part of an activation request: the head and most of the body.
    fn begin(self, token: &str) -> String {
        let (header, size) = match self {
            Self::Chunked => ("Transfer-Encoding: chunked".to_owned(), format!("{PIECE:x}\r\n")),
            Self::Declared => (format!("Content-Length: {}", PIECE + ENDING.len()), String::new()),
        };
        let ends = if size.is_empty() { "" } else { "\r\n" };
        let piece = " ".repeat(PIECE);
        format!(
            "POST /v1/did/activate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
             Authorization: Bearer {token}\r\n{header}\r\n\r\n{size}{piece}{ends}"
        )
    }

    /// Returns the rest of the body.
    fn end(self) -> String {
        match self {
            Self::Chunked => format!("{:x}\r\n{ENDING}\r\n0\r\n\r\n", ENDING.len()),
            Self::Declared => ENDING.to_owned(),
        }
    }
}

/// Starts a server with a memory budget for two bodies of maximum size.
fn serve(more: &[&str]) -> Server {
    let sizes = [format!("--max-body-bytes={BODY_MAX}"), format!("--body-memory={}", 2 * BODY_MAX)];
    let [body, memory] = sizes.each_ref().map(String::as_str);
    // Only the client ends a request, and no other limit applies.
    let patient = ["--body-timeout=50s", "--activations-per-minute=0"];
    Database::embedded().serve_with(&[&[body, memory, patient[0], patient[1]], more].concat())
}

fn begin(server: &Server, identity: &Identity, framing: Framing) -> TcpStream {
    let mut socket = connect(&server.url);
    socket.write_all(framing.begin(&identity.token).as_bytes()).unwrap();
    socket
}

/// Waits until the memory of all request bodies is exactly `bytes`.
#[track_caller]
fn holds(server: &Server, bytes: usize) {
    wait_until("the bodies use the expected memory", || {
        let held = usize::try_from(server.metric("sealpost_body_memory_bytes"));
        held == Ok(bytes)
    });
}

/// Sends a request without an API key. The server reads the body, then refuses the request without counting it against
/// a plan.
fn ask(server: &Server, identity: &Identity, length: usize) -> Response {
    let body = format!("{:>length$}", "{}");
    let request = server.post("/v1/did/status").token(&identity.token);
    request.body("application/json", body.as_bytes()).response()
}

fn padded(body: &str) -> String {
    format!("{body:>PIECE$}")
}

const BODY_MAX: usize = 65_000;
const PIECE: usize = 60_000;
const ENDING: &str = "{\"label\":\"a\"}";
/// Length of a body that exceeds the budget left beside two partial bodies.
const LARGE: usize = 20_000;
/// Length of a body that is too small to use the memory budget.
const SMALL: usize = 16_000;
