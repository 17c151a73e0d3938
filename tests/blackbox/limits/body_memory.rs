//! The memory limit of request bodies: large bodies of all clients share one budget.

use std::{io::Write as _, net::TcpStream};

use crate::support::{
    Database, Response, SOON, Server, connect, eventually, response_on, status_of,
};

#[test]
fn unfinished_large_bodies_hold_memory_until_they_are_gone() {
    let server = serve();
    for framing in [Framing::Chunked, Framing::Declared] {
        let (broken_off, slow) = (begin(&server, framing), begin(&server, framing));
        holds(&server, 2 * PIECE);
        ask(&server, LARGE).refused(503, "SERVICE_UNAVAILABLE");
        let response = response_on(&mut begin(&server, framing));
        assert_eq!(
            status_of(&response),
            503,
            "the response must come before the end of the body: {response}"
        );
        assert!(response.to_ascii_lowercase().contains("retry-after: 1"), "{response}");
        ask(&server, SMALL).refused(401, "UNAUTHORIZED");
        server.client().new_identity();
        drop(broken_off);
        holds(&server, PIECE);
        ask(&server, LARGE).refused(401, "UNAUTHORIZED");
        let slower = begin(&server, framing);
        holds(&server, 2 * PIECE);
        ask(&server, LARGE).refused(503, "SERVICE_UNAVAILABLE");
        for mut socket in [slow, slower] {
            socket.write_all(framing.end().as_bytes()).unwrap();
            assert_eq!(status_of(&response_on(&mut socket)), 200);
        }
        holds(&server, 0);
        ask(&server, LARGE).refused(401, "UNAUTHORIZED");
    }
}

#[test]
fn body_memory_is_released_after_any_response() {
    let server = serve();
    let client = server.client();
    let alice = client.new_identity();
    // Together many times the budget.
    for _ in 0..6 {
        for body in [padded("{\"label\":\"a\"}"), padded("{\"label\":7}"), padded("[")] {
            let ask = |path| client.post(path).body("application/json", body.as_bytes());
            ask("/v1/did/activate").response();
            assert_ne!(ask("/v1/did/status").by(&alice).response().status, 503);
            ask("/v1/auth/logout").token("st_x").response().refused(401, "UNAUTHORIZED");
        }
        let long = format!("{:>1$}", "{}", BODY_MAX + 1);
        let long = client.post("/v1/did/status").body("application/json", long.as_bytes());
        long.response().refused(413, "PAYLOAD_TOO_LARGE");
    }
    holds(&server, 0);
    ask(&server, BODY_MAX).refused(401, "UNAUTHORIZED");
}

/// The framing of a body.
#[derive(Clone, Copy)]
enum Framing {
    Chunked,
    Declared,
}

impl Framing {
    /// Sends an activation up to most of its body.
    fn begin(self) -> String {
        let (header, size) = match self {
            Self::Chunked => ("Transfer-Encoding: chunked".to_owned(), format!("{PIECE:x}\r\n")),
            Self::Declared => (format!("Content-Length: {}", PIECE + ENDING.len()), String::new()),
        };
        let ends = if size.is_empty() { "" } else { "\r\n" };
        let piece = " ".repeat(PIECE);
        format!(
            "POST /v1/did/activate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{header}\r\n\r\n\
             {size}{piece}{ends}"
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

/// Starts a server with a budget of two bodies of maximum size.
fn serve() -> Server {
    let sizes = [format!("--max-body-bytes={BODY_MAX}"), format!("--body-memory={}", 2 * BODY_MAX)];
    let [body, memory] = sizes.each_ref().map(String::as_str);
    // Only the client ends a request, and no other limit applies.
    let patient = ["--body-timeout=50s", "--activations-per-minute=0"];
    Database::embedded().serve_with(&[body, memory, patient[0], patient[1]])
}

fn begin(server: &Server, framing: Framing) -> TcpStream {
    let mut socket = connect(&server.url);
    socket.write_all(framing.begin().as_bytes()).unwrap();
    socket
}

/// Waits until bodies use `bytes`: after the data has arrived, or after the connection is gone.
#[track_caller]
fn holds(server: &Server, bytes: usize) {
    eventually("the bodies use the expected memory", SOON, || {
        let held = usize::try_from(server.metric("sealpost_body_memory_bytes"));
        (held == Ok(bytes)).then_some(())
    });
}

/// Sends a request without a token, whose body is read first.
fn ask(server: &Server, length: usize) -> Response {
    let body = format!("{:>length$}", "{}");
    server.client().post("/v1/did/status").body("application/json", body.as_bytes()).response()
}

fn padded(body: &str) -> String {
    format!("{body:>PIECE$}")
}

const BODY_MAX: usize = 65_000;
const PIECE: usize = 60_000;
const ENDING: &str = "{\"label\":\"a\"}";
/// More than the budget has left beside two partial bodies.
const LARGE: usize = 20_000;
/// Below the size that uses the budget.
const SMALL: usize = 16_000;
