//! Tests of the axum and actix-web handlers that receive events, against a mock service in this process.

#![cfg(test)]

use std::{
    collections::HashSet,
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{SystemTime, UNIX_EPOCH},
};

use axum::{
    Json, Router,
    response::{IntoResponse as _, Response},
    routing::post,
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use futures_util::future::{BoxFuture, FutureExt as _};
use reqwest::StatusCode;
use ring::hmac;
use sealpost_client::{
    Client, HandlerError, HeaderList, OpenedEnvelope, ReceivedEvent, Receiver, SeenEvents, secrets,
};
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::Notify};

const SECRET: &str = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const ENVELOPE: &str = "env_01h455vb4pex5vsknk084sn02q";
const BUSY: &str = "env_01h455vb4pex5vsknk084sn02r";
const FAILING: &str = "env_01h455vb4pex5vsknk084sn02s";

type Arrived = Arc<Mutex<Vec<String>>>;

/// The headers and the body of a webhook request.
type Request = (Vec<(&'static str, String)>, Vec<u8>);

#[tokio::test]
async fn axum_processes_each_envelope_once() {
    let (receiver, arrived) = receiver().await;
    let app = Router::new().route("/hook", sealpost_client::axum::handler(receiver));
    check(serve(app).await, &arrived).await;
}

#[actix_web::test]
async fn actix_processes_each_envelope_once() {
    let (receiver, arrived) = receiver().await;
    let app = move || {
        let handler = sealpost_client::actix::handler(receiver.clone());
        actix_web::App::new().route("/hook", handler)
    };
    let server = actix_web::HttpServer::new(app).workers(1).disable_signals();
    let server = server.bind(("127.0.0.1", 0)).unwrap();
    let address = server.addrs()[0];
    let running = server.run();
    let handle = running.handle();
    actix_web::rt::spawn(running);
    check(address, &arrived).await;
    handle.stop(false).await;
}

#[tokio::test]
async fn a_store_of_the_program_remembers_events() {
    let table = Table::default();
    let (headers, body) = signed("envelope.received", ENVELOPE);
    let headers: HeaderList = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let mut opened = Vec::new();
    // Creates a new receiver for each round, like a program that is started twice.
    for _ in 0..2 {
        let (receiver, arrived) = receiver().await;
        let status = receiver.seen(table.clone()).receive(&headers, &body).await;
        assert_eq!(status.unwrap(), 204);
        opened.push(arrived.lock().unwrap().len());
    }
    assert_eq!(opened, [1, 0]);
}

#[tokio::test]
async fn a_repeated_event_succeeds_only_after_the_first_request() {
    let service = Router::new().route("/v1/channel/open", post(open_envelope));
    let url = format!("http://{}", serve(service).await);
    let client = Client::builder(&url).token("kt_1").build().unwrap();
    let (running, gate) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (started, opened) = (Arc::clone(&running), Arc::clone(&gate));
    let calls = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&calls);
    let keys = secrets(SECRET, "the test").unwrap();
    let receiver = Receiver::new(client, keys, move |_envelope: OpenedEnvelope| {
        let is_first = counter.fetch_add(1, Ordering::SeqCst) == 0;
        let (started, opened) = (Arc::clone(&started), Arc::clone(&opened));
        async move {
            started.notify_one();
            if is_first {
                opened.notified().await;
            }
            Ok(())
        }
    });
    let (headers, body) = signed("envelope.received", ENVELOPE);
    let headers: HeaderList = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let again = async {
        running.notified().await;
        let status = receiver.receive(&headers, &body).await;
        gate.notify_one();
        status
    };
    let (first, second) = tokio::join!(receiver.receive(&headers, &body), again);
    assert_eq!([first.unwrap(), second.unwrap()], [204, 503]);
    assert_eq!(receiver.receive(&headers, &body).await.unwrap(), 204);
    assert_eq!(calls.load(Ordering::SeqCst), 1);
}

/// A store of processed events, as a program would implement it with a database table.
#[derive(Clone, Default)]
struct Table(Arc<Mutex<HashSet<String>>>);

impl SeenEvents for Table {
    fn contains<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<bool, HandlerError>> {
        async move { Ok(self.0.lock().unwrap().contains(id)) }.boxed()
    }

    fn add<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), HandlerError>> {
        async move {
            self.0.lock().unwrap().insert(id.to_owned());
            Ok(())
        }
        .boxed()
    }
}

