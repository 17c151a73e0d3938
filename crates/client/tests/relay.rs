//! Tests of relays against a mock service in this process.

#![cfg(test)]

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, Response, StatusCode, header::UPGRADE},
    routing::{get, post},
};
use futures_util::{SinkExt as _, StreamExt as _};
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use sealpost_client::{
    Client, ClientBuilder, ClientError, Code, HandlerError, Login, Relay, RelayResponse,
    RelayedRequest, RetryPolicy,
};
use serde_json::{Value, json};
use tokio::{
    net::TcpListener,
    sync::{Notify, Semaphore, mpsc, oneshot},
    task::JoinHandle,
    time::timeout,
};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Message,
        handshake::derive_accept_key,
        protocol::{CloseFrame, Role},
    },
};

const ACCOUNT: &str = "acct_01h455vb4pex5vsknk084sn02q";
const KEY: &str = "ak_01h455vb4pex5vsknk084sn02q";
const WEBHOOK: &str = "wh_01h455vb4pex5vsknk084sn02q";

#[tokio::test]
async fn each_delivery_gets_the_response_of_the_handler() {
    let mut service = Service::start([]).await;
    let relay = service.with_token().relay(WEBHOOK.parse().unwrap(), |request| async move {
        assert_eq!(request.headers["webhook-id"], "env_1");
        match &*request.body {
            "fail" => Err(HandlerError::from("no")),
            "panic" => panic!("an expected panic of this test"),
            "later" => {
                Ok(RelayResponse { status: 429, retry_after: Some(7), body: Some("busy".into()) })
            }
            "long" => Ok(RelayResponse { body: Some("é".repeat(70_000)), ..200.into() }),
            _ => Ok(204.into()),
        }
    });
    let running = Running::start(relay);
    let mut socket = service.accepted().await;
    let deliveries = [("1", "ok"), ("2", "fail"), ("3", "panic"), ("4", "later"), ("5", "long")];
    for (delivery, body) in deliveries {
        deliver(&mut socket, delivery, body).await;
        let expected = match body {
            "ok" => json!({"delivery": "1", "status": 204}),
            "later" => {
                json!({"delivery": "4", "status": 429, "retry_after": 7, "body": "busy"})
            }
            "long" => json!({"delivery": "5", "status": 200, "body": "é".repeat(1024)}),
            _ => json!({"delivery": delivery, "status": 500}),
        };
        assert_eq!(response(&mut socket).await, expected);
    }
    assert_eq!(service.tries(), [format!("Bearer kt_1 {KEY} webhook_id={WEBHOOK}")]);
    running.stop().await.unwrap();
}

