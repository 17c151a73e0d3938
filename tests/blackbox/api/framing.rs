//! Tests of the ends of requests and connections: one request at a time, `Connection: close`, upgrades, and error
//! responses for bytes that are no HTTP request.

use std::{io::Write as _, net::Shutdown};

use serde_json::Value;

use crate::support::{Database, Server, connect, read_to_end, text};

/// One response on a connection.
#[derive(Debug)]
struct Message {
    status: u16,
    head: String,
    body: String,
}

impl Message {
    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|line| line.0.eq_ignore_ascii_case(name)).map(|line| line.1)
    }

    fn is_last(&self) -> bool {
        self.header("connection") == Some("close")
    }

    /// Checks that the response is a problem document, and returns the document.
    #[track_caller]
    fn refused(&self, status: u16, code: &str) -> Value {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        let problem: Value = serde_json::from_str(&self.body).unwrap();
        let found = (self.status, problem["status"].as_u64(), problem["code"].as_str());
        assert_eq!(found, (status, Some(u64::from(status)), Some(code)), "{problem}");
        assert_eq!(problem["request_id"].as_str(), self.header("x-request-id"));
        assert!(text(&problem, "type").ends_with(&format!("/docs/errors/{code}")), "{problem}");
        assert!(self.is_last(), "{self:?}");
        problem
    }
}

/// Sends the bytes, and reads all responses until the server closes the connection. Only the first request may be HEAD,
/// whose response has no body.
fn talk(url: &str, bytes: &[u8]) -> Vec<Message> {
    let mut socket = connect(url);
    socket.write_all(bytes).unwrap();
    messages(&String::from_utf8(read_to_end(&mut socket)).unwrap(), bytes.starts_with(b"HEAD"))
}

fn messages(mut rest: &str, is_head: bool) -> Vec<Message> {
    let mut found: Vec<Message> = Vec::new();
    while let Some((head, after)) = rest.split_once("\r\n\r\n") {
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let mut message = Message { status, head: head.to_owned(), body: String::new() };
        let length = message.header("content-length").map_or(0, |length| length.parse().unwrap());
        let length = if is_head && found.is_empty() { 0 } else { length };
        let (body, next) = after.split_at(length);
        body.clone_into(&mut message.body);
        rest = next;
        found.push(message);
    }
    assert_eq!(rest, "");
    found
}

/// A request that creates an account, so that each execution counts.
fn activation(version: &str, headers: &str) -> String {
    format!(
        "POST /v1/did/activate HTTP/{version}\r\nHost: x\r\nContent-Type: application/json\r\n{headers}\
         Content-Length: 13\r\n\r\n{{\"label\":\"a\"}}"
    )
}

fn statuses(messages: &[Message]) -> Vec<u16> {
    messages.iter().map(|message| message.status).collect()
}

#[test]
fn no_request_after_a_close_is_executed() {
    let server = Database::embedded().serve();
    let next = activation("1.1", "");
    for (version, headers) in [
        ("1.1", "Connection: close\r\n"),
        ("1.1", "CONNECTION: Close\r\n"),
        ("1.1", "Connection: keep-alive, close\r\n"),
        ("1.1", "Connection: close, keep-alive\r\n"),
        ("1.1", "Connection: keep-alive\r\nConnection: x ,\tclose\r\n"),
        ("1.1", "Connection: close\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"),
        ("1.1", "Connection: close\r\nExpect: 100-continue\r\n"),
        ("1.0", ""),
        ("1.0", "Connection: x\r\n"),
        ("1.0", "Connection: keep-alive, close\r\n"),
    ] {
        let before = server.metric(ACTIVATIONS);
        let bytes = activation(version, headers) + &next + &next;
        let mut responses = talk(&server.url, bytes.as_bytes());
        responses.retain(|response| response.status != 100);
        assert_eq!(statuses(&responses), [200], "{version} {headers}");
        assert!(responses[0].is_last() || version == "1.0", "{version} {headers}: {responses:?}");
        assert_eq!(server.metric(ACTIVATIONS) - before, 1, "{version} {headers}");
    }
}

