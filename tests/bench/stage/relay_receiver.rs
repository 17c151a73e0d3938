//! The receivers of relays, in one thread. They answer each delivery with 204 at once, and record it like a webhook
//! request.

use std::{
    collections::HashMap,
    io::{self, ErrorKind, Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use sealpost_webhooks::SignedHeaders;
use serde::Deserialize;

use super::{
    identities::Member,
    receiver::{Receiver, Recorder},
};
use crate::poller::Poller;

/// Connected receivers. Dropping the value closes the connections.
pub(crate) struct RelayReceiver {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// A delivery, as the service sends it.
#[derive(Deserialize)]
struct Delivery {
    #[serde(rename = "delivery")]
    number: String,
    headers: HashMap<String, String>,
    body: String,
}

impl RelayReceiver {
    /// Connects each recipient to the relay of its webhook. `receiver` records the deliveries. Recipient `n` has its target
    /// `n`.
    pub(crate) fn connect(
        server: SocketAddr,
        recipients: &[(usize, &Member)],
        receiver: &Receiver,
    ) -> Self {
        let mut sockets = Vec::new();
        for (target, recipient) in recipients {
            let stream = try_open(server, recipient).expect("the relay accepts");
            stream.set_nonblocking(true).expect("the socket is open");
            sockets.push(Socket { stream, target: *target, received: Vec::new() });
        }
        let (recorder, is_over) = (receiver.recorder(), Arc::new(AtomicBool::new(false)));
        let until = Arc::clone(&is_over);
        let thread = thread::Builder::new()
            .name("relay-receiver".to_owned())
            .spawn(move || serve(sockets, &recorder, &until));
        Self { is_over, thread: Some(thread.expect("a thread can be started")) }
    }
}

impl Drop for RelayReceiver {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // A panicked thread has printed its message.
        drop(self.thread.take().map(JoinHandle::join));
    }
}

/// Opens the WebSocket of a member's relay. Fails with the head of the response if the server refuses.
pub(crate) fn try_open(server: SocketAddr, member: &Member) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(server)?;
    stream.set_nodelay(true)?;
    let webhook = member.webhook.as_ref().expect("a recipient has a webhook").id;
    let request = format!(
        "GET /v1/webhooks/relay?webhook_id={webhook} HTTP/1.1\r\nHost: localhost\r\n\
         Authorization: Bearer {}\r\nX-DID-API-Key: {}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n",
        member.token, member.key,
    );
    stream.write_all(request.as_bytes())?;
    // Reads no further than the head, because deliveries may follow at once.
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte)?;
        head.extend(byte);
    }
    if head.starts_with(b"HTTP/1.1 101") {
        Ok(stream)
    } else {
        Err(io::Error::other(String::from_utf8_lossy(&head).into_owned()))
    }
}

/// Returns a text frame of a client (RFC 6455, section 5.2). Its mask is zero, so that masking changes nothing.
pub(crate) fn text_frame(text: &str) -> Vec<u8> {
    let length = u8::try_from(text.len()).ok().filter(|length| *length < 126);
    let length = length.expect("a short frame");
    [&[0x81, 0x80 | length, 0, 0, 0, 0], text.as_bytes()].concat()
}

struct Socket {
    stream: TcpStream,
    target: usize,
    received: Vec<u8>,
}

fn serve(mut sockets: Vec<Socket>, recorder: &Recorder, is_over: &AtomicBool) {
    let mut poller = Poller::new();
    for (token, socket) in sockets.iter().enumerate() {
        poller.watch(&socket.stream, token);
    }
    while !is_over.load(Ordering::Relaxed) {
        for token in poller.wait(LOOK_EVERY) {
            let socket = sockets.get_mut(token).expect("the token is the index of the socket");
            socket.read(recorder);
        }
    }
}

impl Socket {
    fn read(&mut self, recorder: &Recorder) {
        let mut part = [0; 16 * 1024];
        match self.stream.read(&mut part) {
            Ok(0) => panic!("the server closed a relay"),
            Ok(read) => self.received.extend_from_slice(part.get(..read).unwrap_or_default()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return,
            Err(error) => panic!("a relay broke: {error}"),
        }
        while let Some((kind, payload, length)) = frame(&self.received) {
            let response = match kind {
                TEXT => self.receive(payload, recorder),
                PING => vec![PONG, 0x80, 0, 0, 0, 0],
                other => panic!("a frame of kind {other:#x}"),
            };
            self.stream.write_all(&response).expect("the server reads");
            self.received.drain(..length);
        }
    }

    fn receive(&self, payload: &[u8], recorder: &Recorder) -> Vec<u8> {
        let now = Instant::now();
        let delivery: Delivery = serde_json::from_slice(payload).expect("a delivery is JSON");
        let header = |name| delivery.headers.get(name).map_or("", String::as_str);
        let headers = SignedHeaders {
            id: header("webhook-id"),
            timestamp: header("webhook-timestamp"),
            signature: header("webhook-signature"),
        };
        recorder.record(self.target, &headers, delivery.body.as_bytes(), now);
        text_frame(&format!(r#"{{"delivery":"{}","status":204}}"#, delivery.number))
    }
}

/// Returns the first complete frame: its first byte, its payload and its whole length.
fn frame(bytes: &[u8]) -> Option<(u8, &[u8], usize)> {
    let (kind, short) = (*bytes.first()?, *bytes.get(1)?);
    let (start, length) = match short {
        126 => (4, usize::from(u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?))),
        127 => panic!("a delivery is short"),
        short => (2, usize::from(short)),
    };
    Some((kind, bytes.get(start..start + length)?, start + length))
}

const TEXT: u8 = 0x81;
const PING: u8 = 0x89;
const PONG: u8 = 0x8a;
const LOOK_EVERY: Duration = Duration::from_millis(100);