async fn check(address: SocketAddr, arrived: &Arrived) {
    // The HTTP client needs a crypto provider even without TLS. Ignores an error, because another test may have
    // installed the provider.
    rustls::crypto::ring::default_provider().install_default().ok();
    let http = reqwest::Client::new();
    let url = format!("http://{address}/hook");
    let statuses = async |requests: &[Request]| {
        let mut statuses = Vec::new();
        for (headers, body) in requests {
            let mut request = http.post(&url);
            for (name, value) in headers {
                request = request.header(*name, value);
            }
            let response = request.body(body.clone()).send().await.unwrap();
            statuses.push(response.status().as_u16());
        }
        statuses
    };
    let (headers, body) = signed("envelope.received", ENVELOPE);
    let altered = [body.as_slice(), b" "].concat();
    let event = (headers.clone(), body);
    assert_eq!(statuses(&[event.clone(), event]).await, [204, 204]);
    assert_eq!(*arrived.lock().unwrap(), ["Noon."], "a repeated event is processed once");
    let invalid = [(headers.clone(), altered), (Vec::new(), b"{}".to_vec())];
    assert_eq!(statuses(&invalid).await, [401, 401]);
    assert_eq!(statuses(&[(headers, vec![b' '; 70_000])]).await, [413]);
    let later = [signed("envelope.received", BUSY), signed("envelope.received", FAILING)];
    assert_eq!(statuses(&later).await, [503, 500]);
    assert_eq!(statuses(&[signed("webhook.test", "evt_1")]).await, [204]);
    assert_eq!(*arrived.lock().unwrap(), ["Noon.", "webhook.test"]);
}

/// Returns a receiver, and the list of messages and events that it has passed to the test.
async fn receiver() -> (Receiver, Arrived) {
    let service = Router::new().route("/v1/channel/open", post(open_envelope));
    let url = format!("http://{}", serve(service).await);
    let client = Client::builder(&url).token("kt_1").build().unwrap();
    let arrived = Arrived::default();
    let (messages, events) = (Arc::clone(&arrived), Arc::clone(&arrived));
    let on_envelope = move |envelope: OpenedEnvelope| {
        messages.lock().unwrap().push(envelope.message);
        async { Ok(()) }
    };
    let receiver = Receiver::new(client, secrets(SECRET, "the test").unwrap(), on_envelope);
    let receiver = receiver.on_event(move |event: ReceivedEvent| {
        events.lock().unwrap().push(event.kind);
        async { Ok(()) }
    });
    (receiver, arrived)
}

async fn open_envelope(Json(request): Json<Value>) -> Response {
    let id = request["envelope_id"].as_str().unwrap();
    match id {
        ENVELOPE => {
            let metadata =
                json!({"payload_size_bytes": 1, "timestamp": "2026-01-01T00:00:00.000Z"});
            Json(json!({
                "envelope_id": id, "envelope_hash": "sha256:0", "message": "Noon.",
                "sender": "ak_01h455vb4pex5vsknk084sn02q", "sender_handle": null,
                "encryption": {"algorithm": "a", "status": "sealed"},
                "opened_at": "2026-01-01T00:00:00.000Z", "metadata": metadata,
            }))
            .into_response()
        }
        BUSY => problem(429, "RATE_LIMIT_EXCEEDED"),
        _ => problem(403, "INSUFFICIENT_SCOPE"),
    }
}

fn problem(status: u16, code: &str) -> Response {
    let headers = [("Content-Type", "application/problem+json"), ("Retry-After", "3600")];
    let body = json!({"status": status, "code": code, "detail": "d"}).to_string();
    (StatusCode::from_u16(status).unwrap(), headers, body).into_response()
}

/// Returns the signed webhook request for an event.
#[expect(clippy::disallowed_methods, reason = "the receiver compares with the clock")]
fn signed(event: &str, id: &str) -> Request {
    let body = json!({"event": event, "envelope_id": id}).to_string();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let secret = STANDARD.decode(SECRET.strip_prefix("whsec_").unwrap()).unwrap();
    let key = hmac::Key::new(hmac::HMAC_SHA256, &secret);
    let mac = hmac::sign(&key, format!("{id}.{now}.{body}").as_bytes());
    let headers = vec![
        ("webhook-id", id.to_owned()),
        ("webhook-timestamp", now.to_string()),
        ("webhook-signature", format!("v1,{}", STANDARD.encode(mac))),
    ];
    (headers, body.into_bytes())
}

/// Serves an application on a free port.
async fn serve(app: Router) -> SocketAddr {
    let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(socket, app).await });
    address
}
