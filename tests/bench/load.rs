//! A closed-loop load on keep-alive connections: requests are written as prepared bytes, answers are read just far
//! enough to tell 200 from the rest, so that the generator takes little of the cores.

use std::time::{Duration, Instant};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    task::JoinSet,
};

use super::seed::Seeded;

/// What to send, over and over.
pub(crate) struct Load {
    address: String,
    requests: Vec<Vec<u8>>,
}

/// What came of it.
pub(crate) struct Measured {
    pub(crate) done: u32,
    micros: Vec<u32>,
}

impl Load {
    /// The reference: no body, no look-up.
    pub(crate) fn ping(address: &str) -> Self {
        let request = format!("GET /v1/ping HTTP/1.1\r\nHost: {address}\r\n\r\n");
        Self { address: address.to_owned(), requests: vec![request.into_bytes()] }
    }

    /// Sends of 512 bytes from each of the senders to each of the recipients in turn.
    pub(crate) fn send(address: &str, seeded: &Seeded) -> Self {
        let message = "x".repeat(512);
        let mut requests = Vec::new();
        for sender in &seeded.senders {
            for recipient in &seeded.recipients {
                let body = format!(r#"{{"to":"{recipient}","message":"{message}"}}"#);
                let request = format!(
                    "POST /v1/channel/send HTTP/1.1\r\nHost: {address}\r\n\
                     Authorization: Bearer {}\r\nX-DID-API-Key: {sender}\r\n\
                     Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
                    seeded.token,
                    body.len()
                );
                requests.push(request.into_bytes());
            }
        }
        Self { address: address.to_owned(), requests }
    }

    /// Runs the load for `span` on that many connections.
    pub(crate) async fn run(&self, connections: usize, span: Duration) -> Measured {
        let until = Instant::now() + span;
        let mut running = JoinSet::new();
        for first in 0..connections {
            let address = self.address.clone();
            let mut requests = self.requests.clone();
            let shift = first % requests.len();
            requests.rotate_left(shift);
            running.spawn(connection(address, requests, until));
        }
        let mut micros: Vec<u32> = running.join_all().await.into_iter().flatten().collect();
        micros.sort_unstable();
        Measured { done: u32::try_from(micros.len()).expect("a bounded run"), micros }
    }
}

impl Measured {
    /// The latency that this percentage of requests kept.
    pub(crate) fn millis(&self, percent: usize) -> f64 {
        let at = (self.micros.len() * percent / 100).min(self.micros.len().saturating_sub(1));
        self.micros.get(at).map_or(f64::NAN, |micros| f64::from(*micros) / 1000.0)
    }
}

async fn connection(address: String, requests: Vec<Vec<u8>>, until: Instant) -> Vec<u32> {
    let mut stream = TcpStream::connect(&address).await.expect("the server accepts");
    stream.set_nodelay(true).expect("the socket is open");
    let mut answer = Vec::with_capacity(4096);
    let mut micros = Vec::new();
    for request in requests.iter().cycle() {
        let started = Instant::now();
        if started >= until {
            break;
        }
        stream.write_all(request).await.expect("the server reads");
        read_answer(&mut stream, &mut answer).await;
        assert!(
            answer.starts_with(b"HTTP/1.1 200"),
            "a request was refused: {}",
            String::from_utf8_lossy(&answer)
        );
        micros.push(u32::try_from(started.elapsed().as_micros()).unwrap_or(u32::MAX));
    }
    micros
}

async fn read_answer(stream: &mut TcpStream, answer: &mut Vec<u8>) {
    answer.clear();
    loop {
        let read = stream.read_buf(answer).await.expect("the server answers");
        assert!(read > 0, "the server closed the connection");
        if let Some(whole) = whole_length(answer)
            && answer.len() >= whole
        {
            return;
        }
    }
}

/// How long head and body are together, once the head is there.
pub(crate) fn whole_length(answer: &[u8]) -> Option<usize> {
    let head = answer.windows(4).position(|window| window == b"\r\n\r\n")?;
    let text = std::str::from_utf8(answer.get(..head)?).ok()?;
    let length = text.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    });
    Some(head + 4 + length.unwrap_or(0))
}