#[test]
fn only_the_last_of_several_requests_is_answered_with_close() {
    let server = Database::embedded().serve();
    let before = server.metric(ACTIVATIONS);
    let chunked = "POST /v1/did/activate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
        Transfer-Encoding: chunked\r\n\r\n5\r\n{\"lab\r\n8;x=y\r\nel\":\"a\"}\r\n0\r\nTrailer: x\r\n\r\n";
    let bytes = [
        activation("1.1", ""),
        chunked.to_owned(),
        activation("1.0", "Connection: keep-alive\r\n"),
        activation("1.1", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"),
        activation("1.1", "Connection: close\r\n"),
        activation("1.1", ""),
    ];
    let responses = talk(&server.url, bytes.concat().as_bytes());
    assert_eq!(statuses(&responses), [200; 5]);
    let last: Vec<_> = responses.iter().map(Message::is_last).collect();
    assert_eq!(last, [false, false, false, false, true], "{responses:?}");
    assert_eq!(server.metric(ACTIVATIONS) - before, 5);
}

#[test]
fn the_response_to_a_pipelined_request_follows_its_own_method() {
    let server = Server::shared();
    let (get, head) =
        ("GET /docs HTTP/1.1\r\nHost: x\r\n", "HEAD /docs HTTP/1.1\r\nHost: x\r\n\r\n");
    let bytes = format!("{head}{get}\r\n{get}Connection: close\r\n\r\n{head}");
    let responses = talk(&server.url, bytes.as_bytes());
    assert_eq!(statuses(&responses), [200; 3]);
    assert_eq!(responses[1].body, responses[2].body);
    assert!(responses[1].body.contains("<html"), "{responses:?}");
}

#[test]
fn a_request_with_a_body_ignores_an_upgrade() {
    let server = Server::shared();
    for headers in [
        "Connection: Upgrade\r\nUpgrade: websocket\r\n",
        "connection: keep-alive, UPGRADE\r\nupgrade: WebSocket\r\n",
        "Upgrade: websocket\r\n",
        "Connection: Upgrade\r\nUpgrade: h2c\r\n",
        "Connection: Upgrade\r\nUpgrade: websocket, h2c\r\nUpgrade: TLS/1.3\r\n",
        "Connection: Upgrade\r\nUpgrade: websocket\r\nExpect: 100-continue\r\n",
    ] {
        let bytes = activation("1.1", headers) + &activation("1.1", "Connection: close\r\n");
        let mut responses = talk(&server.url, bytes.as_bytes());
        responses.retain(|response| response.status != 100);
        assert_eq!(statuses(&responses), [200; 2], "{headers}");
        assert!(!responses[0].is_last(), "{headers}: {responses:?}");
        assert_eq!(responses[0].header("connection"), None, "{headers}");
    }
}

#[test]
fn nothing_after_an_upgrade_or_a_tunnel_is_executed() {
    let server = Database::embedded().serve();
    let before = server.metric(ACTIVATIONS);
    for (first, status) in [
        (
            "GET /v1/ping HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
            200,
        ),
        ("CONNECT sealpost.example:443 HTTP/1.1\r\nHost: sealpost.example:443\r\n\r\n", 404),
    ] {
        let mut socket = connect(&server.url);
        socket.write_all((first.to_owned() + &activation("1.1", "")).as_bytes()).unwrap();
        socket.shutdown(Shutdown::Write).unwrap();
        let responses = messages(&String::from_utf8(read_to_end(&mut socket)).unwrap(), false);
        assert_eq!(statuses(&responses), [status], "{first}");
        assert!(responses[0].is_last(), "{responses:?}");
    }
    assert_eq!(server.metric(ACTIVATIONS), before);
}

#[test]
fn the_operations_address_follows_the_same_rules() {
    let server = Server::shared();
    let (ping, last) = ("GET /livez HTTP/1.1\r\nHost: x\r\n", "Connection: close\r\n\r\n");
    let responses = talk(&server.ops_url, format!("{ping}\r\n{ping}{last}{ping}\r\n").as_bytes());
    assert_eq!(statuses(&responses), [200; 2]);
    assert_eq!(responses.iter().map(Message::is_last).collect::<Vec<_>>(), [false, true]);
    let upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 2\r\n\r\n{}";
    let post = format!("POST /livez HTTP/1.1\r\nHost: x\r\n{upgrade}{ping}{last}");
    let responses = talk(&server.ops_url, post.as_bytes());
    // The handler does not read the body.
    assert_eq!((statuses(&responses), responses[0].is_last()), (vec![405], true));
    talk(&server.ops_url, b"hello\r\n\r\n")[0].refused(400, "INVALID_HTTP");
}

#[test]
fn bytes_that_are_no_request_get_a_problem_document() {
    let server = Server::shared();
    let head = "GET /v1/ping HTTP/1.1\r\n";
    let many = format!("{head}Host: x\r\n{}\r\n", "X-Y: z\r\n".repeat(100));
    let large = format!("{head}Host: x\r\nX: {}\r\n\r\n", "a".repeat(16_384));
    let gzip = format!("{head}Host: x\r\nTransfer-Encoding: gzip\r\n\r\n");
    let post = "POST /v1/did/activate HTTP/1.0\r\n\r\n";
    let (invalid, too_large) = ((400, "INVALID_HTTP"), (431, "HEADERS_TOO_LARGE"));
    for (bytes, (status, code), named) in [
        ("hello\r\n\r\n", invalid, "first line"),
        ("GET\r\n\r\n", invalid, "first line"),
        ("GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", invalid, "HTTP/1.1"),
        ("GET http://[::1/v1/ping HTTP/1.1\r\nHost: x\r\n\r\n", invalid, "path"),
        ("GET /v1/ping HTTP/9.9\r\nHost: x\r\n\r\n", invalid, "version"),
        ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", invalid, "version"),
        ("\u{16}\u{3}\u{1}\u{2}\r\n\r\n", invalid, "first line"),
        (&format!("{head}Host : x\r\n\r\n"), invalid, "name"),
        (&format!("{head}Host: x\r\nX: \0\r\n\r\n"), invalid, "value"),
        (&format!("{head}\r\n"), invalid, "Host"),
        (&format!("{head}Host: x\r\nHost: x\r\n\r\n"), invalid, "Host"),
        (&format!("{head}Host: a b\r\n\r\n"), invalid, "Host"),
        (&format!("{head}Host: a/b\r\n\r\n"), invalid, "Host"),
        (&format!("{head}Host: x\r\nContent-Length: -1\r\n\r\n"), invalid, "Content-Length"),
        (&gzip, invalid, "Transfer-Encoding"),
        (post, invalid, "Content-Length"),
        (&many, too_large, "96 headers"),
        (&large, too_large, "16384 bytes"),
    ] {
        // Also after another request on the same connection.
        for before in ["", "GET /v1/ping HTTP/1.1\r\nHost: x\r\n\r\n"] {
            let responses = talk(&server.url, format!("{before}{bytes}").as_bytes());
            let expected = if before.is_empty() { vec![status] } else { vec![200, status] };
            assert_eq!(statuses(&responses), expected, "{bytes:.80}");
            let problem = responses.last().unwrap().refused(status, code);
            assert!(text(&problem, "detail").contains(named), "{bytes:.80}: {problem}");
        }
    }
}

#[test]
fn a_broken_chunked_body_gets_one_problem_document() {
    let server = Server::shared();
    let head = "POST /v1/did/activate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n\
        Transfer-Encoding: chunked\r\n\r\n";
    for body in ["zz\r\n", "1\r\nab", "5\r\n{}\r\n0\r\n\r\n", "fffffffffffffffff\r\n"] {
        let responses = talk(&server.url, format!("{head}{body}").as_bytes());
        assert_eq!(responses.len(), 1, "{body}: {responses:?}");
        responses[0].refused(400, "INVALID_JSON");
    }
}

#[test]
fn a_head_that_does_not_arrive_gets_a_problem_document() {
    let server = Server::shared();
    let responses = talk(&server.url, b"GET /v1/ping HTTP/1.1\r\nX-Request-Id: mine\r\nHos");
    responses[0].refused(408, "REQUEST_TIMEOUT");
    assert_eq!(responses[0].header("x-request-id"), Some("mine"));
}

#[test]
fn a_refused_head_keeps_the_request_id_of_the_client() {
    let server = Server::shared();
    let ask = |id: &str, method: &str| {
        let bytes = format!("{method} /v1/ping HTTP/1.1\r\nx-request-ID: {id}\r\n\r\n");
        talk(&server.url, bytes.as_bytes()).remove(0)
    };
    assert_eq!(ask("mine", "GET").header("x-request-id"), Some("mine"));
    assert!(ask("<script>", "GET").header("x-request-id").unwrap().starts_with("req_"));
    let head = ask("mine", "HEAD");
    assert_eq!((head.status, &*head.body), (400, ""));
}

#[test]
fn a_target_that_is_no_uri_is_refused_like_any_other_invalid_head() {
    let server = Database::embedded().serve();
    for target in ["/a<b>", "/\u{e9}", "/a`b", "?a", "#a", "http://", "http:///", "http://[::1/"] {
        let ask = |method: &str| {
            let head =
                format!("{method} {target} HTTP/1.1\r\nHost: x\r\nX-Request-Id: mine\r\n\r\n");
            talk(&server.url, head.as_bytes()).remove(0)
        };
        let get = ask("GET");
        let problem = get.refused(400, "INVALID_HTTP");
        assert!(text(&problem, "detail").contains("percent-encode"), "{target}: {problem}");
        assert_eq!(get.header("x-request-id"), Some("mine"), "{target}");
        let head = ask("HEAD");
        assert_eq!((head.status, &*head.body), (400, ""), "{target}");
    }
    assert!(!server.log().contains("stream error"), "{}", server.log());
}

#[test]
fn each_allowed_form_of_host_and_target_is_accepted() {
    let server = Server::shared();
    for host in ["x", "x:80", "EXAMPLE.com.", "[::1]:8080", "", "a_b", "127.0.0.1", "a%20b"] {
        for target in
            ["/v1/ping", "http://x/v1/ping", "HTTP://X:80/v1/ping", "http://[::1]/v1/ping?a"]
        {
            let bytes =
                format!("GET {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
            assert_eq!(statuses(&talk(&server.url, bytes.as_bytes())), [200], "{host} {target}");
        }
    }
}

const ACTIVATIONS: &str =
    r#"sealpost_http_requests_total{method="POST",route="/v1/did/activate",status="200"}"#;
