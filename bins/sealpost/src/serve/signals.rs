//! The Unix signals that commands react to.

use std::io;

use tokio::{
    runtime::Builder,
    signal::unix::{Signal, SignalKind, signal},
};

use crate::command_error::CommandError;

/// Receives SIGINT and SIGTERM, which stop a server.
pub(crate) struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl StopSignals {
    pub(crate) fn listen() -> Result<Self, CommandError> {
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

/// Receives SIGHUP, which makes a server reload its files.
pub(super) struct Hangups(Signal);

impl Hangups {
    pub(super) fn listen() -> Result<Self, CommandError> {
        listen_for(SignalKind::hangup()).map(Self)
    }

    /// Waits for the next SIGHUP. Returns false if no further signal can arrive.
    pub(super) async fn next(&mut self) -> bool {
        self.0.recv().await.is_some()
    }
}

/// Makes a write beyond the file size limit of the process (`ulimit -f`) fail with an error. Without a handler, SIGXFSZ
/// would end the process.
pub(crate) fn outlive_file_size_limit() -> io::Result<()> {
    let runtime = Builder::new_current_thread().enable_io().build()?;
    let _entered = runtime.enter();
    // The handler stays installed after the runtime and the returned `Signal` are dropped.
    signal(SignalKind::from_raw(rustix::process::Signal::XFSZ.as_raw())).map(drop)
}

fn listen_for(kind: SignalKind) -> Result<Signal, CommandError> {
    signal(kind)
        .map_err(|error| CommandError::caused("a signal handler cannot be installed", error))
}
