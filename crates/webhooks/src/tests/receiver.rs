//! A receiver on a loopback socket: a thread per connection, and answers byte by byte as the test wants them.

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

/// What to do with a request.
pub(crate) enum Answer {
    /// Write these bytes and wait for the next request.
    Bytes(&'static [u8]),
    /// Close without a word.
    Close,
    /// Write these bytes, and then one more every few milliseconds for as long as anybody listens.
    Drip(&'static [u8]),
    /// Write these bytes, and then as many more as anybody takes.
    Endless(&'static [u8]),
    /// Never answer.
    Hang,
    /// Write these bytes and then keep the connection open.
    HangAfter(&'static [u8]),
}

pub(crate) const OK: Answer = Answer::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfine");

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
    /// Connections on which an answer could not be written to its end.
    hung_up_on: AtomicUsize,
    requests: Mutex<Vec<Request>>,
}

type Wrap<S> = Arc<dyn Fn(std::net::TcpStream) -> S + Send + Sync>;

impl Receiver {
    pub(crate) fn start(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        Self::start_wrapped(Arc::new(|stream| stream), answer)
    }

    /// A receiver that says who knocks, and answers whenever it is let.
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

    /// A receiver whose connections are wrapped first, such as in TLS.
    pub(crate) fn start_wrapped<S: Read + Write + 'static>(
        wrap: Wrap<S>,
        answer: impl Fn(&Request) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let receiver = Self { addr: listener.local_addr().unwrap(), seen: Arc::default() };
        let (seen, answer) = (Arc::clone(&receiver.seen), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                seen.connections.fetch_add(1, Ordering::SeqCst);
                let (seen, answer, wrap) =
                    (Arc::clone(&seen), Arc::clone(&answer), Arc::clone(&wrap));
                thread::spawn(move || {
                    let mut stream = BufReader::new(wrap(stream));
                    while let Some(request) = read(&mut stream) {
                        seen.requests.lock().unwrap().push(request.clone());
                        let answer = answer(&request);
                        if !obey(&answer, stream.get_mut()) {
                            let is_cut = !matches!(answer, Answer::Close);
                            seen.hung_up_on.fetch_add(usize::from(is_cut), Ordering::SeqCst);
                            break;
                        }
                    }
                });
            }
        });
        receiver
    }

    /// A receiver that resets every connection: what was sent is thrown away unread.
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

    /// Waits until so many answers were cut off.
    pub(crate) fn wait_for_cut(&self, count: usize) {
        let until = Instant::now() + Duration::from_secs(20);
        while self.seen.hung_up_on.load(Ordering::SeqCst) < count {
            assert!(Instant::now() < until, "an answer is read to its end");
            thread::yield_now();
        }
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.seen.requests.lock().unwrap().clone()
    }
}

fn obey(answer: &Answer, stream: &mut impl Write) -> bool {
    match answer {
        Answer::Bytes(bytes) => write(stream, bytes),
        Answer::Close => false,
        Answer::Drip(bytes) => {
            let mut is_heard = write(stream, bytes);
            while is_heard {
                thread::sleep(Duration::from_millis(5));
                is_heard = write(stream, b"x");
            }
            false
        }
        Answer::Endless(bytes) => {
            // Together, since what is read of a body is what comes within a second.
            let mut is_heard = write(stream, &[*bytes, &[b'x'; 8192]].concat());
            while is_heard {
                is_heard = write(stream, &[b'x'; 8192]);
            }
            false
        }
        Answer::HangAfter(bytes) => {
            assert!(write(stream, bytes));
            hang()
        }
        Answer::Hang => hang(),
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
