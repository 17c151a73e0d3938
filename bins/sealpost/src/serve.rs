//! `sealpost serve`: starts a node, waits for signals, and stops the node in order.

pub(crate) mod signals;

use std::{io::Write as _, time::Duration};

use sealpost_node::{Node, NodeBuilder, Reloader, Settings, metrics, raise_file_limit};

use self::signals::{Hangups, StopSignals};
use crate::{
    fault::Fault,
    logs,
    settings::{LogFormat, ServeArgs},
};

/// Serves until a signal arrives or a worker thread panics.
pub(crate) fn run(args: &ServeArgs) -> Result<(), Fault> {
    logs::start(&args.log, args.log_format())?;
    raise_file_limit();
    let registry = metrics::install()?;
    actix_rt::System::new().block_on(async {
        let mut signals = StopSignals::listen()?;
        let builder = Node::builder().settings(Settings::from(args)).metrics(registry);
        let node = start(builder).await?;
        announce(&node)?;
        let is_text = args.log_format() == LogFormat::Text;
        if args.dev && is_text && tracing::enabled!(tracing::Level::INFO) {
            greet(&node);
        }
        let is_whole = tokio::select! {
            () = signals.next() => true,
            () = panicked(&node) => false,
        };
        if !is_whole {
            tracing::error!(
                "a worker thread panicked; shutting down so that the supervisor restarts the process"
            );
        }
        stop(node, &mut signals).await;
        if is_whole { Ok(()) } else { Err(Fault::new("stopped because a worker thread panicked")) }
    })
}

/// Starts a node that reloads its files at SIGHUP.
pub(crate) async fn start(builder: NodeBuilder) -> Result<Node, Fault> {
    // An unhandled SIGHUP ends the process, so the handler is installed before the slow steps.
    let hangups = Hangups::listen()?;
    let node = builder.start().await?;
    reload_on(hangups, node.reloader());
    Ok(node)
}

fn reload_on(mut hangups: Hangups, reloader: Reloader) {
    actix_rt::spawn(async move {
        while hangups.next().await {
            let reloader = reloader.clone();
            let done = actix_rt::task::spawn_blocking(move || reloader.reload());
            if done.await.is_err() {
                tracing::error!("the reload of files was interrupted by a panic");
            }
        }
    });
}

/// Prints the lines that scripts wait for.
fn announce(node: &Node) -> Result<(), Fault> {
    let ops = node.ops_url().map(|url| format!("sealpost ops on {url}\n"));
    let lines =
        format!("sealpost listening on {}\n{}", node.listening_url(), ops.unwrap_or_default());
    let mut out = std::io::stdout();
    out.write_all(lines.as_bytes()).and_then(|()| out.flush()).map_err(Fault::closed_output)?;
    tracing::info!(listening = node.listening_url(), ops = node.ops_url(), "serving");
    Ok(())
}

/// Prints the addresses that a developer opens.
fn greet(node: &Node) {
    let url = node.base_url();
    let lines = format!(
        "\n  API        {url}/v1\n  Docs       {url}/docs\n  Dashboard  {url}/dashboard\n\n"
    );
    // An error is ignored: the server works without these lines.
    drop(std::io::stderr().write_all(lines.as_bytes()));
}

/// Waits until a worker thread panics.
async fn panicked(node: &Node) {
    let mut checks = actix_rt::time::interval(CHECK_EVERY);
    while node.is_whole() {
        checks.tick().await;
    }
}

/// Stops the node in order. A second signal or a timeout ends the process at once.
async fn stop(node: Node, signals: &mut StopSignals) {
    tracing::info!("stopping");
    tokio::select! {
        () = node.stop() => tracing::info!("stopped"),
        () = signals.next() => exit("second signal"),
        // A database that hangs could delay every step.
        () = actix_rt::time::sleep(STOP_MAX) => exit("timeout"),
    }
}

/// Ends the process at once. Returning from `main` would wait for threads that are still stopping.
fn exit(reason: &str) -> ! {
    tracing::warn!(reason, "stopped at once; the leases of this node will expire");
    std::process::exit(1)
}

const CHECK_EVERY: Duration = Duration::from_secs(1);
/// Limits the time of a stop. A supervisor kills the process after 30 s.
const STOP_MAX: Duration = Duration::from_secs(29);
