//! Load: prepared requests over keep-alive connections, all in one thread. Closed, where each connection sends its next
//! request when it has its answer; or open, at a given rate whatever the answers do.

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
pub(crate) use tally::{Tally, micros, micros_histogram};

/// What to send, to whom, how, and for how long.
#[derive(Clone)]
pub(crate) struct Load {
    /// Connections are spread evenly over these.
    pub(crate) addresses: Vec<SocketAddr>,
    /// Sent in turn, over and over.
    pub(crate) requests: Arc<Vec<Vec<u8>>>,
    pub(crate) connections: usize,
    pub(crate) pace: Pace,
    /// What is answered before the window opens counts for losses, and for no figure.
    pub(crate) warm_up: Duration,
    pub(crate) span: Duration,
}

/// When the next request is sent.
#[derive(Clone, Copy)]
pub(crate) enum Pace {
    /// When its connection is free.
    Closed,
    /// At its time. Latency counts from that time, also where the request had to wait for a connection.
    Open { per_second: u32 },
}

/// A load that runs.
pub(crate) struct Running {
    pub(crate) window: Window,
    thread: JoinHandle<Tally>,
}

/// When what happens is measured.
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
        self.thread.join().expect("the load runs to its end")
    }
}

/// The requests in their turn.
fn turns(load: &Load) -> impl Iterator<Item = &[u8]> {
    load.requests.iter().cycle().map(Vec::as_slice)
}

/// A server that answers nothing for this long has failed.
const PATIENCE: Duration = Duration::from_mins(1);
