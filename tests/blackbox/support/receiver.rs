//! A receiver of notices that writes down what it gets and reacts as the case wants.

pub(crate) mod signed;
pub(crate) mod tls;

use std::{
    io::{BufRead, BufReader, Read as _, Write},
    net::{Shutdown, SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex},
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;
use standardwebhooks::Webhook;
use ureq::http::{HeaderMap, HeaderName};

use super::{POLL_EVERY, SOON, eventually};

/// What becomes of a request.
#[derive(Debug, Clone)]
pub(crate) enum Reaction {
    /// This status, and nothing else.
    Answer(u16),
    /// The connection is closed without an answer.
    Close,
    /// These bytes, and then one more every few milliseconds for as long as anybody listens.
    Drip(&'static str),
    /// No answer until the receiver is told to go on; then 204.
    Hang,
    /// No answer, ever.
    Ignore,
    /// This head, without the line of the protocol's version, and this body.
    Exactly(String, Vec<u8>),
    /// A redirect there.
    Redirect(String),
}

/// One request as it came.
#[derive(Debug, Clone)]
pub(crate) struct Notice {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    pub(crate) is_answered: bool,
    /// When it came.
    pub(crate) at: Instant,
}

/// A receiver on a free loopback port.
pub(crate) struct Receiver {
    pub(crate) url: String,
    address: SocketAddr,
    state: Arc<State>,
}

struct State {
    /// How many connections are reset before any is served.
    resets: usize,
    /// From how many notices came before this one to what becomes of it.
    react: Box<dyn Fn(usize) -> Reaction + Send + Sync>,
    seen: Mutex<Seen>,
    going_on: Condvar,
}

#[derive(Default)]
struct Seen {
    notices: Vec<Notice>,
    connections: Vec<TcpStream>,
    resets: usize,
    goes_on: bool,
    is_over: bool,
}

impl Receiver {
    /// One that is content with everything.
    pub(crate) fn start() -> Self {
        Self::reacting(|_| Reaction::Answer(204))
    }

    /// One that reacts to the notice with this number, from 0, as `react` says.
    pub(crate) fn reacting(react: impl Fn(usize) -> Reaction + Send + Sync + 'static) -> Self {
        Self::after_resets(0, react)
    }

    /// One that resets so many connections first.
    pub(crate) fn after_resets(
        resets: usize,
        react: impl Fn(usize) -> Reaction + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (seen, going_on) = (Mutex::default(), Condvar::new());
        let state = Arc::new(State { resets, react: Box::new(react), seen, going_on });
        let shared = Arc::clone(&state);
        thread::spawn(move || accept(&listener, &shared));
        Self { url: format!("http://{address}/hook"), address, state }
    }

    /// What has come.
    pub(crate) fn notices(&self) -> Vec<Notice> {
        self.state.seen.lock().unwrap().notices.clone()
    }

    /// Waits until this many have come.
    #[track_caller]
    pub(crate) fn await_notices(&self, count: usize) -> Vec<Notice> {
        self.await_notices_within(count, SOON)
    }

    #[track_caller]
    pub(crate) fn await_notices_within(&self, count: usize, within: Duration) -> Vec<Notice> {
        eventually(&format!("{count} notices"), within, || {
            Some(self.notices()).filter(|notices| notices.len() >= count)
        })
    }

    /// Lets every request that hangs have its answer.
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
                // One that the other side has closed already.
                drop(connection.shutdown(Shutdown::Both));
            }
        }
        self.state.going_on.notify_all();
        // Wakes the thread that accepts, so that it sees that all is over.
        drop(TcpStream::connect(self.address));
    }
}

impl Notice {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).unwrap_or_else(|| panic!("no {name}")).to_str().unwrap()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    /// What `webhook-id` says.
    pub(crate) fn id(&self) -> String {
        self.header("webhook-id").to_owned()
    }

    /// Verifies the signature as any library of Standard Webhooks does, and that the service's own header has it too.
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
        if seen.resets < state.resets {
            seen.resets += 1;
            drop(seen);
            // To throw away unread what has come makes it a reset.
            drop(connection.peek(&mut [0]));
            continue;
        }
        seen.connections.push(connection.try_clone().unwrap());
        drop(seen);
        let state = Arc::clone(state);
        thread::spawn(move || serve(&connection, &state));
    }
}

/// Takes one request after the other, until either side closes.
fn serve(connection: &TcpStream, state: &State) -> Option<()> {
    let mut reader = BufReader::new(connection);
    loop {
        let notice = read(&mut reader)?;
        let number = {
            let mut seen = state.seen.lock().unwrap();
            seen.notices.push(notice);
            seen.notices.len() - 1
        };
        let (head, body) = match (state.react)(number) {
            Reaction::Answer(status) => (format!("{status} Whatever"), Vec::new()),
            Reaction::Close => return connection.shutdown(Shutdown::Both).ok(),
            Reaction::Drip(head) => return drip(reader.get_mut(), head),
            Reaction::Exactly(head, body) => (head, body),
            Reaction::Hang => {
                let seen = state.seen.lock().unwrap();
                drop(state.going_on.wait_while(seen, |seen| !seen.goes_on).unwrap());
                ("204 No Content".to_owned(), Vec::new())
            }
            // Until the other side gives up.
            Reaction::Ignore => return reader.read(&mut [0]).ok().map(drop),
            Reaction::Redirect(url) => (format!("307 There\r\nLocation: {url}"), Vec::new()),
        };
        let is_empty = head.starts_with("204");
        let length =
            if is_empty { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
        let answer = [format!("HTTP/1.1 {head}\r\n{length}\r\n").as_bytes(), &body].concat();
        reader.get_mut().write_all(&answer).ok()?;
        state.seen.lock().unwrap().notices[number].is_answered = true;
    }
}

fn drip(connection: &mut impl Write, head: &str) -> Option<()> {
    connection.write_all(head.as_bytes()).ok()?;
    loop {
        thread::sleep(POLL_EVERY);
        connection.write_all(b"x").ok()?;
    }
}

fn read(reader: &mut impl BufRead) -> Option<Notice> {
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
    Some(Notice { path, headers, body, is_answered: false, at: Instant::now() })
}
