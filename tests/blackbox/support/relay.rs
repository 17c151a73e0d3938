//! A TCP relay to a server on this machine, which can cut all its connections.

use std::{
    io,
    net::{Ipv4Addr, Shutdown, TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

/// Forwards TCP connections until the process ends.
pub(crate) struct Relay {
    port: u16,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Relay {
    /// Creates a relay to a port of this machine.
    pub(crate) fn before(port: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let relay = Self { port: listener.local_addr().unwrap().port(), open: Arc::default() };
        let open = Arc::clone(&relay.open);
        thread::spawn(move || {
            for client in listener.incoming() {
                // Ignores an error: if the server is down, `join` drops the stream, which disconnects the client.
                drop(client.and_then(|client| join(client, port, &open)));
            }
        });
        relay
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// Closes all connections in both directions. The relay continues to accept new connections.
    pub(crate) fn cut(&self) {
        for stream in self.open.lock().unwrap().drain(..) {
            // Ignores an error, because the stream may be closed already.
            drop(stream.shutdown(Shutdown::Both));
        }
    }
}

fn join(client: TcpStream, port: u16, open: &Mutex<Vec<TcpStream>>) -> io::Result<()> {
    let server = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
    open.lock().unwrap().extend([client.try_clone()?, server.try_clone()?]);
    let (requests, responses) = ((client.try_clone()?, server.try_clone()?), (server, client));
    for (mut from, mut to) in [requests, responses] {
        thread::spawn(move || {
            // Ignores an error: a broken connection is shut down like a connection that has ended normally.
            drop(io::copy(&mut from, &mut to));
            drop(to.shutdown(Shutdown::Both));
        });
    }
    Ok(())
}
