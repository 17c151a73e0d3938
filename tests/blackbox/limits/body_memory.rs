//! What all bodies take together: large ones share the memory that is set for them, whoever sends them.

use std::{io::Write as _, net::TcpStream};

use crate::support::{Answer, Database, SOON, Server, answer_on, connect, eventually, status_of};

#[test]
fn large_bodies_that_do_not_end_leave_no_room_until_they_are_gone() {
    let server = serve();
    for framing in [Framing::Chunked, Framing::Declared] {
        let (broken_off, slow) = (begin(&server, framing), begin(&server, framing));
        holds(&server, 2 * PIECE);
        ask(&server, LARGE).refused(503, "SERVICE_UNAVAILABLE");
        let answer = answer_on(&mut begin(&server, framing));
        assert_eq!(status_of(&answer), 503, "before it is whole: {answer}");
        assert!(answer.to_ascii_lowercase().contains("retry-after: 1"), "{answer}");
        ask(&server, SMALL).refused(401, "UNAUTHORIZED");
        server.client().newcomer();
        drop(broken_off);
        holds(&server, PIECE);
        ask(&server, LARGE).refused(401, "UNAUTHORIZED");
        let slower = begin(&server, framing);
        holds(&server, 2 * PIECE);
        ask(&server, LARGE).refused(503, "SERVICE_UNAVAILABLE");
        for mut socket in [slow, slower] {
            socket.write_all(framing.end().as_bytes()).unwrap();
            assert_eq!(status_of(&answer_on(&mut socket)), 200);
        }
        holds(&server, 0);
        ask(&server, LARGE).refused(401, "UNAUTHORIZED");
    }
}

#[test]
fn memory_is_given_back_whatever_the_answer() {
    let server = serve();
    let client = server.client();
    let alice = client.newcomer();
    // Together many times what there is.
    for _ in 0..6 {
        for body in [padded("{\"label\":\"a\"}"), padded("{\"label\":7}"), padded("[")] {
            let ask = |path| client.post(path).body("application/json", body.as_bytes());
            ask("/v1/did/activate").answer();
            assert_ne!(ask("/v1/did/status").by(&alice).answer().status, 503);
            ask("/v1/auth/logout").token("st_x").answer().refused(401, "UNAUTHORIZED");
        }
        let long = format!("{:>1$}", "{}", BODY_MAX + 1);
        let long = client.post("/v1/did/status").body("application/json", long.as_bytes());
        long.answer().refused(413, "PAYLOAD_TOO_LARGE");
    }
    holds(&server, 0);
    ask(&server, BODY_MAX).refused(401, "UNAUTHORIZED");
}

/// How a body says where it ends.
#[derive(Clone, Copy)]
enum Framing {
    Chunked,
    Declared,
}

impl Framing {
    /// An activation, as far as most of its body.
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

    /// The rest of it.
    fn end(self) -> String {
        match self {
            Self::Chunked => format!("{:x}\r\n{ENDING}\r\n0\r\n\r\n", ENDING.len()),
            Self::Declared => ENDING.to_owned(),
        }
    }
}

/// A server with memory for two bodies at the limit.
fn serve() -> Server {
    let sizes = [format!("--max-body-bytes={BODY_MAX}"), format!("--body-memory={}", 2 * BODY_MAX)];
    let [body, memory] = sizes.each_ref().map(String::as_str);
    // Nothing ends but by its caller, and nothing else is short.
    let patient = ["--body-timeout=50s", "--activations-per-minute=0"];
    Database::embedded().serve_with(&[body, memory, patient[0], patient[1]])
}

fn begin(server: &Server, framing: Framing) -> TcpStream {
    let mut socket = connect(&server.url);
    socket.write_all(framing.begin().as_bytes()).unwrap();
    socket
}

/// Waits until bodies take so much, as they do once what was sent has come or what was broken off is gone.
#[track_caller]
fn holds(server: &Server, bytes: usize) {
    eventually("bodies take so much", SOON, || {
        let held = usize::try_from(server.metric("sealpost_body_memory_bytes"));
        (held == Ok(bytes)).then_some(())
    });
}

/// A request without a token, whose body comes first.
fn ask(server: &Server, length: usize) -> Answer {
    let body = format!("{:>length$}", "{}");
    server.client().post("/v1/did/status").body("application/json", body.as_bytes()).answer()
}

fn padded(body: &str) -> String {
    format!("{body:>PIECE$}")
}

const BODY_MAX: usize = 65_000;
const PIECE: usize = 60_000;
const ENDING: &str = "{\"label\":\"a\"}";
/// More than is left beside two pieces.
const LARGE: usize = 20_000;
/// Takes none of the memory.
const SMALL: usize = 16_000;
