//! The receiver of webhook requests, in one thread. Records the time of each request, responds with 204 at
//! once or after a delay, and checks the signature of a sample. Checking all signatures would cost more than
//! receiving.

use std::{
    collections::{HashMap, VecDeque},
    io::{ErrorKind, Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use sealpost_domain::EnvelopeId;
use sealpost_wallet::WebhookSecret;
use sealpost_webhooks::{SignedHeaders, verify};

use crate::{
    measure::{clock::now, cpu},
    poller::Poller,
    wire::{Frame, frame},
};

pub(crate) struct Receiver {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// A received webhook request: the envelope and the time.
pub(crate) type Arrival = (EnvelopeId, Instant);

struct Shared {
    secrets: Vec<WebhookSecret>,
    arrivals: Mutex<Vec<Arrival>>,
    count: AtomicU64,
    checked: AtomicU64,
    cpu_us: AtomicU64,
    delay_ms: AtomicU64,
    waiting: AtomicUsize,
    is_over: AtomicBool,
}

impl Receiver {
    /// Starts a receiver on a free loopback port with this number of targets, each with its own secret.
    pub(crate) fn start(targets: usize) -> Self {
        Self::start_on(Ipv4Addr::LOCALHOST, targets)
    }

    /// Starts a receiver on this loopback address.
    pub(crate) fn start_on(address: Ipv4Addr, targets: usize) -> Self {
        let listener = TcpListener::bind((address, 0)).expect("a port is free");
        // Many targets connect at once. A connection without room in the backlog is retried only after a
        // second.
        rustix::net::listen(&listener, 4096).expect("the socket listens");
        listener.set_nonblocking(true).expect("the socket is open");
        let address = listener.local_addr().expect("the socket is bound");
        let secret = |_| WebhookSecret::generate().expect("there is randomness");
        let shared = Arc::new(Shared {
            secrets: (0..targets).map(secret).collect(),
            arrivals: Mutex::default(),
            count: AtomicU64::new(0),
            checked: AtomicU64::new(0),
            cpu_us: AtomicU64::new(0),
            delay_ms: AtomicU64::new(0),
            waiting: AtomicUsize::new(0),
            is_over: AtomicBool::new(false),
        });
        let desk = ReceiverThread {
            listener,
            shared: Arc::clone(&shared),
            open: HashMap::new(),
            next: 1,
            waiting: VecDeque::new(),
        };
        let thread = thread::Builder::new().name("receiver".to_owned()).spawn(|| desk.run());
        Self { address, shared, thread: Some(thread.expect("a thread can be started")) }
    }

    pub(crate) fn url(&self, target: usize) -> String {
        format!("http://{}/{target}", self.address)
    }

    pub(crate) fn secret(&self, target: usize) -> &WebhookSecret {
        self.shared.secrets.get(target).expect("there is such a target")
    }

    /// Returns the number of requests so far.
    pub(crate) fn count(&self) -> u64 {
        self.shared.count.load(Ordering::Relaxed)
    }

    /// Sets the time from a request to its response, also for requests that wait now.
    pub(crate) fn delay(&self, delay: Duration) {
        let delay_ms = u64::try_from(delay.as_millis()).expect("a short time");
        self.shared.delay_ms.store(delay_ms, Ordering::Relaxed);
    }

    /// Returns the number of requests that wait for their response.
    pub(crate) fn waiting(&self) -> usize {
        self.shared.waiting.load(Ordering::Relaxed)
    }

    /// Returns the number of checked signatures.
    pub(crate) fn checked(&self) -> u64 {
        self.shared.checked.load(Ordering::Relaxed)
    }

    /// Returns the CPU time of receiving so far.
    pub(crate) fn cpu(&self) -> Duration {
        Duration::from_micros(self.shared.cpu_us.load(Ordering::Relaxed))
    }

    /// Returns a handle that records deliveries of relays to targets of this receiver.
    pub(crate) fn recorder(&self) -> Recorder {
        Recorder(Arc::clone(&self.shared))
    }

    /// Returns the requests since the last call.
    pub(crate) fn take(&self) -> Vec<Arrival> {
        let is_alive = self.thread.as_ref().is_some_and(|thread| !thread.is_finished());
        assert!(is_alive, "the receiver stopped at an invalid webhook request");
        std::mem::take(&mut *self.shared.arrivals.lock().expect("the receiver runs"))
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        // A panicked thread has printed its message.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

/// Records deliveries that did not come as HTTP requests.
pub(crate) struct Recorder(Arc<Shared>);

impl Recorder {
    pub(crate) fn record(
        &self,
        target: usize,
        headers: &SignedHeaders<'_>,
        body: &[u8],
        at: Instant,
    ) {
        let id = self.0.receive(target, headers, body);
        self.0.arrivals.lock().expect("the receiver runs").push((id, at));
        self.0.count.fetch_add(1, Ordering::Relaxed);
    }
}

/// The state of the receiving thread.
struct ReceiverThread {
    listener: TcpListener,
    shared: Arc<Shared>,
    open: HashMap<usize, PeerConnection>,
    next: usize,
    /// Requests without a response: the time of arrival and the connection.
    waiting: VecDeque<(Instant, usize)>,
}

/// One connection of a dispatcher.
struct PeerConnection {
    stream: TcpStream,
    buffer: Vec<u8>,
    filled: usize,
}

impl ReceiverThread {
    fn run(mut self) {
        let mut poller = Poller::new();
        poller.watch(&self.listener, LISTENER);
        while !self.shared.is_over.load(Ordering::Relaxed) {
            let mut arrivals = Vec::new();
            for token in poller.wait(self.pause()) {
                if token == LISTENER {
                    self.accept(&poller);
                } else {
                    self.serve(token, &mut arrivals);
                }
            }
            self.respond_late();
            let count = u64::try_from(arrivals.len()).unwrap_or(u64::MAX);
            self.shared.arrivals.lock().expect("the receiver runs").append(&mut arrivals);
            self.shared.count.fetch_add(count, Ordering::Relaxed);
            let cpu_us = u64::try_from(cpu::of_this_thread().as_micros()).unwrap_or(u64::MAX);
            self.shared.cpu_us.store(cpu_us, Ordering::Relaxed);
        }
    }

    fn accept(&mut self, poller: &Poller) {
        while let Ok((stream, _)) = self.listener.accept() {
            stream.set_nonblocking(true).expect("the socket is open");
            stream.set_nodelay(true).expect("the socket is open");
            poller.watch(&stream, self.next);
            self.open.insert(
                self.next,
                PeerConnection { stream, buffer: vec![0; BUFFER_LEN], filled: 0 },
            );
            self.next += 1;
        }
    }

    fn serve(&mut self, token: usize, arrivals: &mut Vec<Arrival>) {
        let Some(line) = self.open.get_mut(&token) else { return };
        if !line.read() {
            self.open.remove(&token);
            return;
        }
        while let Some(request) = line.buffer.get(..line.filled).and_then(frame) {
            let now = Instant::now();
            let headers = signed_headers(&request);
            arrivals.push((self.shared.receive(target(&request), &headers, request.body), now));
            let length = request.length;
            line.buffer.copy_within(length..line.filled, 0);
            line.filled -= length;
            if !self.shared.delay().is_zero() {
                self.waiting.push_back((now, token));
            } else if !line.respond() {
                self.open.remove(&token);
                return;
            }
        }
    }

    /// Sends the responses after their delay.
    fn respond_late(&mut self) {
        let (now, delay) = (Instant::now(), self.shared.delay());
        while let Some((_, token)) =
            self.waiting.pop_front_if(|(arrived, _)| *arrived + delay <= now)
        {
            if let Some(line) = self.open.get_mut(&token)
                && !line.respond()
            {
                self.open.remove(&token);
            }
        }
        self.shared.waiting.store(self.waiting.len(), Ordering::Relaxed);
    }

    /// Returns the time until the next late response, at most [`LOOK_UP_EVERY`].
    fn pause(&self) -> Duration {
        let due = self.waiting.front().map(|(arrived, _)| *arrived + self.shared.delay());
        due.map_or(LOOK_UP_EVERY, |due| due.saturating_duration_since(Instant::now()))
            .min(LOOK_UP_EVERY)
    }
}

impl PeerConnection {
    /// Reads available data. Returns `false` if the connection is closed.
    fn read(&mut self) -> bool {
        let room = self.buffer.get_mut(self.filled..).expect("the fill level is inside the buffer");
        match self.stream.read(room) {
            Ok(read) => {
                self.filled += read;
                read > 0
            }
            Err(error) => error.kind() == ErrorKind::WouldBlock,
        }
    }

    /// Sends a response. Returns `false` if the connection is closed: the server under test may end at any time.
    fn respond(&mut self) -> bool {
        self.stream.write_all(RESPONSE).is_ok()
    }
}

impl Shared {
    fn delay(&self) -> Duration {
        Duration::from_millis(self.delay_ms.load(Ordering::Relaxed))
    }

    /// Returns the id of a signed body. Checks the signature of a sample.
    fn receive(&self, target: usize, headers: &SignedHeaders<'_>, body: &[u8]) -> EnvelopeId {
        if self.count.load(Ordering::Relaxed).is_multiple_of(SAMPLE) {
            self.check(target, headers, body);
            self.checked.fetch_add(1, Ordering::Relaxed);
        }
        headers.id.parse().expect("the id of a webhook request is an envelope id")
    }

    fn check(&self, target: usize, headers: &SignedHeaders<'_>, body: &[u8]) {
        let secret = self.secrets.get(target).expect("there is such a target");
        verify(secret, headers, body, now()).expect("the signature is right");
        let body: serde_json::Value = serde_json::from_slice(body).expect("a body is JSON");
        let told = |name: &str| body.get(name).and_then(serde_json::Value::as_str);
        assert_eq!(told("event"), Some("envelope.received"));
        assert_eq!(told("envelope_id"), Some(headers.id));
    }
}

/// Returns the headers of the signature of a webhook request.
fn signed_headers<'a>(request: &Frame<'a>) -> SignedHeaders<'a> {
    let header = |name| request.header(name).expect("a webhook request is signed");
    SignedHeaders {
        id: header("webhook-id"),
        timestamp: header("webhook-timestamp"),
        signature: header("webhook-signature"),
    }
}

/// Returns the target in the path of a request.
fn target(request: &Frame<'_>) -> usize {
    request.path().trim_start_matches('/').parse().expect("a target's path")
}

/// At least one in this number of requests is checked. Requests of one read share a check.
const SAMPLE: u64 = 64;
const LISTENER: usize = 0;
const BUFFER_LEN: usize = 4 * 1024;
const LOOK_UP_EVERY: Duration = Duration::from_millis(100);
const RESPONSE: &[u8] = b"HTTP/1.1 204 No Content\r\n\r\n";
