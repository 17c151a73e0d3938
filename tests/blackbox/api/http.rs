//! Tests of the HTTP layer: methods, paths, oversized or slow bodies, and bytes that are not HTTP.

use std::{
    io::{ErrorKind, Read as _, Write as _},
    net::TcpStream,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::support::{
    Client, Database, Request, Server, connect, exchange, response_on, status_of, talk, text,
};

#[test]
fn an_unknown_path_is_not_found_with_any_method() {
    let server = Server::shared();
    for path in [
        "/",
        "/v1",
        "/v1/",
        "/v1/pong",
        "/v1/ping/",
        "/V1/ping",
        "/v1/channel/send/x",
        "/dash",
        "/livez",
        "/metrics",
        "/v1/%2e%2e",
    ] {
        for method in ["GET", "POST", "PUT", "DELETE", "OPTIONS"] {
            let response = server.request(method, path).response();
            response.refused(404, "NOT_FOUND");
        }
    }
}

#[test]
fn an_unknown_path_names_the_reference_and_the_nearest_path() {
    let server = Server::shared();
    for (path, nearest) in [
        ("/v1/ping/", Some("/v1/ping")),
        ("/v1/webhooks/rotate_secret", Some("/v1/webhooks/rotate-secret")),
        ("/channel/send", Some("/v1/channel/send")),
        ("/v1/something/else", None),
    ] {
        let problem = server.post(path).response().refused(404, "NOT_FOUND");
        let detail = text(&problem, "detail");
        assert!(detail.contains("/docs"), "{detail}");
        let named = detail.split("did you mean ").nth(1).and_then(|rest| rest.split('?').next());
        assert_eq!(named, nearest, "{path}: {detail}");
    }
}

#[test]
fn another_method_is_not_allowed() {
    let server = Server::shared();
    let posts = [
        "/v1/did/activate",
        "/v1/did/status",
        "/v1/auth/login",
        "/v1/auth/logout",
        "/v1/channel/send",
        "/v1/channel/open",
        "/v1/webhooks",
        "/v1/webhooks/register",
    ];
    let paths = posts.map(|path| (path, "POST")).into_iter().chain([("/v1/ping", "GET")]);
    for (path, allowed) in paths {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"] {
            if method != allowed {
                let response = server.request(method, path).response();
                let problem = response.refused(405, "METHOD_NOT_ALLOWED");
                let named = if allowed == "GET" { "GET and HEAD" } else { allowed };
                let detail = text(&problem, "detail");
                assert!(detail.contains(&format!("accepts only {named}")), "{method} {detail}");
                let allowed = if allowed == "GET" { "GET, HEAD" } else { allowed };
                assert_eq!(response.header("allow"), Some(allowed), "{method} {path}");
            }
        }
        let head = server.request("HEAD", path).response();
        let refused = if allowed == "GET" { (200, None) } else { (405, Some(allowed)) };
        assert_eq!((head.status, head.header("allow")), refused, "HEAD {path}");
        assert!(head.body.is_empty());
    }
}

#[test]
fn head_returns_the_headers_of_get_without_the_body() {
    let server = Server::shared();
    let docs = server.get("/docs");
    let page = String::from_utf8(docs.body).unwrap();
    let asset = page.split('"').find(|text| text.starts_with("/assets/")).unwrap().to_owned();
    for path in [
        "/docs",
        "/docs/errors/KEY_NOT_FOUND",
        "/docs/nowhere",
        "/openapi.json",
        "/.well-known/did.json",
        "/did.json",
        "/dashboard",
        "/dashboard/sign-in",
        "/dashboard/nowhere",
        "/badges/bdg_x",
        "/badges/bdg_x?x",
        "/llms.txt",
        "/v1/ping",
        "/v1/ping?x",
        "/v1/status/1",
        "/v1/status/nowhere",
        "/v1/nowhere",
        "/v1/auth/login",
        "/nowhere",
        "/",
        &asset,
    ] {
        let ask = |method| {
            let mut response =
                server.request(method, path).header("X-Request-Id", "one").response();
            response.headers.remove("date");
            response
        };
        let (get, head) = (ask("GET"), ask("HEAD"));
        assert_eq!((head.status, &head.headers), (get.status, &get.headers), "{path}");
        let length = get.body.len().to_string();
        assert_eq!(head.header("content-length"), Some(&*length), "{path}");
    }
    for path in ["/livez", "/readyz", "/metrics"] {
        let head = Client::new(&server.ops_url).request("HEAD", path).response();
        assert_eq!((head.status, head.body.len()), (200, 0), "{path}");
    }
    for (path, allowed) in [
        ("/docs", "GET, HEAD"),
        ("/openapi.json", "GET, HEAD"),
        ("/badges/bdg_x", "GET, HEAD"),
        ("/dashboard/sign-in", "GET, HEAD, POST"),
        ("/dashboard/sign-out", "POST"),
        ("/v1/status/1", "GET, HEAD"),
        ("/v1/ping", "GET, HEAD"),
    ] {
        let response = server.request("DELETE", path).response();
        assert_eq!((response.status, response.header("allow")), (405, Some(allowed)), "{path}");
    }
    let posted = server.request("HEAD", "/dashboard/sign-out").response();
    assert_eq!((posted.status, posted.header("allow")), (405, Some("POST")));
}

