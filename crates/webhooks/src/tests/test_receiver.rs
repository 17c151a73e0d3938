//! A webhook receiver on a loopback socket, with a thread for each connection. The test chooses each byte of the
//! responses.

use std::{
    collections::HashMap,
    io::{BufRead as _, BufReader, Read, Write},
    net::{SocketAddr, TcpListener},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

/// The reaction of the receiver to a request.
#[derive(Clone)]
pub(crate) enum Reply {
    /// Writes these bytes and waits for the next request.
    Bytes(&'static [u8]),
    /// Closes the connection without a response.
    Close,
    /// Writes these bytes, then one byte every few milliseconds until the connection closes.
    Drip(&'static [u8]),
    /// Writes these bytes, then further bytes without pause until the connection closes.
    Endless(&'static [u8]),
    /// Writes these bytes and closes the connection.
    Last(&'static [u8]),
    /// Writes these parts one after the other and closes the connection.
    LastParts(Vec<Vec<u8>>),
    /// Writes these parts one after the other and waits for the next request.
    Parts(Vec<Vec<u8>>),
    /// Keeps the connection open and never responds.
    Hang,
    /// Writes these bytes, then nothing more, and keeps the connection open.
    HangAfter(&'static [u8]),
}

pub(crate) const OK: Reply = Reply::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfine");

#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) head: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Vec<u8>,
}

#[derive(Clone)]
pub(crate) struct Receiver {
    pub(crate) addr: SocketAddr,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    connections: AtomicUsize,
    /// Number of connections that the client closed before the end of a response.
    cut: AtomicUsize,
    requests: Mutex<Vec<Request>>,
}

type Wrap<S> = Arc<dyn Fn(std::net::TcpStream) -> S + Send + Sync>;

impl Receiver {
    pub(crate) fn start(reply: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        Self::start_wrapped(Arc::new(|stream| stream), reply)
    }

    /// Returns a receiver that waits for a signal before each response. The channels report each request, and send the
    /// signals.
    pub(crate) fn gated() -> (Self, mpsc::Receiver<()>, mpsc::Sender<()>) {
        let (arrived, arrival) = mpsc::channel();
        let (go, gate) = mpsc::channel();
        let gate = Mutex::new(gate);
        let receiver = Self::start(move |_| {
            arrived.send(()).unwrap();
            gate.lock().unwrap().recv().unwrap();
            OK
        });
        (receiver, arrival, go)
    }

    /// Returns a receiver that wraps its connections, for example in TLS.
    pub(crate) fn start_wrapped<S: Read + Write + 'static>(
        wrap: Wrap<S>,
        reply: impl Fn(&Request) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let receiver = Self { addr: listener.local_addr().unwrap(), seen: Arc::default() };
        let (seen, reply) = (Arc::clone(&receiver.seen), Arc::new(reply));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                seen.connections.fetch_add(1, Ordering::SeqCst);
                let (seen, reply, wrap) =
                    (Arc::clone(&seen), Arc::clone(&reply), Arc::clone(&wrap));
                thread::spawn(move || {
                    let mut stream = BufReader::new(wrap(stream));
                    while let Some(request) = read(&mut stream) {
                        seen.requests.lock().unwrap().push(request.clone());
                        let reply = reply(&request);
                        if !obey(&reply, stream.get_mut()) {
                            let is_cut = !matches!(
                                reply,
                                Reply::Close | Reply::Last(_) | Reply::LastParts(_)
                            );
                            seen.cut.fetch_add(usize::from(is_cut), Ordering::SeqCst);
                            break;
                        }
                    }
                });
            }
        });
        receiver
    }

    /// Returns a receiver that resets every connection without reading the request.
    pub(crate) fn resetting() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let receiver = Self { addr: listener.local_addr().unwrap(), seen: Arc::default() };
        let seen = Arc::clone(&receiver.seen);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                seen.connections.fetch_add(1, Ordering::SeqCst);
                drop(stream.peek(&mut [0]));
            }
        });
        receiver
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/hook", self.addr)
    }

    pub(crate) fn connections(&self) -> usize {
        self.seen.connections.load(Ordering::SeqCst)
    }

    /// Waits until the client has closed `count` connections before the end of a response.
    pub(crate) fn wait_for_cut(&self, count: usize) {
        let until = Instant::now() + Duration::from_secs(20);
        while self.seen.cut.load(Ordering::SeqCst) < count {
            assert!(Instant::now() < until, "a response was read to its end");
            thread::yield_now();
        }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.seen.requests.lock().unwrap().clone()
    }
}

fn obey(reply: &Reply, stream: &mut impl Write) -> bool {
    match reply {
        Reply::Bytes(bytes) => write(stream, bytes),
        Reply::Close => false,
        Reply::Last(bytes) => {
            write(stream, bytes);
            false
        }
        Reply::LastParts(parts) => {
            parts.iter().all(|part| write(stream, part));
            false
        }
        Reply::Parts(parts) => parts.iter().all(|part| write(stream, part)),
        Reply::Drip(bytes) => {
            let mut is_open = write(stream, bytes);
            while is_open {
                thread::sleep(Duration::from_millis(5));
                is_open = write(stream, b"x");
            }
            false
        }
        Reply::Endless(bytes) => {
            // Sends the first filler bytes in the same write, because the client reads a body for one second only.
            let mut is_open = write(stream, &[*bytes, &[b'x'; 8192]].concat());
            while is_open {
                is_open = write(stream, &[b'x'; 8192]);
            }
            false
        }
        Reply::HangAfter(bytes) => {
            assert!(write(stream, bytes));
            hang()
        }
        Reply::Hang => hang(),
    }
}

fn write(stream: &mut impl Write, bytes: &[u8]) -> bool {
    stream.write_all(bytes).and_then(|()| stream.flush()).is_ok()
}

fn hang() -> ! {
    loop {
        thread::park();
    }
}

fn read(stream: &mut BufReader<impl Read>) -> Option<Request> {
    let mut line = || {
        let mut line = String::new();
        stream.read_line(&mut line).ok().filter(|length| *length > 0)?;
        Some(line.trim_end().to_owned())
    };
    let head = line()?;
    let mut headers = HashMap::new();
    loop {
        let line = line()?;
        let Some((name, value)) = line.split_once(": ") else { break };
        headers.insert(name.to_ascii_lowercase(), value.to_owned());
    }
    let mut body = vec![0; headers.get("content-length")?.parse().ok()?];
    stream.read_exact(&mut body).ok()?;
    Some(Request { head, headers, body })
}
