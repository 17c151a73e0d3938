//! A webhook receiver over TLS. Responds to every request with 204.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::support::Issued;

/// A TLS receiver on a free loopback port.
pub(crate) struct TlsReceiver {
    pub(crate) url: String,
    address: SocketAddr,
    seen: Arc<Seen>,
}

#[derive(Default)]
struct Seen {
    requests: AtomicUsize,
    connections: AtomicUsize,
    is_over: AtomicBool,
}

impl TlsReceiver {
    /// Starts a receiver with this server certificate.
    pub(crate) fn showing(certificate: &Issued) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, seen) = (listener.local_addr().unwrap(), Arc::new(Seen::default()));
        let (config, shared) = (certificate.config(), Arc::clone(&seen));
        thread::spawn(move || accept(&listener, &config, &shared));
        Self { url: format!("https://{address}/hook"), address, seen }
    }

    /// Returns the number of received requests, and the number of connections.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let count = |counter: &AtomicUsize| counter.load(Ordering::SeqCst);
        (count(&self.seen.requests), count(&self.seen.connections))
    }
}

impl Drop for TlsReceiver {
    fn drop(&mut self) {
        self.seen.is_over.store(true, Ordering::SeqCst);
        // Wakes the thread that accepts connections, so that the thread sees the end of the receiver.
        drop(TcpStream::connect(self.address));
    }
}

fn accept(listener: &TcpListener, config: &Arc<ServerConfig>, seen: &Arc<Seen>) {
    for connection in listener.incoming().map_while(Result::ok) {
        if seen.is_over.load(Ordering::SeqCst) {
            return;
        }
        seen.connections.fetch_add(1, Ordering::SeqCst);
        let (tls, seen) = (ServerConnection::new(Arc::clone(config)).unwrap(), Arc::clone(seen));
        thread::spawn(move || serve(StreamOwned::new(tls, connection), &seen));
    }
}

/// Serves one request, and closes the connection.
fn serve(stream: StreamOwned<ServerConnection, TcpStream>, seen: &Seen) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|length| *length > 0)?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    reader.read_exact(&mut vec![0; length]).ok()?;
    seen.requests.fetch_add(1, Ordering::SeqCst);
    let mut stream = reader.into_inner();
    stream.write_all(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n").ok()?;
    stream.conn.send_close_notify();
    stream.flush().ok()
}
