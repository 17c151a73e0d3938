//! A webhook receiver that records requests, and responds as the test case requires.

pub(crate) mod signed;
pub(crate) mod tls;

use std::{
    io::{BufRead, BufReader, Read as _, Write as _},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use standardwebhooks::Webhook;
use ureq::http::{HeaderMap, HeaderName};

use super::{SOON, eventually};

/// The reaction of the receiver to a request.
#[derive(Debug, Clone)]
pub(crate) enum Reaction {
    /// Responds with this status and an empty body.
    Status(u16),
    /// Closes the connection without a response.
    Close,
    /// Sends no response until the test calls [`Receiver::go_on`], then responds with 204.
    Hang,
    /// Never responds, and keeps the connection open.
    Ignore,
    /// Responds with a head and a body. The text is the head: the status line without the HTTP version, and further
    /// headers. The bytes are the body.
    Exactly(String, Vec<u8>),
}

/// One received webhook request.
#[derive(Debug, Clone)]
pub(crate) struct WebhookRequest {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    pub(crate) has_response: bool,
    /// The time of receipt.
    pub(crate) at: Instant,
}

/// A receiver on a free loopback port.
pub(crate) struct Receiver {
    pub(crate) url: String,
    address: SocketAddr,
    state: Arc<State>,
}

struct State {
    /// Returns the reaction to a request. The argument is the number of the request, from 0.
    react: Box<dyn Fn(usize) -> Reaction + Send + Sync>,
    seen: Mutex<Seen>,
    going_on: Condvar,
}

#[derive(Default)]
struct Seen {
    requests: Vec<WebhookRequest>,
    connections: Vec<TcpStream>,
    goes_on: bool,
    is_over: bool,
}

impl Receiver {
    /// Starts a receiver that responds to every request with 204.
    pub(crate) fn start() -> Self {
        Self::reacting(|_| Reaction::Status(204))
    }

    /// Starts a receiver with these reactions. `react` gets the number of the request, from 0.
    pub(crate) fn reacting(react: impl Fn(usize) -> Reaction + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (seen, going_on) = (Mutex::default(), Condvar::new());
        let state = Arc::new(State { react: Box::new(react), seen, going_on });
        let shared = Arc::clone(&state);
        thread::spawn(move || accept(&listener, &shared));
        Self { url: format!("http://{address}/hook"), address, state }
    }

    /// Returns the requests received so far.
    pub(crate) fn requests(&self) -> Vec<WebhookRequest> {
        self.state.seen.lock().unwrap().requests.clone()
    }

    /// Waits until at least this many requests have arrived.
    #[track_caller]
    pub(crate) fn await_requests(&self, count: usize) -> Vec<WebhookRequest> {
        self.await_requests_within(count, SOON)
    }

    #[track_caller]
    pub(crate) fn await_requests_within(
        &self,
        count: usize,
        within: Duration,
    ) -> Vec<WebhookRequest> {
        eventually(&format!("{count} requests"), within, || {
            Some(self.requests()).filter(|requests| requests.len() >= count)
        })
    }

    /// Responds to all requests that wait because of [`Reaction::Hang`].
    pub(crate) fn go_on(&self) {
        self.state.seen.lock().unwrap().goes_on = true;
        self.state.going_on.notify_all();
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        if let Ok(mut seen) = self.state.seen.lock() {
            (seen.is_over, seen.goes_on) = (true, true);
            for connection in &seen.connections {
                // An error is ignored, because the peer may have closed the connection already.
                drop(connection.shutdown(Shutdown::Both));
            }
        }
        self.state.going_on.notify_all();
        // Wakes the thread that accepts connections, so that the thread sees the end of the receiver.
        drop(TcpStream::connect(self.address));
    }
}

impl WebhookRequest {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap_or_else(|| panic!("no {name}")).to_str().unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// Returns the value of the header `webhook-id`, the id of the event.
    pub(crate) fn id(&self) -> String {
        self.header("webhook-id").to_owned()
    }

    /// Verifies the signature with a library for Standard Webhooks. Also checks that `X-Service-Signature`, the
    /// service's own header, has the same value.
    #[track_caller]
    pub(crate) fn verify(&self, secret: &str) {
        assert!(secret.starts_with("whsec_"));
        Webhook::new(secret).unwrap().verify(&self.body, &self.headers).unwrap();
        assert_eq!(self.header("x-service-signature"), self.header("webhook-signature"));
    }
}

fn accept(listener: &TcpListener, state: &Arc<State>) {
    for connection in listener.incoming().map_while(Result::ok) {
        let mut seen = state.seen.lock().unwrap();
        if seen.is_over {
            return;
        }
        seen.connections.push(connection.try_clone().unwrap());
        drop(seen);
        let state = Arc::clone(state);
        thread::spawn(move || serve(&connection, &state));
    }
}

/// Serves the requests of one connection until either side closes it.
fn serve(connection: &TcpStream, state: &State) -> Option<()> {
    let mut reader = BufReader::new(connection);
    loop {
        let request = read(&mut reader)?;
        let number = {
            let mut seen = state.seen.lock().unwrap();
            seen.requests.push(request);
            seen.requests.len() - 1
        };
        let (head, body) = match (state.react)(number) {
            Reaction::Status(status) => (format!("{status} Whatever"), Vec::new()),
            Reaction::Close => return connection.shutdown(Shutdown::Both).ok(),
            Reaction::Exactly(head, body) => (head, body),
            Reaction::Hang => {
                let seen = state.seen.lock().unwrap();
                drop(state.going_on.wait_while(seen, |seen| !seen.goes_on).unwrap());
                ("204 No Content".to_owned(), Vec::new())
            }
            // Waits until the peer closes.
            Reaction::Ignore => return reader.read(&mut [0]).ok().map(drop),
        };
        let is_empty = head.starts_with("204");
        let length =
            if is_empty { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
        let response = [format!("HTTP/1.1 {head}\r\n{length}\r\n").as_bytes(), &body].concat();
        reader.get_mut().write_all(&response).ok()?;
        state.seen.lock().unwrap().requests[number].has_response = true;
    }
}

fn read(reader: &mut impl BufRead) -> Option<WebhookRequest> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
        if line.trim().is_empty() {
            break;
        }
        lines.push(line);
    }
    let path = lines.first()?.strip_prefix("POST ")?.split(' ').next()?.to_owned();
    let mut headers = HeaderMap::new();
    for line in lines.iter().skip(1) {
        let (name, value) = line.split_once(':')?;
        headers.append(HeaderName::from_bytes(name.as_bytes()).ok()?, value.trim().parse().ok()?);
    }
    let length: usize = headers.get("content-length")?.to_str().ok()?.parse().ok()?;
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some(WebhookRequest { path, headers, body, has_response: false, at: Instant::now() })
}
