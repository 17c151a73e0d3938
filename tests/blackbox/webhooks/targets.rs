//! Tests of allowed and forbidden webhook target URLs.

use serde_json::json;

use crate::support::{Client, Database, Identity, Receiver, Response, Server};

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
        "file:///etc/passwd",
        "hooks.invalid",
        "//hooks.invalid/",
        "https://",
        "https://ann:secret@hooks.invalid/",
        "https://ann@hooks.invalid/",
        "https://hooks.invalid/#part",
        "https://localhost/",
        "https://LOCALHOST:8443/",
        "https://api.localhost/",
    ] {
        refused(&server, url);
    }
}

#[test]
fn private_addresses_are_rejected_in_every_spelling() {
    let database = Database::embedded();
    let server = Server::start(database.command(&[]));
    for host in CLOSED.iter().chain(LOOPBACK) {
        refused(&server, &format!("https://{host}/"));
    }
}

#[test]
fn development_mode_allows_only_http_and_loopback_in_addition() {
    let server = Database::embedded().serve();
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
    let server = Database::embedded().serve();
    let (client, receiver) = (server.client(), Receiver::start());
    let port = receiver.url.rsplit(':').next().unwrap().split('/').next().unwrap().to_owned();
    let bob = client.new_identity();
    for spelling in ["2130706433", "0x7f.1", "017700000001", "127.0.0.1"] {
        let url = format!("http://{spelling}:{port}/a%20b?c=d");
        let registered = client.register(&bob, &url);
        assert_eq!(registered["url"], format!("http://127.0.0.1:{port}/a%20b?c=d"));
    }
    client.send(&bob, &bob.key, "x").ok();
    for request in receiver.await_requests(4) {
        assert_eq!(request.path, "/a%20b?c=d");
        assert_eq!(request.header("host"), format!("127.0.0.1:{port}"));
    }
}

/// Registers a webhook with a new API key, because each key is limited to 20 requests per minute.
fn register(server: &Server, url: &str) -> Response {
    let client: &Client = server.client();
    let identity: Identity = client.new_identity();
    let body = json!({"url": url, "events": ["envelope.received"]});
    client.act(&identity, "/v1/webhooks/register", &body)
}

fn refused(server: &Server, url: &str) {
    let response = register(server, url);
    assert_eq!(response.status, 400, "{url}");
    let problem = response.refused(400, "INVALID_FIELD");
    assert_eq!(problem["field"], "url", "{url}");
    assert!(problem["detail"].as_str().unwrap().starts_with("url "), "{problem}");
}

const LOOPBACK: &[&str] = &[
    "127.0.0.1",
    "127.1",
    "127.255.255.254",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "017700000001",
    "0177.0.0.1",
    "127.0.0.1.",
    "%31%32%37.0.0.1",
    "１２７.0.0.1",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
];

const CLOSED: &[&str] = &[
    "0.0.0.0",
    "0",
    "10.0.0.1",
    "10.1",
    "0xa000001",
    "012.0.0.1",
    "100.64.0.1",
    "169.254.169.254",
    "2852039166",
    "0xa9fea9fe",
    "0251.0376.0251.0376",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.1",
    "192.0.2.1",
    "192.168.1.1",
    "3232235777",
    "0xc0.0xa8.1.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "255.255.255.255",
    "[::]",
    "[fe80::1]",
    "[fc00::1]",
    "[fd12:3456::1]",
    "[ff02::1]",
    "[::ffff:10.0.0.1]",
    "[::ffff:a9fe:a9fe]",
    "[64:ff9b::a00:1]",
    "[2002:a00:1::]",
    "[2001:db8::1]",
    "[::10.0.0.1]",
    "[2001::1]",
];
