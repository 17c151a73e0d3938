//! `sealpost serve`: HTTP in front of a node, from the first line on standard output to the orderly end.

use std::{
    io::Write as _,
    net::{SocketAddr, TcpListener},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use actix_web::{App as ActixApp, dev::ServerHandle, middleware::from_fn, web};
use sealpost_domain::Clock as _;
use sealpost_service::Sealpost;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::{
    base_url::BaseUrl,
    circuits,
    cli::{OpsListen, ServeArgs},
    compose::{Node, SystemClock},
    config, dashboard,
    docs::Docs,
    fault::Fault,
    http::{self, App, BodyMemory, Throttle},
    listen::{self, Bounds},
    logs,
    metrics::{self, Registry},
    ops::{self, Ops},
    tls::Tls,
};

/// Serves until told to stop.
pub(crate) fn run(args: &ServeArgs) -> Result<(), Fault> {
    logs::start(&args.log, args.log_format())?;
    raise_file_limit();
    let registry = metrics::install()?;
    actix_rt::System::new().block_on(async {
        let mut signals = Signals::listen()?;
        let server = Server::start(args, registry)?;
        announce(&server)?;
        let is_whole = tokio::select! {
            () = signals.next() => true,
            () = a_fault(|| server.node.is_whole()) => false,
        };
        if !is_whole {
            tracing::error!("a thread has ended by a fault, and only a new process mends that");
        }
        tracing::info!("stopping");
        tokio::select! {
            () = server.stop() => tracing::info!("stopped"),
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

/// A node with HTTP in front of it.
pub(crate) struct Server {
    pub(crate) base_url: String,
    ops_url: Option<String>,
    listening_url: String,
    api: ServerHandle,
    ops: Option<ServerHandle>,
    node: Arc<Node>,
}

impl Server {
    /// Binds, starts the node, and takes requests.
    pub(crate) fn start(args: &ServeArgs, registry: Arc<Registry>) -> Result<Self, Fault> {
        config::check_listen(args)?;
        // Before anything takes its time: a hang-up that nobody listens for ends the process.
        let hangups = listen_for(SignalKind::hangup())?;
        let api_socket = bind(args.http.listen)?;
        let ops_socket = match args.http.ops_listen {
            OpsListen::At(address) => Some(bind(address)?),
            OpsListen::Off => None,
        };
        let tls = config::tls_files(&args.http)
            .map(|files| Tls::open(files, SystemClock.now()))
            .transpose()?;
        let listening = local_address(&api_socket)?;
        let listening_url = format!("{}://{listening}", config::scheme(&args.http));
        let base_url = BaseUrl::new(args.http.base_url.as_deref(), &listening_url)?;
        let node = Arc::new(Node::start(args, &base_url)?);
        let base_url = base_url.as_str().to_owned();
        let circuits = args.service.circuits.clone();
        reload_on(hangups, circuits, Arc::clone(&node.sealpost), tls.clone());
        let app = web::Data::new(app(args, &node, &base_url));
        let body_memory = Arc::clone(&app.body_memory);
        let api = serve_api(args, api_socket, app, tls.as_ref())?;
        let (ops, ops_url) = match ops_socket {
            Some(socket) => {
                let url = format!("http://{}", local_address(&socket)?);
                let ops = Ops { node: Arc::clone(&node), body_memory, registry };
                (Some(serve_ops(args, socket, ops)?), Some(url))
            }
            None => (None, None),
        };
        Ok(Self { base_url, ops_url, listening_url, api, ops, node })
    }

    /// No new connection, then requests under way, then the queue, then deliveries under way.
    pub(crate) async fn stop(self) {
        self.api.stop(true).await;
        let node = Arc::clone(&self.node);
        if web::block(move || node.stop()).await.is_err() {
            tracing::error!("the node did not stop in order");
        }
        if let Some(ops) = self.ops {
            ops.stop(false).await;
        }
    }
}

fn app(args: &ServeArgs, node: &Node, base_url: &str) -> App {
    let http = &args.http;
    App {
        sealpost: Arc::clone(&node.sealpost),
        issuer: Arc::clone(&node.issuer),
        clock: Arc::clone(&node.clock),
        base_url: base_url.to_owned(),
        is_secure: http.tls_cert.is_some()
            || http.behind_tls_proxy
            || base_url.starts_with("https://"),
        max_body_bytes: http.max_body_bytes,
        body_memory: Arc::new(BodyMemory::new(http.body_memory)),
        body_timeout: http.body_timeout,
        trusted_proxies: http.trusted_proxies.clone(),
        activations: Throttle::new(http.activations_per_minute),
        logins: Throttle::new(http.logins_per_minute),
        account_changes: Throttle::new(http.account_changes_per_minute),
        dashboard: Throttle::new(http.dashboard_per_minute),
        docs: Docs::new(base_url),
    }
}

fn serve_api(
    args: &ServeArgs,
    socket: TcpListener,
    app: web::Data<App>,
    tls: Option<&Arc<Tls>>,
) -> Result<ServerHandle, Fault> {
    let make = move || {
        ActixApp::new()
            .app_data(app.clone())
            .wrap(from_fn(http::envelope))
            // Routes are tried in this order, and those with parameters are the dear ones: the API comes first.
            .configure(http::routes)
            .configure(dashboard::routes)
    };
    let bounds = Bounds {
        workers: args.http.workers.map_or_else(cores, usize::from),
        connections_max: args.http.max_connections,
        answer_within: args.http.connection_timeout,
        drain_s: REQUESTS_DRAIN_S,
    };
    let tls = tls.map(Tls::config).transpose()?;
    listen::serve(socket, tls, bounds, make)
        .map_err(|error| Fault::caused("the API cannot be served", error))
}

fn serve_ops(args: &ServeArgs, socket: TcpListener, ops: Ops) -> Result<ServerHandle, Fault> {
    let ops = web::Data::new(ops);
    let make = move || ActixApp::new().app_data(ops.clone()).configure(ops::routes);
    let bounds = Bounds {
        workers: 1,
        connections_max: args.http.max_connections,
        answer_within: args.http.connection_timeout,
        drain_s: REQUESTS_DRAIN_S,
    };
    listen::serve(socket, None, bounds, make)
        .map_err(|error| Fault::caused("the ops address cannot be served", error))
}

/// From now on SIGHUP has the circuits and the certificate read again.
fn reload_on(
    mut hangups: Signal,
    circuits: Option<PathBuf>,
    sealpost: Arc<Sealpost>,
    tls: Option<Arc<Tls>>,
) {
    actix_rt::spawn(async move {
        while hangups.recv().await.is_some() {
            let (circuits, sealpost, tls) = (circuits.clone(), Arc::clone(&sealpost), tls.clone());
            let read = web::block(move || {
                circuits::reload(circuits.as_deref(), &sealpost);
                if let Some(tls) = tls {
                    tls.reload(SystemClock.now());
                }
            });
            if read.await.is_err() {
                tracing::error!("reading the files again was broken off");
            }
        }
    });
}

/// Each connection is an open file, and the limit that shells hand down is often as low as 1,024.
fn raise_file_limit() {
    match rlimit::increase_nofile_limit(u64::MAX) {
        Ok(limit) => tracing::debug!(limit, "open files"),
        Err(error) => tracing::warn!(%error, "the limit of open files stays as it was"),
    }
}

/// The two lines that scripts wait for.
fn announce(server: &Server) -> Result<(), Fault> {
    let mut out = std::io::stdout();
    let ops_url = server.ops_url.as_deref().unwrap_or("off");
    write!(out, "sealpost listening on {}\nsealpost ops on {ops_url}\n", server.listening_url)
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

fn bind(address: SocketAddr) -> Result<TcpListener, Fault> {
    TcpListener::bind(address).map_err(|error| {
        Fault::caused(format!("{address} cannot be listened on; is it taken?"), error)
    })
}

fn local_address(socket: &TcpListener) -> Result<SocketAddr, Fault> {
    socket.local_addr().map_err(|error| Fault::caused("the socket has no address", error))
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(2, std::num::NonZero::get)
}

/// With the dispatcher's drain this stays within the 30 s that a stop may take.
const REQUESTS_DRAIN_S: u64 = 8;
/// A thread that has ended is noticed so soon.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Whoever started the service waits for 30 s before it kills.
const STOP_MAX: Duration = Duration::from_secs(29);
