//! `sealpost serve`: starts a node (one server process), waits for a signal, and stops the node gracefully.

pub(crate) mod signals;

use std::{io::Write as _, time::Duration};

use sealpost_node::{Node, NodeBuilder, Reloader, Settings, metrics, raise_file_limit};

use self::signals::{Hangups, StopSignals};
use crate::{
    fault::Fault,
    logs,
    settings::{LogFormat, ServeArgs},
    spans::SpanExporter,
    terminal::print,
};

/// Serves until a stop signal arrives or a worker thread panics. Returns an error after a panic, so that a supervisor
/// restarts the process.
pub(crate) fn run(args: &ServeArgs) -> Result<(), Fault> {
    let spans = args.otlp_endpoint.as_deref().map(SpanExporter::start).transpose()?;
    logs::start(&args.log, args.log_format(), spans.as_ref().map(SpanExporter::layer))?;
    raise_file_limit();
    let registry = metrics::install()?;
    actix_rt::System::new().block_on(async {
        let mut signals = StopSignals::listen()?;
        let builder = Node::builder().settings(Settings::try_from(args)?).metrics(registry);
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
        if let Some(spans) = &spans {
            spans.stop();
        }
        if is_whole { Ok(()) } else { Err(Fault::new("stopped because a worker thread panicked")) }
    })
}

/// Starts a node. SIGHUP makes the node reload the files that can change while it runs, such as the certificate.
pub(crate) async fn start(builder: NodeBuilder) -> Result<Node, Fault> {
    // Installs the handler before the slow steps of the start, because an unhandled SIGHUP ends the process.
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

/// Prints the listening addresses on standard output. Scripts wait for these lines.
fn announce(node: &Node) -> Result<(), Fault> {
    let ops = node.ops_url().map(|url| format!("sealpost ops on {url}\n"));
    let lines =
        format!("sealpost listening on {}\n{}", node.listening_url(), ops.unwrap_or_default());
    print(lines)?;
    tracing::info!(listening = node.listening_url(), ops = node.ops_url(), "serving");
    Ok(())
}

/// Prints the URLs of the API, the documentation and the dashboard, for a developer.
fn greet(node: &Node) {
    let url = node.base_url();
    let lines = format!(
        "\n  API        {url}/v1\n  Docs       {url}/docs\n  Dashboard  {url}/dashboard\n\n"
    );
    // An error is ignored, because the server works without this output.
    drop(std::io::stderr().write_all(lines.as_bytes()));
}

/// Returns after a worker thread has panicked. Checks once per second.
async fn panicked(node: &Node) {
    let mut checks = actix_rt::time::interval(CHECK_EVERY);
    while node.is_whole() {
        checks.tick().await;
    }
}

/// Stops the node gracefully: API requests and webhook requests in progress can finish. Ends the process at once after
/// a second signal, or if the stop takes longer than [`STOP_MAX`].
async fn stop(node: Node, signals: &mut StopSignals) {
    tracing::info!("stopping");
    tokio::select! {
        () = node.stop() => tracing::info!("stopped"),
        () = signals.next() => exit("second signal"),
        // Limits the duration of the stop, because a hanging database could delay every step.
        () = actix_rt::time::sleep(STOP_MAX) => exit("timeout"),
    }
}

/// Ends the process at once. Does not return to `main`, because a return would wait for threads that are still
/// stopping.
fn exit(reason: &str) -> ! {
    tracing::warn!(reason, "stopped at once; the leases of this node will expire");
    std::process::exit(1)
}

const CHECK_EVERY: Duration = Duration::from_secs(1);
/// Maximum duration of a graceful stop. Shorter than 30 s, because supervisors commonly kill a process after this time.
const STOP_MAX: Duration = Duration::from_secs(29);
