//! Load: prepared requests over keep-alive connections, all in one thread.
//!
//! In a closed loop each connection sends its next request after its response. In an open loop requests have
//! a fixed rate.

mod closed;
mod connection;
mod open;
mod tally;

use std::{
    net::SocketAddr,
    sync::Arc,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use connection::Connection;
pub(crate) use tally::{Tally, envelope_ids, micros, micros_histogram};

/// The requests, their destinations, their pace, and the length of the load.
#[derive(Clone)]
pub(crate) struct Load {
    /// Connections are spread evenly over these addresses.
    pub(crate) addresses: Vec<SocketAddr>,
    /// Sent in turn, repeatedly.
    pub(crate) requests: Arc<Vec<Vec<u8>>>,
    pub(crate) connections: usize,
    pub(crate) pace: Pace,
    /// Responses before the window count only for losses.
    pub(crate) warm_up: Duration,
    pub(crate) span: Duration,
}

/// The time of the next request.
#[derive(Clone, Copy)]
pub(crate) enum Pace {
    /// Sends when the connection is free.
    Closed,
    /// Sends at fixed times. Latency counts from that time, even if the request waits for a connection.
    Open { per_second: u32 },
}

/// A running load.
pub(crate) struct Running {
    pub(crate) window: Window,
    thread: JoinHandle<Tally>,
}

/// The period of measurement.
#[derive(Clone, Copy)]
pub(crate) struct Window {
    pub(crate) from: Instant,
    pub(crate) until: Instant,
}

impl Load {
    pub(crate) fn start(self) -> Running {
        let connections = self.connect();
        let from = Instant::now() + self.warm_up;
        let window = Window { from, until: from + self.span };
        let thread = thread::Builder::new()
            .name("load".to_owned())
            .spawn(move || match self.pace {
                Pace::Closed => closed::run(&self, connections, window),
                Pace::Open { per_second } => open::run(&self, connections, window, per_second),
            })
            .expect("a thread can be started");
        Running { window, thread }
    }

    fn connect(&self) -> Vec<Connection> {
        let addresses = self.addresses.iter().cycle();
        addresses.take(self.connections).map(|address| Connection::open(*address)).collect()
    }
}

impl Running {
    pub(crate) fn join(self) -> Tally {
        self.thread.join().expect("the load ends without a panic")
    }
}

/// Returns the requests in turn.
fn turns(load: &Load) -> impl Iterator<Item = &[u8]> {
    load.requests.iter().cycle().map(Vec::as_slice)
}

/// A server without a response for this time has failed.
const RESPONSE_TIMEOUT: Duration = Duration::from_mins(1);
