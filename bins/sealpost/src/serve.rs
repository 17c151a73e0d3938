//! `sealpost serve`: a node, from the first line on standard output to the orderly end, and its signals.

use std::{io::Write as _, sync::Arc, time::Duration};

use sealpost_node::{
    Node, Reloader, Settings,
    metrics::{self, Registry},
    raise_file_limit,
};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::{cli::ServeArgs, fault::Fault, logs};

/// Serves until told to stop.
pub(crate) fn run(args: &ServeArgs) -> Result<(), Fault> {
    logs::start(&args.log, args.log_format())?;
    raise_file_limit();
    let registry = metrics::install()?;
    actix_rt::System::new().block_on(async {
        let mut signals = Signals::listen()?;
        let node = start(&Settings::from(args), registry)?;
        announce(&node)?;
        let is_whole = tokio::select! {
            () = signals.next() => true,
            () = a_fault(|| node.is_whole()) => false,
        };
        if !is_whole {
            tracing::error!("a thread has ended by a fault, and only a new process mends that");
        }
        tracing::info!("stopping");
        tokio::select! {
            () = node.stop() => tracing::info!("stopped"),
            () = signals.next() => break_off("asked again"),
            // A database that hangs could hold up one step after the other.
            () = actix_rt::time::sleep(STOP_MAX) => break_off("it took too long"),
        }
        if is_whole {
            Ok(())
        } else {
            Err(Fault::new("stopped because a thread had ended by a fault"))
        }
    })
}

/// Waits for a thread to end that was not told to.
async fn a_fault(is_whole: impl Fn() -> bool) {
    let mut looks = actix_rt::time::interval(LOOK_EVERY);
    while is_whole() {
        looks.tick().await;
    }
}

/// Ends at once: to return would be to wait for the threads that are still stopping in order.
fn break_off(why: &str) -> ! {
    tracing::warn!(why, "stopped at once; leases will expire");
    std::process::exit(1)
}

/// Starts a node, whose circuits and certificate are read again at SIGHUP.
pub(crate) fn start(settings: &Settings, registry: Arc<Registry>) -> Result<Node, Fault> {
    // Before anything takes its time: a hang-up that nobody listens for ends the process.
    let hangups = listen_for(SignalKind::hangup())?;
    let node = Node::start(settings, registry)?;
    reload_on(hangups, node.reloader());
    Ok(node)
}

fn reload_on(mut hangups: Signal, reloader: Reloader) {
    actix_rt::spawn(async move {
        while hangups.recv().await.is_some() {
            let reloader = reloader.clone();
            let read = actix_rt::task::spawn_blocking(move || reloader.reload());
            if read.await.is_err() {
                tracing::error!("reading the files again was broken off");
            }
        }
    });
}

/// The two lines that scripts wait for.
fn announce(node: &Node) -> Result<(), Fault> {
    let mut out = std::io::stdout();
    let ops_url = node.ops_url().unwrap_or("off");
    write!(out, "sealpost listening on {}\nsealpost ops on {ops_url}\n", node.listening_url())
        .and_then(|()| out.flush())
        .map_err(|error| Fault::caused("standard output is closed", error))
}

/// SIGINT and SIGTERM.
pub(crate) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    pub(crate) fn listen() -> Result<Self, Fault> {
        Ok(Self {
            interrupt: listen_for(SignalKind::interrupt())?,
            terminate: listen_for(SignalKind::terminate())?,
        })
    }

    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

fn listen_for(kind: SignalKind) -> Result<Signal, Fault> {
    signal(kind).map_err(|error| Fault::caused("signals cannot be listened for", error))
}

/// A thread that has ended is noticed so soon.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Whoever started the service waits for 30 s before it kills.
const STOP_MAX: Duration = Duration::from_secs(29);
