//! `sealpost serve`: starts a node, waits for a signal, and stops the node gracefully.

pub(crate) mod signals;

use std::{io::Write as _, os::unix::process::CommandExt as _, time::Duration};

use sealpost_node::{Node, NodeBuilder, Reloader, Settings, metrics, raise_file_limit};

use self::signals::{Hangups, StopSignals};
use crate::{
    command_error::CommandError,
    environment, logs,
    settings::{LogFormat, ServeArgs, WAIT},
    spans::SpanExporter,
    terminal::print,
};

/// Serves until a stop signal arrives or a worker thread panics. Returns an error after a panic, so that a supervisor
/// restarts the process. After the key provider has withdrawn the keys, executes this program again, which replaces all
/// memory of the process.
pub(crate) fn run(args: &ServeArgs) -> Result<(), CommandError> {
    let spans = args.otlp_endpoint.as_deref().map(SpanExporter::start).transpose()?;
    logs::start(&args.log, args.log_format(), spans.as_ref().map(SpanExporter::layer))?;
    raise_file_limit();
    let registry = metrics::install()?;
    actix_rt::System::new().block_on(async {
        let mut signals = StopSignals::listen()?;
        let builder = Node::builder().settings(Settings::try_from(args)?).metrics(registry);
        let node = tokio::select! {
            node = start(builder) => node?,
            () = signals.next() => give_up_start(),
        };
        announce(&node)?;
        actix_rt::spawn(logs::report_lost_lines());
        let is_text = args.log_format() == LogFormat::Text;
        if args.dev && is_text && tracing::enabled!(tracing::Level::INFO) {
            greet(&node);
        }
        let end = tokio::select! {
            () = signals.next() => End::Signal,
            end = failed(&node) => end,
        };
        if end == End::KeysLost {
            tracing::error!("starting again without the keys");
            // After `WITHDRAWAL_STOP_MAX`, continues although the stop has not ended: `start_again` replaces the whole
            // program.
            drop(actix_rt::time::timeout(WITHDRAWAL_STOP_MAX, node.stop()).await);
            spans.iter().for_each(SpanExporter::stop);
            return Err(start_again());
        }
        if end == End::Panic {
            tracing::error!(
                "a worker thread or a server panicked; shutting down so that the supervisor restarts the process"
            );
        }
        stop(node, &mut signals).await;
        spans.iter().for_each(SpanExporter::stop);
        match end {
            End::Panic => Err(CommandError::new("stopped because a worker thread or a server panicked")),
            End::KeysLost | End::Signal => Ok(()),
        }
    })
}

/// The reason why a server stops.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    KeysLost,
    Panic,
    Signal,
}

/// Starts a node. SIGHUP makes the node reload the files that can change while it runs, such as the certificate.
pub(crate) async fn start(builder: NodeBuilder) -> Result<Node, CommandError> {
    // Installs the handler before the slow steps of the start, because an unhandled SIGHUP ends the process.
    let hangups = Hangups::listen()?;
    let node = builder.start().await?;
    reload_on(hangups, node.reloader());
    Ok(node)
}

/// Ends the process during the start, which does no harm at any step. Does not return to `main`, because a return would
/// wait for the running step, and this step may wait for the database without an end.
fn give_up_start() -> ! {
    tracing::info!("stopped before the start was complete");
    std::process::exit(0)
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
fn announce(node: &Node) -> Result<(), CommandError> {
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

/// Returns after a worker thread has panicked or the key provider has withdrawn the keys. Checks once per second.
async fn failed(node: &Node) -> End {
    let mut checks = actix_rt::time::interval(CHECK_EVERY);
    loop {
        if !node.is_whole() {
            return End::Panic;
        }
        if node.has_lost_keys() {
            return End::KeysLost;
        }
        checks.tick().await;
    }
}

/// Replaces the running program by itself, with the same arguments. The new program waits for the key provider. Returns
/// the failure if the program cannot be executed.
fn start_again() -> CommandError {
    let error = environment::this_program().map(|mut program| program.env(WAIT, "true").exec());
    let error = error.unwrap_or_else(|error| error);
    CommandError::caused("the program cannot be executed again", error)
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

/// Ends the process at once. A return to `main` would wait for threads that are still stopping.
fn exit(reason: &str) -> ! {
    tracing::warn!(reason, "stopped at once; the leases of this node will expire");
    std::process::exit(1)
}

const CHECK_EVERY: Duration = Duration::from_secs(1);
/// Maximum duration of a stop after the keys were withdrawn.
const WITHDRAWAL_STOP_MAX: Duration = Duration::from_secs(6);
/// Maximum duration of a graceful stop. Supervisors commonly kill a process after 30 s.
const STOP_MAX: Duration = Duration::from_secs(29);
