//! A mock service. Each of its responses contains secrets, also in members that the responses of the real service do
//! not have.

use std::{
    future::pending,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use axum::{
    Json, Router,
    body::{Body, Bytes},
    extract::{Request, State},
    http::{Response, StatusCode, Uri, header::CONTENT_TYPE},
    routing::get,
    serve::ListenerExt as _,
};
use futures_util::SinkExt as _;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{net::TcpListener, sync::Notify};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{Message, handshake::derive_accept_key, protocol::Role},
};

pub(crate) const ALICE: &str = "ak_01h455vb4pex5vsknk084sn02q";
pub(crate) const BOB: &str = "ak_01h455vb4pex5vsknk084sn02r";
pub(crate) const ENVELOPE: &str = "env_01h455vb4pex5vsknk084sn02q";
const ACCOUNT: &str = "acct_01h455vb4pex5vsknk084sn02q";
const WEBHOOK: &str = "wh_01h455vb4pex5vsknk084sn02q";
const TIME: &str = "2026-01-01T00:00:00.000Z";

/// The secrets that the service sends.
pub(crate) const SECRETS: [&str; 5] = [
    "ls_4YdTz0Rk2vQmXb7Lw9PcNhGfJs6KaE8u1oViDy3WtBx",
    "rc_4YdTz0Rk2vQmXb7Lw9PcNhGfJs6KaE8u1oViDy3WtBx",
    "kt_4YdTz0Rk2vQmXb7Lw9PcNhGfJs6KaE8u1oViDy3WtBx",
    "st_4YdTz0Rk2vQmXb7Lw9PcNhGfJs6KaE8u1oViDy3WtBx",
    "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDC2FVsBQI",
];

/// The state of the mock service.
#[derive(Clone, Default)]
pub(crate) struct Service {
    /// The text of each opened message, and the label of each identity.
    pub(crate) text: Arc<Mutex<String>>,
    /// The requests so far: path and body.
    pub(crate) requests: Arc<Mutex<Vec<(String, Value)>>>,
    /// The responses of the receiver to the events so far.
    pub(crate) confirmed: Arc<Mutex<Vec<Value>>>,
    /// If set, the WebSocket connections of relays get no events. This number of connections is closed at once, and
    /// later connections stay open.
    pub(crate) lost_relays: Arc<Mutex<Option<usize>>>,
    pub(crate) webhooks: Arc<Mutex<Vec<Value>>>,
    /// While the test holds this lock, activations get no response.
    pub(crate) activations: Arc<tokio::sync::Mutex<()>>,
    /// If set, relays do not answer the close frame, so that a wait takes half a second longer.
    pub(crate) ignores_close: Arc<AtomicBool>,
    /// Notified when the event of a message is confirmed.
    pub(crate) confirmation: Arc<Notify>,
}

impl Service {
    /// Starts the service, and returns its URL.
    pub(crate) async fn start(&self) -> String {
        let app = Router::new()
            .route("/v1/webhooks/relay", get(relay))
            .fallback(respond)
            .with_state(self.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let listener = listener.tap_io(|stream| stream.set_nodelay(true).unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await });
        url
    }

    pub(crate) fn paths(&self) -> Vec<String> {
        self.requests.lock().unwrap().iter().map(|(path, _)| path.clone()).collect()
    }

    fn response(&self, path: &str, body: &Value) -> Value {
        let text = self.text.lock().unwrap().clone();
        let metadata = json!({"payload_size_bytes": 1, "timestamp": TIME});
        let sealed = json!({"algorithm": "a", "status": "sealed"});
        let window = json!({"limit": 20, "used": 1, "remaining": 19, "resets_at": TIME});
        match path {
            "/v1/did/activate" => json!({
                "api_key_id": ALICE, "label": body["label"], "handle": body["handle"], "did": "did:key:z6Mk",
                "status": "active", "plan": "explorer", "account_id": ACCOUNT, "created_at": TIME,
            }),
            "/v1/did/status" => json!({
                "api_key_id": ALICE, "label": "Alice", "handle": "alice", "did": "did:key:z6Mk", "status": "active",
                "plan": "explorer", "account_id": ACCOUNT, "created_at": TIME, "governance": {"blocked": false},
                "usage": {"minute": window, "day": window, "month": window}, "throughput_per_second": 10,
                "webhooks": 0, "waiting": 0, "waiting_more": false,
            }),
            "/v1/did/resolve" => {
                json!({"api_key_id": BOB, "handle": "bob", "label": text, "active": true})
            }
            "/v1/did/policy" => json!({
                "accept": "anyone", "receipts": "notified", "listed": true, "allowed": [BOB], "blocked": [],
            }),
            "/v1/channel/send" => json!({
                "envelope_id": ENVELOPE, "envelope_hash": "sha256:0", "status": "delivered", "sender": ALICE,
                "recipient": BOB, "state": "sent", "encryption": sealed, "metadata": metadata,
            }),
            "/v1/channel/open" => json!({
                "envelope_id": ENVELOPE, "envelope_hash": "sha256:0", "sender": BOB, "sender_handle": "bob",
                "message": text, "thread": "t", "reply_to": null, "type": null, "encryption": sealed,
                "metadata": metadata, "opened_at": TIME,
            }),
            "/v1/channel/receipt" => json!({
                "envelope_id": ENVELOPE, "recipient": BOB, "sent_at": TIME, "state": "opened", "thread": null,
                "reply_to": null, "type": null, "notified_at": TIME, "opened_at": TIME,
            }),
            "/v1/channel/list" => json!({
                "next_cursor": null,
                "envelopes": [{
                    "envelope_id": ENVELOPE, "recipient": BOB, "sent_at": TIME, "state": "opened", "thread": null,
                    "reply_to": null, "type": null,
                }],
            }),
            "/v1/webhooks/list" => json!({"webhooks": *self.webhooks.lock().unwrap()}),
            "/v1/webhooks/register" => {
                let webhook = json!({
                    "webhook_id": WEBHOOK, "api_key_id": ALICE, "url": body["url"], "events": body["events"],
                    "description": body["description"], "status": "enabled", "paused": false, "created_at": TIME,
                    "waiting": 1, "waiting_more": false,
                });
                self.webhooks.lock().unwrap().push(webhook.clone());
                webhook
            }
            _ => json!({}),
        }
    }
}