#[test]
fn a_valid_request_id_is_kept_and_an_invalid_one_is_replaced() {
    let server = Server::shared();
    let longest = "a".repeat(64);
    let ask = |method, path, id: &str| {
        let response = server.request(method, path).header("X-Request-Id", id).response();
        response.header("x-request-id").unwrap().to_owned()
    };
    for (method, path) in
        [("GET", "/v1/ping"), ("GET", "/nowhere"), ("PUT", "/v1/ping"), ("POST", "/v1/did/status")]
    {
        for sane in ["x", "3f2a-77_b.c", &longest] {
            assert_eq!(ask(method, path, sane), sane);
        }
        for insane in ["", "a b", "<script>", "a/b", "a\"b", &"a".repeat(65), &"a".repeat(1000)] {
            let given = ask(method, path, insane);
            assert!(given.starts_with("req_") && given.len() == 30, "{insane}: {given}");
        }
    }
    assert_ne!(ask("GET", "/v1/ping", ""), ask("GET", "/v1/ping", ""));
}

#[test]
fn a_content_length_over_the_limit_is_rejected_before_the_body_arrives() {
    let server = Server::shared();
    let response = exchange(&server.url, post("/v1/did/activate", "Content-Length: 2097153\r\n"));
    assert_eq!(status_of(&response), 413, "{response}");
    assert!(response.contains("PAYLOAD_TOO_LARGE"), "{response}");
}

#[test]
fn a_body_at_the_limit_is_accepted_and_one_byte_more_is_rejected() {
    let server = Database::embedded().serve_with(&["--max-body-bytes", "1000"]);
    for (length, status) in [(1000, 200), (1001, 413)] {
        let body = format!("{:>length$}", json!({"label": "a"}).to_string());
        let request = server.post("/v1/did/activate").body("application/json", body.as_bytes());
        assert_eq!(request.response().status, status);
        let head = post("/v1/did/activate", "Transfer-Encoding: chunked\r\nConnection: close\r\n");
        let chunk = format!("{length:x}\r\n{body}\r\n0\r\n\r\n");
        let response = talk(&server.url, &[head.as_bytes(), chunk.as_bytes()]);
        assert_eq!(status_of(&response), status, "{response}");
    }
    // A chunked body is rejected before it ends.
    let head = post("/v1/did/activate", "Transfer-Encoding: chunked\r\n");
    let chunk = format!("258\r\n{}\r\n", " ".repeat(600));
    let response = talk(&server.url, &[head.as_bytes(), chunk.as_bytes(), chunk.as_bytes()]);
    assert_eq!(status_of(&response), 413, "{response}");
}

#[test]
fn a_body_that_arrives_too_slowly_times_out() {
    let server = Database::embedded().serve_with(&["--body-timeout", "500ms"]);
    for framing in ["Content-Length: 100\r\n", "Transfer-Encoding: chunked\r\n"] {
        let began = Instant::now();
        let response = exchange(&server.url, post("/v1/did/activate", framing) + "5\r\n{\"lab");
        assert_eq!(status_of(&response), 408, "{response}");
        assert!(response.contains("REQUEST_TIMEOUT"), "{response}");
        assert!((Duration::from_millis(500)..Duration::from_secs(10)).contains(&began.elapsed()));
    }
    check_healthy(&server);
}

#[test]
fn a_stalled_connection_is_closed() {
    let server = Database::embedded().serve_with(&BRIEF);
    let ping = "GET /v1/ping HTTP/1.1\r\nHost: x\r\n\r\n";
    // The head of a second request never ends, with all bytes at once or byte by byte.
    for drops in [None, Some("T")] {
        let mut socket = connect(&server.url);
        socket.write_all(ping.as_bytes()).unwrap();
        assert_eq!(status_of(&response_on(&mut socket)), 200);
        socket.write_all(b"GE").unwrap();
        assert!(is_closed(&mut socket, drops), "drops: {drops:?}");
    }
    // Unread responses fill the socket.
    let mut socket = connect(&server.url);
    let many = ping.repeat(1_000);
    let mut written = 0;
    let refused = loop {
        match socket.write_all(many.as_bytes()) {
            Ok(()) => written += many.len(),
            Err(error) => break error,
        }
        assert!(written < 1 << 30, "the server never stops reading");
    };
    assert!(
        matches!(refused.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset),
        "{refused}"
    );
    check_healthy(&server);
}