#[tokio::test]
async fn at_most_32_handlers_run_at_the_same_time() {
    let mut service = Service::start([]).await;
    let (running_now, highest) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let gate = Arc::new(Semaphore::new(0));
    let (counter, peak, closed) =
        (Arc::clone(&running_now), Arc::clone(&highest), Arc::clone(&gate));
    let relay = service.with_token().relay(WEBHOOK.parse().unwrap(), move |_request| {
        let (counter, peak, closed) =
            (Arc::clone(&counter), Arc::clone(&peak), Arc::clone(&closed));
        async move {
            peak.fetch_max(counter.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            drop(closed.acquire().await?);
            counter.fetch_sub(1, Ordering::SeqCst);
            Ok(204.into())
        }
    });
    let running = Running::start(relay);
    let mut socket = service.accepted().await;
    for delivery in 0..40 {
        deliver(&mut socket, &delivery.to_string(), "event").await;
    }
    for _ in 0..8 {
        assert_eq!(response(&mut socket).await["status"], 503, "the service exceeds the bound");
    }
    gate.add_permits(40);
    for _ in 0..32 {
        assert_eq!(response(&mut socket).await["status"], 204);
    }
    assert_eq!(highest.load(Ordering::SeqCst), 32);
    running.stop().await.unwrap();
}

#[tokio::test]
async fn a_refusal_ends_the_relay_unless_a_later_try_can_succeed() {
    for (status, code) in [
        (400, Code::InvalidField),
        (401, Code::Unauthorized),
        (403, Code::KeyInactive),
        (403, Code::QuotaExceeded),
        (404, Code::WebhookNotFound),
    ] {
        let service = Service::start([(status, code)]).await;
        let refused = service.relay().run_until(std::future::pending()).await.unwrap_err();
        assert_eq!(refused.code(), Some(code));
        assert_eq!(service.tries().len(), 1);
    }
    let temporary = [
        (503, Code::ServiceUnavailable),
        (429, Code::RateLimitExceeded),
        (500, Code::InternalError),
    ];
    let mut service = Service::start(temporary).await;
    let running = Running::start(service.relay());
    service.accepted().await;
    assert_eq!(service.tries().len(), 4);
    running.stop().await.unwrap();
}

#[tokio::test]
async fn a_client_with_a_login_secret_logs_in_again() {
    let mut service = Service::start([]).await;
    let login = Login::new(ACCOUNT.parse().unwrap(), "ls_1");
    let client = service.builder().login(login).build().unwrap();
    let relay = client.relay(WEBHOOK.parse().unwrap(), |_request| async { Ok(204.into()) });
    let running = Running::start(relay);
    let mut socket = service.accepted().await;
    service.plan((401, Code::Unauthorized));
    close(&mut socket, 1008, "the session has ended").await;
    service.accepted().await;
    let tokens: Vec<_> =
        service.tries().iter().map(|line| line.chars().take(11).collect::<String>()).collect();
    assert_eq!(tokens, ["Bearer st_1", "Bearer st_1", "Bearer st_2"]);
    running.stop().await.unwrap();
}

#[tokio::test]
async fn a_close_with_a_lasting_reason_ends_the_relay() {
    let mut service = Service::start([]).await;
    let running = Running::start(service.relay());
    let mut socket = service.accepted().await;
    service.plan((401, Code::Unauthorized));
    close(&mut socket, 1008, "the token was revoked").await;
    assert_eq!(running.ended().await.unwrap_err().code(), Some(Code::Unauthorized));

    // The second connection must end before it has lasted as long as the pause before it. Otherwise the relay would
    // reset its counter of closes.
    let retry = RetryPolicy { first_pause: Duration::from_secs(1), ..RetryPolicy::default() };
    let client = service.builder().retry(retry).token("kt_1").build().unwrap();
    let relay = client.relay(WEBHOOK.parse().unwrap(), |_request| async { Ok(204.into()) });
    let running = Running::start(relay);
    for _ in 0..2 {
        close(&mut service.accepted().await, 1008, "no").await;
    }
    let ended = running.ended().await.unwrap_err();
    assert_eq!(ended.to_string(), "the relay was closed: no");
    assert!(matches!(ended, ClientError::RelayClosed { code: Some(1008), .. }));
}

#[tokio::test]
async fn a_close_after_silence_never_ends_the_relay() {
    let mut service = Service::start([]).await;
    // Each connection must end before it has lasted as long as the pause before it. Otherwise the relay would reset
    // its counter of closes.
    let (first_pause, pause_max) = (Duration::from_millis(500), Duration::from_millis(500));
    let retry = RetryPolicy { first_pause, pause_max, ..RetryPolicy::default() };
    let client = service.builder().retry(retry).token("kt_1").build().unwrap();
    let relay = client.relay(WEBHOOK.parse().unwrap(), |_request| async { Ok(204.into()) });
    let running = Running::start(relay);
    for _ in 0..3 {
        let accepted = timeout(Duration::from_secs(30), service.accepted()).await;
        close(&mut accepted.unwrap(), 1008, "the receiver was silent for 60 seconds").await;
    }
    running.stop().await.unwrap();
}

#[tokio::test]
async fn a_lost_connection_is_replaced_and_its_responses_are_dropped() {
    let mut service = Service::start([]).await;
    let gate = Arc::new(Notify::new());
    let opened = Arc::clone(&gate);
    let relay = service.with_token().relay(WEBHOOK.parse().unwrap(), move |request| {
        let opened = Arc::clone(&opened);
        async move {
            if request.body == "slow" {
                opened.notified().await;
            }
            Ok(204.into())
        }
    });
    let running = Running::start(relay);
    let mut first = service.accepted().await;
    deliver(&mut first, "1", "slow").await;
    deliver(&mut first, "2", "fast").await;
    assert_eq!(response(&mut first).await["delivery"], "2");
    drop(first);
    // Refuses the next connection, like a service that still counts the lost connection against its limit.
    service.plan((403, Code::QuotaExceeded));
    let mut second = service.accepted().await;
    gate.notify_one();
    deliver(&mut second, "1", "fast").await;
    deliver(&mut second, "2", "fast").await;
    let mut answered = [response(&mut second).await, response(&mut second).await];
    answered.sort_by_key(|response| response["delivery"].to_string());
    assert_eq!(answered[0]["delivery"], "1");
    assert_eq!(answered[1]["delivery"], "2");
    running.stop().await.unwrap();
    assert!(closing(&mut second).await, "nothing else was sent before the close frame");
}

#[tokio::test]
async fn a_stop_lets_running_handlers_finish() {
    let mut service = Service::start([]).await;
    let (running_now, gate) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (signal, opened) = (Arc::clone(&running_now), Arc::clone(&gate));
    let relay = service.with_token().relay(WEBHOOK.parse().unwrap(), move |_request| {
        let (signal, opened) = (Arc::clone(&signal), Arc::clone(&opened));
        async move {
            signal.notify_one();
            opened.notified().await;
            Ok(200.into())
        }
    });
    let running = Running::start(relay);
    let mut socket = service.accepted().await;
    deliver(&mut socket, "1", "event").await;
    running_now.notified().await;
    let stopped = tokio::spawn(running.stop());
    gate.notify_one();
    assert_eq!(response(&mut socket).await, json!({"delivery": "1", "status": 200}));
    assert!(closing(&mut socket).await);
    stopped.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_final_refusal_lets_running_handlers_finish() {
    let mut service = Service::start([]).await;
    let (running_now, gate) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (signal, opened) = (Arc::clone(&running_now), Arc::clone(&gate));
    let finished = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&finished);
    let relay = service.with_token().relay(WEBHOOK.parse().unwrap(), move |_request| {
        let (signal, opened) = (Arc::clone(&signal), Arc::clone(&opened));
        let counter = Arc::clone(&counter);
        async move {
            signal.notify_one();
            opened.notified().await;
            counter.fetch_add(1, Ordering::SeqCst);
            Ok(200.into())
        }
    });
    let mut running = Running::start(relay);
    let mut socket = service.accepted().await;
    deliver(&mut socket, "1", "event").await;
    running_now.notified().await;
    service.plan((404, Code::WebhookNotFound));
    drop(socket);
    // A relay that did not wait for its handler would return within this time.
    let early = timeout(Duration::from_millis(200), &mut running.task).await;
    assert!(early.is_err(), "the relay returned before its handler");
    gate.notify_one();
    assert_eq!(running.ended().await.unwrap_err().code(), Some(Code::WebhookNotFound));
    assert_eq!(finished.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn pings_and_unknown_frames_do_not_disturb() {
    let mut service = Service::start([]).await;
    let running = Running::start(service.relay());
    let mut socket = service.accepted().await;
    socket.send(Message::Ping("x".into())).await.unwrap();
    socket.send(Message::text(r#"{"news": true}"#)).await.unwrap();
    assert!(matches!(socket.next().await, Some(Ok(Message::Pong(_)))));
    deliver(&mut socket, "1", "event").await;
    assert_eq!(response(&mut socket).await["status"], 204);
    running.stop().await.unwrap();
}

type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// A mock service that refuses connections with the given statuses and codes in order, and accepts all later
/// connections.
struct Service {
    url: String,
    shared: Shared,
    accepted: mpsc::UnboundedReceiver<Socket>,
}

#[derive(Clone)]
struct Shared {
    refusals: Arc<Mutex<VecDeque<(u16, Code)>>>,
    /// The token, the key and the query of each try.
    tries: Arc<Mutex<Vec<String>>>,
    logins: Arc<AtomicUsize>,
    accepted: mpsc::UnboundedSender<Socket>,
}

impl Service {
    async fn start(refusals: impl IntoIterator<Item = (u16, Code)>) -> Self {
        let (sender, accepted) = mpsc::unbounded_channel();
        let shared = Shared {
            refusals: Arc::new(Mutex::new(refusals.into_iter().collect())),
            tries: Arc::default(),
            logins: Arc::default(),
            accepted: sender,
        };
        let app = Router::new()
            .route("/v1/auth/login", post(log_in))
            .route("/v1/webhooks/relay", get(upgrade))
            .with_state(shared.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { url, shared, accepted }
    }

    fn builder(&self) -> ClientBuilder {
        let retry = RetryPolicy {
            first_pause: Duration::from_millis(2),
            pause_max: Duration::from_millis(20),
            ..RetryPolicy::default()
        };
        Client::builder(&self.url).api_key(KEY.parse().unwrap()).retry(retry)
    }

    fn with_token(&self) -> Client {
        self.builder().token("kt_1").build().unwrap()
    }

    /// A relay whose handler responds to every delivery with 204.
    fn relay(&self) -> Relay {
        let accept = |_request: RelayedRequest| async { Ok(204.into()) };
        self.with_token().relay(WEBHOOK.parse().unwrap(), accept)
    }

    fn plan(&self, refusal: (u16, Code)) {
        self.shared.refusals.lock().unwrap().push_back(refusal);
    }

    fn tries(&self) -> Vec<String> {
        self.shared.tries.lock().unwrap().clone()
    }

    async fn accepted(&mut self) -> Socket {
        self.accepted.recv().await.unwrap()
    }
}

async fn log_in(State(shared): State<Shared>) -> axum::Json<Value> {
    let number = shared.logins.fetch_add(1, Ordering::SeqCst) + 1;
    axum::Json(json!({"session_token": format!("st_{number}")}))
}

async fn upgrade(State(shared): State<Shared>, mut request: Request) -> Response<Body> {
    let header = |name| text(request.headers(), name);
    let query = request.uri().query().unwrap_or_default();
    let line = format!("{} {} {query}", header("Authorization"), header("X-DID-API-Key"));
    shared.tries.lock().unwrap().push(line);
    let refusal = shared.refusals.lock().unwrap().pop_front();
    if let Some((status, code)) = refusal {
        let problem = json!({"status": status, "code": code.as_str(), "detail": "d"});
        let response = Response::builder().status(status);
        let response = response.header("Content-Type", "application/problem+json");
        return response.body(problem.to_string().into()).unwrap();
    }
    assert_eq!(header("Sec-WebSocket-Version"), "13");
    let accept = derive_accept_key(header("Sec-WebSocket-Key").as_bytes());
    let upgrading = request.extensions_mut().remove::<OnUpgrade>().unwrap();
    tokio::spawn(async move {
        let stream = TokioIo::new(upgrading.await.unwrap());
        let socket = WebSocketStream::from_raw_socket(stream, Role::Server, None).await;
        // The test may have ended.
        shared.accepted.send(socket).ok();
    });
    Response::builder()
        .status(StatusCode::SWITCHING_PROTOCOLS)
        .header("Connection", "Upgrade")
        .header(UPGRADE, "websocket")
        .header("Sec-WebSocket-Accept", accept)
        .body(Body::empty())
        .unwrap()
}

fn text(headers: &HeaderMap, name: &str) -> String {
    headers.get(name).map_or_else(String::new, |value| value.to_str().unwrap().to_owned())
}

/// A relay that runs in a task of its own.
struct Running {
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<(), ClientError>>,
}

impl Running {
    fn start(relay: Relay) -> Self {
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(relay.run_until(async { drop(stopped.await) }));
        Self { stop, task }
    }

    async fn stop(self) -> Result<(), ClientError> {
        self.stop.send(()).unwrap();
        self.task.await.unwrap()
    }

    async fn ended(self) -> Result<(), ClientError> {
        self.task.await.unwrap()
    }
}

async fn deliver(socket: &mut Socket, delivery: &str, body: &str) {
    let headers = json!({"webhook-id": "env_1"});
    let frame = json!({"delivery": delivery, "headers": headers, "body": body});
    socket.send(Message::text(frame.to_string())).await.unwrap();
}

async fn response(socket: &mut Socket) -> Value {
    let Some(Ok(Message::Text(frame))) = socket.next().await else { panic!("no response") };
    serde_json::from_str(&frame).unwrap()
}

/// Closes the connection as the service does.
async fn close(socket: &mut Socket, code: u16, reason: &'static str) {
    let frame = CloseFrame { code: code.into(), reason: reason.into() };
    socket.close(Some(frame)).await.unwrap();
}

/// Returns whether the next frame is a close frame.
async fn closing(socket: &mut Socket) -> bool {
    matches!(socket.next().await, Some(Ok(Message::Close(_))))
}
