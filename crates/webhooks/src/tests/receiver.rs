//! A receiver on a loopback socket: a thread per connection, and answers byte by byte as the test wants them.

use std::{
    collections::HashMap,
    io::{BufRead as _, BufReader, Read, Write},
    net::{SocketAddr, TcpListener},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

/// What to do with a request.
pub(crate) enum Answer {
    /// Write these bytes and wait for the next request.
    Bytes(&'static [u8]),
    /// Close without a word.
    Close,
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
    requests: Mutex<Vec<Request>>,
}

type Wrap<S> = Arc<dyn Fn(std::net::TcpStream) -> S + Send + Sync>;

impl Receiver {
    pub(crate) fn start(answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) -> Self {
        Self::start_wrapped(Arc::new(|stream| stream), answer)
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
                        if !obey(&answer(&request), stream.get_mut()) {
                            break;
                        }
                    }
                });
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

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.seen.requests.lock().unwrap().clone()
    }
}

fn obey(answer: &Answer, stream: &mut impl Write) -> bool {
    match answer {
        Answer::Bytes(bytes) => stream.write_all(bytes).and_then(|()| stream.flush()).is_ok(),
        Answer::Close => false,
        Answer::HangAfter(bytes) => {
            stream.write_all(bytes).and_then(|()| stream.flush()).unwrap();
            hang()
        }
        Answer::Hang => hang(),
    }
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
