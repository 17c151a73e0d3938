//! `sealpost serve`: HTTP in front of a node, from the first line on standard output to the orderly end.

use std::{
    io::Write as _,
    net::{SocketAddr, TcpListener},
    sync::Arc,
    time::Duration,
};

use actix_web::{App as ActixApp, HttpServer, dev::ServerHandle, middleware::from_fn, web};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::{
    cli::{OpsListen, ServeArgs},
    compose::Node,
    config, dashboard,
    fault::Fault,
    http::{self, App, Throttle},
    logs,
    ops::{self, Health},
};

/// Serves until told to stop.
pub(crate) fn run(args: &ServeArgs) -> Result<(), Fault> {
    logs::start(&args.log, args.dev)?;
    raise_file_limit();
    actix_rt::System::new().block_on(async {
        let mut signals = Signals::listen()?;
        let server = Server::start(args)?;
        announce(&server)?;
        signals.next().await;
        tracing::info!("stopping");
        tokio::select! {
            () = server.stop() => tracing::info!("stopped"),
            () = signals.next() => {
                tracing::warn!("stopped at once; leases will expire");
                // To return is to wait for the threads that are still stopping in order.
                std::process::exit(1);
            }
        }
        Ok(())
    })
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
    pub(crate) fn start(args: &ServeArgs) -> Result<Self, Fault> {
        config::check_listen(args)?;
        let api_socket = bind(args.http.listen)?;
        let ops_socket = match args.http.ops_listen {
            OpsListen::At(address) => Some(bind(address)?),
            OpsListen::Off => None,
        };
        let node = Arc::new(Node::start(args)?);
        let listening = local_address(&api_socket)?;
        let base_url = config::base_url(args, listening);
        let api = serve_api(args, api_socket, &node, &base_url)?;
        let (ops, ops_url) = match ops_socket {
            Some(socket) => {
                let url = format!("http://{}", local_address(&socket)?);
                (Some(serve_ops(socket, &node)?), Some(url))
            }
            None => (None, None),
        };
        Ok(Self { base_url, ops_url, listening_url: format!("http://{listening}"), api, ops, node })
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

fn serve_api(
    args: &ServeArgs,
    socket: TcpListener,
    node: &Node,
    base_url: &str,
) -> Result<ServerHandle, Fault> {
    let app = web::Data::new(App {
        sealpost: Arc::clone(&node.sealpost),
        clock: Arc::clone(&node.clock),
        base_url: base_url.to_owned(),
        max_body_bytes: args.http.max_body_bytes,
        body_timeout: args.http.body_timeout,
        trusted_proxies: args.http.trusted_proxies.clone(),
        activations: Throttle::new(args.http.activations_per_minute),
        logins: Throttle::new(args.http.logins_per_minute),
    });
    let make = move || {
        ActixApp::new()
            .app_data(app.clone())
            .wrap(from_fn(http::envelope))
            .configure(dashboard::routes)
            .configure(http::routes)
    };
    let workers = args.http.workers.map_or_else(cores, usize::from);
    let server = HttpServer::new(make)
        .workers(workers)
        .max_connections(args.http.max_connections)
        .keep_alive(KEEP_ALIVE)
        .client_request_timeout(HEAD_TIMEOUT)
        .client_disconnect_timeout(DISCONNECT_TIMEOUT)
        .shutdown_timeout(REQUESTS_DRAIN_S)
        .disable_signals()
        .listen(socket)
        .map_err(|error| Fault::caused("the API cannot be served", error))?
        .run();
    let handle = server.handle();
    actix_rt::spawn(server);
    Ok(handle)
}

fn serve_ops(socket: TcpListener, node: &Node) -> Result<ServerHandle, Fault> {
    let health = web::Data::new(Health {
        sealpost: Arc::clone(&node.sealpost),
        dispatcher: Arc::clone(&node.dispatcher),
    });
    let server =
        HttpServer::new(move || ActixApp::new().app_data(health.clone()).configure(ops::routes))
            .workers(1)
            .client_request_timeout(HEAD_TIMEOUT)
            .disable_signals()
            .listen(socket)
            .map_err(|error| Fault::caused("the ops address cannot be served", error))?
            .run();
    let handle = server.handle();
    actix_rt::spawn(server);
    Ok(handle)
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

struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    fn listen() -> Result<Self, Fault> {
        let listen = |kind| {
            signal(kind).map_err(|error| Fault::caused("signals cannot be listened for", error))
        };
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
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

const KEEP_ALIVE: Duration = Duration::from_secs(15);
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// With the dispatcher's drain this stays within the 30 s that a stop may take.
const REQUESTS_DRAIN_S: u64 = 8;
