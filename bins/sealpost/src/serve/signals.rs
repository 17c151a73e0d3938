//! The signals that the commands handle.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::fault::Fault;

/// The signals that stop a server: SIGINT and SIGTERM.
pub(crate) struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl StopSignals {
    pub(crate) fn listen() -> Result<Self, Fault> {
        Ok(Self {
            interrupt: listen_for(SignalKind::interrupt())?,
            terminate: listen_for(SignalKind::terminate())?,
        })
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// The signal that reloads files: SIGHUP.
pub(super) struct Hangups(Signal);

impl Hangups {
    pub(super) fn listen() -> Result<Self, Fault> {
        listen_for(SignalKind::hangup()).map(Self)
    }

    /// Waits for the next signal. Returns false if the signal stream has ended.
    pub(super) async fn next(&mut self) -> bool {
        self.0.recv().await.is_some()
    }
}

fn listen_for(kind: SignalKind) -> Result<Signal, Fault> {
    signal(kind).map_err(|error| Fault::caused("a signal handler cannot be installed", error))
}
