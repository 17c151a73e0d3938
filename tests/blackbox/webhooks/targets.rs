//! Tests of allowed and forbidden webhook target URLs.

use serde_json::json;

use crate::support::{Database, Receiver, Response, Server};

#[test]
fn only_https_urls_to_public_addresses_are_accepted() {
    let database = Database::embedded();
    let server = Server::start(database.command(&[]));
    for url in ["https://hooks.invalid/x?y=z", "https://8.8.8.8/", "https://8.8.8.8:8443/"] {
        assert_eq!(register(&server, url).ok()["url"], url);
    }
    for url in [
        "http://hooks.invalid/",
        "http://8.8.8.8/",
        "http://127.0.0.1:4000/",
        "ftp://hooks.invalid/",
        "https://ann:secret@hooks.invalid/",
        "https://hooks.invalid/#part",
        "https://localhost/",
        "https://127.0.0.1/",
        "https://[::1]/",
    ] {
        refused(&server, url);
    }
    for host in CLOSED {
        refused(&server, &format!("https://{host}/"));
    }
}

#[test]
fn development_mode_allows_only_http_and_loopback_in_addition() {
    let server = Server::shared();
    let receiver = Receiver::start();
    let port = receiver.url.rsplit(':').next().unwrap().to_owned();
    for host in ["127.0.0.1", "localhost", "127.1", "0x7f000001", "[::1]"] {
        register(&server, &format!("http://{host}:{port}")).ok();
    }
    for host in CLOSED {
        refused(&server, &format!("http://{host}:{port}"));
        refused(&server, &format!("https://{host}/"));
    }
    for url in [
        "ftp://127.0.0.1/",
        "http://ann@127.0.0.1:4000/",
        "http://127.0.0.1:4000/#x",
        "http://127.0.0.1:22/",
    ] {
        refused(&server, url);
    }
}

#[test]
fn requests_go_to_the_registered_url() {
    let (server, receiver) = (Server::shared(), Receiver::start());
    let port = receiver.url.rsplit(':').next().unwrap().split('/').next().unwrap().to_owned();
    let bob = server.new_identity();
    for spelling in ["2130706433", "0x7f.1", "017700000001", "127.0.0.1"] {
        let url = format!("http://{spelling}:{port}/a%20b?c=d");
        let registered = server.register(&bob, &url);
        assert_eq!(registered["url"], format!("http://127.0.0.1:{port}/a%20b?c=d"));
    }
    server.send(&bob, &bob.key, "x").ok();
    for request in receiver.await_requests(4) {
        assert_eq!(request.path, "/a%20b?c=d");
        assert_eq!(request.header("host"), format!("127.0.0.1:{port}"));
    }
}

/// Registers a webhook with a new API key, because each key is limited to 20 requests per minute.
fn register(server: &Server, url: &str) -> Response {
    let body = json!({"url": url, "events": ["envelope.received"]});
    server.act(&server.new_identity(), "/v1/webhooks/register", &body)
}

fn refused(server: &Server, url: &str) {
    let response = register(server, url);
    assert_eq!(response.status, 400, "{url}");
    let problem = response.refused(400, "INVALID_FIELD");
    assert_eq!(problem["field"], "url", "{url}");
    assert!(problem["detail"].as_str().unwrap().starts_with("url "), "{problem}");
}

/// The unit tests of the address guard try each forbidden network in many notations.
const CLOSED: &[&str] = &[
    "0.0.0.0",
    "10.1",
    "0xa000001",
    "169.254.169.254",
    "172.31.255.255",
    "0xc0.0xa8.1.1",
    "[fd12:3456::1]",
    "[::10.0.0.1]",
    "[::ffff:10.0.0.1]",
    "[64:ff9b::a00:1]",
    "[2002:a00:1::]",
];