#[test]
fn a_truncated_body_leaves_the_server_healthy() {
    let server = Server::shared();
    for framing in ["Content-Length: 100\r\n", "Transfer-Encoding: chunked\r\n"] {
        let bytes = post("/v1/did/activate", framing) + "5\r\n{\"lab";
        connect(&server.url).write_all(bytes.as_bytes()).unwrap();
    }
    check_healthy(&server);
}

#[test]
fn a_request_with_two_lengths_is_rejected() {
    let server = Server::shared();
    let body = "{\"label\":\"a\"}";
    for framing in [
        "Content-Length: 13\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 13\r\n",
        "Content-Length: 13\r\nContent-Length: 14\r\n",
        "Content-Length: +13\r\n",
        "Content-Length: 1x\r\n",
        "Transfer-Encoding: chunked, identity\r\n",
    ] {
        let response = exchange(&server.url, post("/v1/did/activate", framing) + body);
        assert!(response.is_empty() || status_of(&response) == 400, "{framing}: {response}");
    }
    check_healthy(&server);
}

/// The module `framing` tests shorter ones.
#[test]
fn long_bytes_that_are_not_http_leave_the_server_healthy() {
    let server = Server::shared();
    let long = format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "a".repeat(300_000));
    let many = format!("GET /v1/ping HTTP/1.1\r\nHost: x\r\n{}\r\n", "X-Y: z\r\n".repeat(2_000));
    for bytes in [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n".as_slice(),
        long.as_bytes(),
        many.as_bytes(),
    ] {
        let response = exchange(&server.url, bytes);
        assert!(response.is_empty() || (400..600).contains(&status_of(&response)), "{response}");
        check_healthy(&server);
    }
}

#[test]
fn a_body_must_have_the_json_content_type() {
    let server = Server::shared();
    let body = json!({"label": "a"}).to_string();
    for taken in ["application/json", "Application/JSON; charset=utf-8", "application/x+json"] {
        server.post("/v1/did/activate").body(taken, body.as_bytes()).response().ok();
    }
    for not in
        ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "text/json", "*/*"]
    {
        let response = server.post("/v1/did/activate").body(not, body.as_bytes()).response();
        response.refused(415, "UNSUPPORTED_MEDIA_TYPE");
    }
    let untyped = format!(
        "POST /v1/did/activate HTTP/1.1\r\nHost: x\r\nContent-Length: 13\r\nConnection: close\r\n\r\n{body}"
    );
    assert_eq!(status_of(&exchange(&server.url, untyped)), 415);
    let empty =
        "POST /v1/did/activate HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    assert!(exchange(&server.url, empty).contains("MISSING_FIELD"), "no body needs no type");
}

#[test]
fn the_key_may_be_in_the_body_and_the_header_takes_precedence() {
    let server = Server::shared();
    let alice = server.new_identity();
    let sibling = server.sibling(&alice);
    let status = |request: Request<'_>| request.token(&alice.token).response();
    let named = json!({"api_key_id": sibling.key});
    let in_body = status(server.post("/v1/did/status").json(&named));
    assert_eq!(in_body.ok()["api_key_id"], sibling.key);
    let in_both = status(server.post("/v1/did/status").key(&alice.key).json(&named));
    assert_eq!(in_both.ok()["api_key_id"], alice.key);
    let wrong_type =
        status(server.post("/v1/did/status").key(&alice.key).json(&json!({"api_key_id": 7})));
    assert_eq!(wrong_type.ok()["api_key_id"], alice.key);
    let message = json!({"api_key_id": sibling.key, "to": alice.key, "message": "x"});
    let sent = server.post("/v1/channel/send").token(&alice.token).json(&message).response();
    assert_eq!(sent.ok()["sender"], sibling.key);
}

/// Short time limits of connections and bodies, for tests that wait until a limit is reached.
const BRIEF: [&str; 2] = ["--body-timeout=500ms", "--connection-timeout=1s"];

fn post(path: &str, headers: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{headers}\r\n")
}

/// Returns true if the server closes the connection within 10 s, well before its other time limits. Meanwhile sends the
/// text `drops` repeatedly.
fn is_closed(socket: &mut TcpStream, drops: Option<&str>) -> bool {
    socket.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(10) {
        let fed = drops.map_or(Ok(()), |drops| socket.write_all(drops.as_bytes()));
        match fed.and_then(|()| socket.read(&mut [0; 64])) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(_) => return true,
        }
    }
    false
}

fn check_healthy(server: &Server) {
    let ping = server.get("/v1/ping");
    assert_eq!(ping.ok()["status"], "ok");
}
