//! Tests of requests that two programs would read differently: repeated members, repeated headers, and bodies in another
//! encoding than UTF-8.

use serde_json::{Value, json};

use crate::support::{
    Browser, Database, Request, Server,
    console::{ConsoleServer, Staff},
    text,
};

#[test]
fn each_endpoint_refuses_equal_members() {
    let server = Server::shared();
    let document = server.get("/openapi.json").json();
    let paths = document["paths"].as_object().unwrap();
    let posts = paths.iter().filter(|(_, item)| item.get("post").is_some());
    let posts: Vec<_> = posts.map(|(path, _)| path.as_str()).collect();
    assert!(posts.len() > 15, "{posts:?}");
    // A key may send 20 requests a minute.
    for paths in posts.chunks(15) {
        let alice = server.new_identity();
        for path in paths {
            let post = server.post(path).by(&alice).body("application/json", br#"{"x":1,"x":1}"#);
            assert_eq!(post.response().refused(400, "INVALID_FIELD")["field"], "x", "{path}");
        }
    }
}

#[test]
fn operators_may_send_a_member_once() {
    let server = ConsoleServer::start(&Database::embedded(), &[]);
    let ops = &server.ops;
    for path in ["/admin/v1/keys/show", "/admin/v1/keys/deactivate", "/admin/v1/audit/list"] {
        let post = ops.post(path).header("Authorization", &Staff::Alice.authorization());
        let problem = post.body("application/json", br#"{"reason":"a","reason":"b"}"#).response();
        assert_eq!(problem.json()["code"], "INVALID_FIELD", "{path}");
        assert_eq!((problem.status, &problem.json()["field"]), (400, &json!("reason")), "{path}");
        let twice = ops.post(path).header("Authorization", &Staff::Alice.authorization());
        let twice = twice.header("Authorization", "Bearer x").json(&json!({})).response();
        assert_eq!(
            (twice.status, &twice.json()["field"]),
            (400, &json!("Authorization")),
            "{path}"
        );
    }
}

#[test]
fn a_header_with_one_value_is_refused_if_it_is_repeated() {
    let server = Server::shared();
    let (alice, bob) = (server.new_identity(), server.new_identity());
    for (name, value) in [
        ("Authorization", format!("Bearer {}", bob.token)),
        ("Authorization", format!("Bearer {}", alice.token)),
        ("authorization", String::new()),
        ("X-DID-API-Key", bob.key.clone()),
        ("x-did-api-key", alice.key.clone()),
        ("X-DID-API-Key", String::new()),
        ("Content-Type", "text/plain".to_owned()),
        ("Content-Type", "application/json".to_owned()),
    ] {
        let request = server.post("/v1/did/status").by(&alice).json(&json!({}));
        let problem = request.header(name, &value).response().refused(400, "INVALID_FIELD");
        let field = problem["field"].as_str().unwrap();
        assert!(field.eq_ignore_ascii_case(name), "{name}: {problem}");
        assert!(text(&problem, "detail").contains("once"), "{problem}");
    }
    let ids = server.request("GET", "/v1/ping").header("X-Request-Id", "one");
    let response = ids.header("X-Request-Id", "two").response();
    assert!(response.header("x-request-id").unwrap().starts_with("req_"));
}

/// The checks of a repeated header come where the header is checked.
#[test]
fn a_repeated_header_is_refused_in_the_order_of_the_checks() {
    let server = Server::shared();
    let alice = server.new_identity();
    let twice = || server.post("/v1/did/status").by(&alice).token("x");
    twice().body("text/plain", b"{}").response().refused(415, "UNSUPPORTED_MEDIA_TYPE");
    assert_eq!(refused_field(twice().body("application/json", b"{")), "Authorization");
    let large = vec![b' '; 20_000];
    assert_eq!(refused_field(twice().body("application/json", &large)), "Authorization");
    let foreign = server.post("/v1/did/status").token("x").key("a").key("b").json(&json!({}));
    foreign.response().refused(401, "UNAUTHORIZED");
}

#[test]
fn a_compressed_body_is_refused_by_the_name_of_its_coding() {
    let server = Server::shared();
    let gzip =
        b"\x1f\x8b\x08\0\0\0\0\0\0\x03\xab\x56\xca\x49\x4c\x4a\xcd\x51\xb2\x52\x4a\x54\xaa\x05\0";
    let post = |coding: &str, body: &[u8]| {
        let request = server.post("/v1/did/activate").body("application/json", body);
        request.header("Content-Encoding", coding).response()
    };
    for coding in ["gzip", "GZIP", "br", "deflate", "zstd", "identity, gzip", "x-unknown"] {
        let response = post(coding, gzip);
        let problem = response.refused(415, "UNSUPPORTED_MEDIA_TYPE");
        let detail = text(&problem, "detail");
        let name = coding.rsplit(' ').next().unwrap();
        assert!(detail.contains(name) && detail.contains("uncompressed"), "{detail}");
        assert_eq!(response.header("accept-encoding"), Some("identity"));
    }
    for coding in ["identity", "Identity", ""] {
        post(coding, br#"{"label":"a"}"#).ok();
    }
    let utf_16: Vec<u8> = r#"{"label":"a"}"#.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (body, named) in [
        (gzip.as_slice(), "gzip"),
        (&utf_16, "UTF-16"),
        ("\u{feff}{\"label\":\"a\"}".as_bytes(), "byte order mark"),
    ] {
        let request = server.post("/v1/did/activate").body("application/json", body);
        let problem = request.response().refused(400, "INVALID_JSON");
        assert!(text(&problem, "detail").contains(named), "{problem}");
    }
}

#[test]
fn a_form_with_two_values_for_a_field_changes_nothing() {
    let server = Server::shared();
    let alice = server.new_identity();
    let browser = Browser::sign_in(&server, &alice);
    let form = |labels: &str| format!("form_token={}&{labels}", browser.form_token());
    let path = "/dashboard/keys";
    let twice = browser.post(path, &form("label=one&label=two"), "same-origin");
    assert_eq!(twice.status, 400, "{}", String::from_utf8_lossy(&twice.body));
    let once = browser.post(path, &form("label=one"), "same-origin");
    assert!(once.status < 400, "{}", String::from_utf8_lossy(&once.body));
}

#[track_caller]
fn refused_field(request: Request<'_>) -> Value {
    request.response().refused(400, "INVALID_FIELD")["field"].clone()
}
