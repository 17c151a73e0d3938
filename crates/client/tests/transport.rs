//! Tests of the client's credentials, retries, errors and pages, against a mock service in this process.

#![cfg(test)]

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode, Uri, header::CONTENT_TYPE},
    response::{IntoResponse as _, Response},
};
use futures_util::TryStreamExt as _;
use sealpost_client::{Client, ClientBuilder, ClientError, Code, Login, ReceiptState, RetryPolicy};
use serde_json::json;
use tokio::net::TcpListener;

const ACCOUNT: &str = "acct_01h455vb4pex5vsknk084sn02q";
const KEY: &str = "ak_01h455vb4pex5vsknk084sn02q";
const WEBHOOK: &str = "wh_01h455vb4pex5vsknk084sn02q";

#[tokio::test]
async fn an_expired_session_is_renewed_once() {
    let service = Service::start([sent(), problem(401, "UNAUTHORIZED", None), sent()]).await;
    let client = service.logged_in();
    client.send("bob", "one").await.unwrap();
    client.send("bob", "two").await.unwrap();
    assert_eq!(service.header("Authorization"), ["Bearer st_1", "Bearer st_1", "Bearer st_2"]);
}

#[tokio::test]
async fn concurrent_requests_share_a_login() {
    let service = Service::start((0..8).map(|_| sent())).await;
    let client = service.logged_in();
    let sends = (0..8).map(|_| client.send("bob", "one"));
    futures_util::future::try_join_all(sends).await.unwrap();
    assert_eq!(*service.logins.lock().unwrap(), 1);
}

#[tokio::test]
async fn a_token_is_not_renewed() {
    let service = Service::start([problem(401, "UNAUTHORIZED", None)]).await;
    let refused = service.with_token().send("bob", "one").await.unwrap_err();
    assert_eq!(refused.code(), Some(Code::Unauthorized));
    assert_eq!(service.header("Authorization"), ["Bearer kt_1"]);
    assert_eq!(*service.logins.lock().unwrap(), 0);
}

#[tokio::test]
async fn a_send_keeps_its_key_in_all_tries() {
    let failed = problem(500, "INTERNAL_ERROR", None);
    let service = Service::start([page(502), failed, sent(), sent()]).await;
    let client = service.with_token();
    client.send("bob", "one").await.unwrap();
    client.send("bob", "two").await.unwrap();
    let keys = service.header("Idempotency-Key");
    assert_eq!(keys.len(), 4);
    assert_eq!((&keys[0], &keys[1]), (&keys[2], &keys[2]));
    assert_ne!(keys[2], keys[3], "each send has its own key");
    assert!(!keys[0].is_empty());
}

#[tokio::test]
async fn a_send_succeeds_with_a_state_that_is_newer_than_the_client() {
    let refused = json!({"status": 404, "code": "KEY_NOT_FOUND", "detail": "d", "field": "to"});
    let batch = json!({"results": [{"status": 200, "state": "archived"}, refused]});
    let states = [sent_with_state("notified"), sent_with_state("archived"), json_body(&batch)];
    let service = Service::start(states).await;
    let client = service.with_token();
    for expected in [ReceiptState::Notified, ReceiptState::Sent] {
        assert_eq!(client.send("bob", "one").await.unwrap().state, expected);
    }
    let results = client.send_batch(&[], None).await.unwrap();
    let states: Vec<_> = results.iter().map(|result| result.state).collect();
    assert_eq!(states, [Some(ReceiptState::Sent), None]);
}

#[test]
fn a_url_with_a_user_is_refused_without_its_password() {
    for url in
        ["https://user:secret@sealpost.test", "https://user@sealpost.test", "ftp://sealpost.test"]
    {
        let refused = Client::builder(url).build().unwrap_err().to_string();
        assert!(refused.contains("is not the URL of a service"), "{refused}");
        assert!(!refused.contains("secret"), "{refused}");
    }
}

#[test]
fn a_token_with_a_line_break_is_refused_without_its_text() {
    let refused = Client::builder("https://sealpost.test").token("kt_1\n").build().unwrap_err();
    assert!(matches!(refused, ClientError::InvalidToken), "{refused}");
    assert!(!refused.to_string().contains("kt_1"), "{refused}");
}

#[tokio::test]
async fn a_request_that_may_have_been_processed_is_not_repeated() {
    for response in [problem(500, "INTERNAL_ERROR", None), page(503)] {
        let service = Service::start([response]).await;
        let deleted = service.with_token().webhooks().delete(WEBHOOK.parse().unwrap()).await;
        deleted.unwrap_err();
        assert_eq!(service.header("Authorization").len(), 1);
    }
}

#[tokio::test]
async fn a_request_that_was_not_stored_is_repeated_after_the_wait() {
    let busy = problem(503, "SERVICE_UNAVAILABLE", Some(1));
    let service = Service::start([busy, json_body(&json!({"deleted": true}))]).await;
    let began = Instant::now();
    service.with_token().webhooks().delete(WEBHOOK.parse().unwrap()).await.unwrap();
    assert!(began.elapsed() >= Duration::from_secs(1), "Retry-After is waited for");
}

#[tokio::test]
async fn each_code_has_a_variant_and_unknown_codes_are_errors_too() {
    let codes = Code::ALL.into_iter().filter(|code| *code != Code::Unauthorized);
    for code in codes {
        let service = Service::start([problem(404, code.as_str(), None)]).await;
        let once = RetryPolicy { tries: 1, ..RetryPolicy::default() };
        let client = service.builder().retry(once).build().unwrap();
        assert_eq!(client.resolve("bob").await.unwrap_err().code(), Some(code));
    }
    let service = Service::start([problem(418, "TEAPOT", None)]).await;
    let refused = service.with_token().resolve("bob").await.unwrap_err();
    assert_eq!(refused.code(), None);
    assert!(matches!(refused, ClientError::Refused { problem, .. } if problem.code == "TEAPOT"));
}