async fn respond(State(service): State<Service>, uri: Uri, body: Bytes) -> Response<Body> {
    let body: Value = serde_json::from_slice(&body).unwrap();
    let path = uri.path().to_owned();
    let mut response = service.response(&path, &body);
    if path == "/v1/did/activate" {
        drop(service.activations.lock().await);
    }
    service.requests.lock().unwrap().push((path, body.clone()));
    if body["to"] == "nobody" || body["id"] == "nobody" {
        let problem =
            json!({"status": 404, "code": "KEY_NOT_FOUND", "field": "to", "detail": "no such key"});
        return Response::builder()
            .status(StatusCode::NOT_FOUND)
            .header(CONTENT_TYPE, "application/problem+json")
            .body(problem.to_string().into())
            .unwrap();
    }
    let members = ["login_secret", "recovery_code", "token", "session_token", "secret"];
    for (member, secret) in members.into_iter().zip(SECRETS) {
        response[member] = secret.into();
    }
    let response = Json(response);
    axum::response::IntoResponse::into_response(response)
}

/// Accepts a connection of a relay. Sends a test event, and then the event of a message twice.
async fn relay(State(service): State<Service>, mut request: Request) -> Response<Body> {
    let key = request.headers()["Sec-WebSocket-Key"].clone();
    let upgrading = request.extensions_mut().remove::<OnUpgrade>().unwrap();
    tokio::spawn(async move {
        let stream = TokioIo::new(upgrading.await.unwrap());
        let mut socket = WebSocketStream::from_raw_socket(stream, Role::Server, None).await;
        let lost = *service.lost_relays.lock().unwrap();
        if let Some(number) = lost {
            *service.lost_relays.lock().unwrap() = Some(number.saturating_sub(1));
            if number == 0 {
                while futures_util::StreamExt::next(&mut socket).await.is_some() {}
            }
            return;
        }
        let test = json!({"event": "webhook.test", "event_id": "evt_1", "secret": SECRETS[4]});
        let event = json!({
            "event": "envelope.received", "envelope_id": ENVELOPE, "envelope_hash": "sha256:0", "sender": BOB,
            "sender_handle": "bob", "thread": "t", "metadata": {"timestamp": TIME}, "secret": SECRETS[4],
        });
        for (delivery, body) in [("1", test), ("2", event.clone()), ("3", event)] {
            let headers = json!({"webhook-signature": "v1,0"});
            let frame = json!({"delivery": delivery, "headers": headers, "body": body.to_string()});
            socket.send(Message::text(frame.to_string())).await.unwrap();
        }
        while let Some(Ok(Message::Text(frame))) = futures_util::StreamExt::next(&mut socket).await
        {
            let response: Value = serde_json::from_str(&frame).unwrap();
            let is_message = response["delivery"] == "2";
            service.confirmed.lock().unwrap().push(response);
            if is_message {
                service.confirmation.notify_one();
            }
        }
        if service.ignores_close.load(Ordering::SeqCst) {
            pending::<()>().await;
        }
        // Sends the close frame that answers the one of the client.
        socket.flush().await.ok();
    });
    Response::builder()
        .status(StatusCode::SWITCHING_PROTOCOLS)
        .header("Connection", "Upgrade")
        .header("Upgrade", "websocket")
        .header("Sec-WebSocket-Accept", derive_accept_key(key.as_bytes()))
        .body(Body::empty())
        .unwrap()
}
