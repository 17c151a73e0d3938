//! A receiver that counts notices and answers 204, in as little work as HTTP allows.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// Where notices arrive.
pub(crate) struct Receiver {
    pub(crate) url: String,
    delivered: Arc<AtomicU32>,
}

impl Receiver {
    /// Listens on a free loopback port.
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let url = format!("http://{}/", listener.local_addr().expect("the socket is bound"));
        let delivered = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&delivered);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&count)));
            }
        });
        Self { url, delivered }
    }

    /// How many notices came so far.
    pub(crate) fn delivered(&self) -> u32 {
        self.delivered.load(Ordering::Relaxed)
    }
}

async fn serve(mut stream: TcpStream, delivered: Arc<AtomicU32>) {
    let mut buffer = Vec::with_capacity(4096);
    // The server under test may end at any time, and its connections with it.
    while let Ok(1..) = stream.read_buf(&mut buffer).await {
        while let Some(whole) = super::load::whole_length(&buffer).filter(|n| buffer.len() >= *n) {
            buffer.drain(..whole);
            delivered.fetch_add(1, Ordering::Relaxed);
            if stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await.is_err() {
                return;
            }
        }
    }
}