#[tokio::test]
async fn a_page_is_not_a_response_of_the_service() {
    let service = Service::start([page(200)]).await;
    let refused = service.with_token().resolve("bob").await.unwrap_err();
    assert!(refused.to_string().contains("check the URL"));
}

#[tokio::test]
async fn the_log_has_text_files_and_is_read_again() {
    let checkpoint = || ([(CONTENT_TYPE, "text/plain; charset=utf-8")], "log\n1\n").into_response();
    let service = Service::start([page(502), checkpoint(), page(200)]).await;
    let client = service.builder().build().unwrap();
    assert_eq!(client.log_tile("checkpoint").await.unwrap(), b"log\n1\n");
    let refused = client.log_tile("checkpoint").await.unwrap_err();
    assert!(matches!(refused, ClientError::NotSealpost { status: 200, .. }), "{refused}");
}

#[tokio::test]
async fn a_stream_follows_the_cursors() {
    let entry = |kind| json!({"at": "2026-01-01T00:00:00.000Z", "kind": kind, "actor": "owner"});
    let pages = [
        json_body(&json!({"entries": [entry("login")], "next_cursor": "c"})),
        json_body(&json!({"entries": [entry("logout")], "next_cursor": null})),
    ];
    let service = Service::start(pages).await;
    let entries: Vec<_> = service.logged_in().account().activity(1).try_collect().await.unwrap();
    assert_eq!(entries.iter().map(|entry| &*entry.kind).collect::<Vec<_>>(), ["login", "logout"]);
}

#[test]
fn secrets_are_not_shown() {
    assert!(!format!("{:?}", Login::new(ACCOUNT.parse().unwrap(), "ls_1")).contains("ls_1"));
    let client = Client::builder("https://sealpost.test").token("kt_1").build().unwrap();
    assert!(!format!("{client:?}").contains("kt_1"));
}

/// A mock service that returns the given responses in order. A login always succeeds.
#[derive(Clone, Default)]
struct Service {
    url: String,
    responses: Arc<Mutex<VecDeque<Response>>>,
    requests: Arc<Mutex<Vec<HeaderMap>>>,
    logins: Arc<Mutex<u32>>,
}

impl Service {
    async fn start(responses: impl IntoIterator<Item = Response>) -> Self {
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let service = Self {
            url: format!("http://{}", socket.local_addr().unwrap()),
            responses: Arc::new(Mutex::new(responses.into_iter().collect())),
            ..Self::default()
        };
        let app = Router::new().fallback(respond).with_state(service.clone());
        tokio::spawn(async move { axum::serve(socket, app).await });
        service
    }

    fn builder(&self) -> ClientBuilder {
        let retry = RetryPolicy { first_pause: Duration::ZERO, ..RetryPolicy::default() };
        Client::builder(&self.url).retry(retry)
    }

    fn logged_in(&self) -> Client {
        let login = Login::new(ACCOUNT.parse().unwrap(), "ls_1");
        self.builder().login(login).api_key(KEY.parse().unwrap()).build().unwrap()
    }

    fn with_token(&self) -> Client {
        self.builder().token("kt_1").build().unwrap()
    }

    /// Returns the values of a header in all requests except logins. A missing header is empty.
    fn header(&self, name: &str) -> Vec<String> {
        let requests = self.requests.lock().unwrap();
        let value = |headers: &HeaderMap| {
            headers.get(name).map_or("", |value| value.to_str().unwrap()).to_owned()
        };
        requests.iter().map(value).collect()
    }
}

async fn respond(
    State(service): State<Service>,
    path: Uri,
    headers: HeaderMap,
    _: Bytes,
) -> Response {
    if path.path() == "/v1/auth/login" {
        let mut logins = service.logins.lock().unwrap();
        *logins += 1;
        return json_body(&json!({"session_token": format!("st_{logins}")}));
    }
    service.requests.lock().unwrap().push(headers);
    service.responses.lock().unwrap().pop_front().unwrap()
}

fn sent() -> Response {
    sent_with_state("sent")
}

fn sent_with_state(state: &str) -> Response {
    json_body(&json!({
        "envelope_id": "env_01h455vb4pex5vsknk084sn02q", "envelope_hash": "sha256:0",
        "status": "delivered", "state": state, "sender": KEY, "recipient": KEY,
        "encryption": {"algorithm": "a", "status": "sealed"},
        "metadata": {"payload_size_bytes": 1, "timestamp": "2026-01-01T00:00:00.000Z"},
    }))
}

fn json_body(body: &serde_json::Value) -> Response {
    ([(CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

fn problem(status: u16, code: &str, retry_after_s: Option<u32>) -> Response {
    let body = json!({"status": status, "code": code, "detail": "d"}).to_string();
    let kind = [(CONTENT_TYPE, "application/problem+json")];
    let mut response = (StatusCode::from_u16(status).unwrap(), kind, body).into_response();
    if let Some(seconds) = retry_after_s {
        response.headers_mut().insert("Retry-After", seconds.into());
    }
    response
}

/// An HTML error page, as a proxy would send it.
fn page(status: u16) -> Response {
    let kind = [(CONTENT_TYPE, "text/html")];
    (StatusCode::from_u16(status).unwrap(), kind, "<html>").into_response()
}
