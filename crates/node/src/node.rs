//! A node with HTTP in front of it, from binding its addresses to the orderly end.

use std::{
    net::{SocketAddr, TcpListener},
    path::PathBuf,
    sync::Arc,
};

use actix_web::{App, dev::ServerHandle, middleware::from_fn, web};
use sealpost_api::{ApiSettings, ApiState};
use sealpost_domain::Clock as _;
use sealpost_service::Sealpost;
use sealpost_web::WebState;

use crate::{
    base_url::BaseUrl,
    circuits,
    compose::{Components, SystemClock},
    config,
    error::{Failure, NodeError},
    listen::{self, Bounds},
    metrics::Registry,
    ops::{self, Ops},
    settings::Settings,
    tls::Tls,
};

/// A running node with HTTP in front of it.
pub struct Node {
    base_url: String,
    ops_url: Option<String>,
    listening_url: String,
    api: ServerHandle,
    ops: Option<ServerHandle>,
    components: Arc<Components>,
    reloader: Reloader,
}

/// Reads files again that may change while a node runs.
#[derive(Clone)]
pub struct Reloader {
    circuits: Option<PathBuf>,
    sealpost: Arc<Sealpost>,
    tls: Option<Arc<Tls>>,
}

impl Node {
    /// Binds, starts everything, and takes requests. `/metrics` shows what `registry` has counted.
    pub fn start(settings: &Settings, registry: Arc<Registry>) -> Result<Self, NodeError> {
        config::check_listen(settings)?;
        let http = &settings.http;
        let api_socket = bind(http.listen)?;
        let ops_socket = http.ops_listen.map(bind).transpose()?;
        let tls = http.tls.clone().map(|files| Tls::open(files, SystemClock.now())).transpose()?;
        let listening = local_address(&api_socket)?;
        let listening_url = format!("{}://{listening}", http.scheme());
        let base_url = BaseUrl::new(http.base_url.as_deref(), &listening_url)?;
        let components = Arc::new(Components::start(settings, &base_url)?);
        let base_url = base_url.as_str().to_owned();
        let reloader = Reloader {
            circuits: settings.circuits.clone(),
            sealpost: Arc::clone(&components.sealpost),
            tls: tls.clone(),
        };
        let state = web::Data::new(api_state(settings, &components, &base_url));
        let api = serve_api(settings, api_socket, state.clone(), tls.as_ref())?;
        let (ops, ops_url) = match ops_socket {
            Some(socket) => {
                let url = format!("http://{}", local_address(&socket)?);
                let ops = Ops { node: Arc::clone(&components), api: state, registry };
                (Some(serve_ops(settings, socket, ops)?), Some(url))
            }
            None => (None, None),
        };
        Ok(Self { base_url, ops_url, listening_url, api, ops, components, reloader })
    }

    /// The address that callers know.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The bound address of the API, as a URL.
    pub fn listening_url(&self) -> &str {
        &self.listening_url
    }

    /// The bound operations address, as a URL.
    pub fn ops_url(&self) -> Option<&str> {
        self.ops_url.as_deref()
    }

    /// Whether no thread has ended by a fault. One that has does not come back, but a new process mends it.
    pub fn is_whole(&self) -> bool {
        self.components.is_whole()
    }

    /// Reads circuits and certificate again when it is asked to.
    pub fn reloader(&self) -> Reloader {
        self.reloader.clone()
    }

    /// No new connection, then requests under way, then the queue, then deliveries under way.
    pub async fn stop(self) {
        self.api.stop(true).await;
        let components = Arc::clone(&self.components);
        if web::block(move || components.stop()).await.is_err() {
            tracing::error!("the node did not stop in order");
        }
        if let Some(ops) = self.ops {
            ops.stop(false).await;
        }
    }
}

impl Reloader {
    /// Reads circuits and certificate again. What does not fit replaces nothing, and is logged. Blocks.
    pub fn reload(&self) {
        circuits::reload(self.circuits.as_deref(), &self.sealpost);
        if let Some(tls) = &self.tls {
            tls.reload(SystemClock.now());
        }
    }
}

fn api_state(settings: &Settings, components: &Components, base_url: &str) -> ApiState {
    let http = &settings.http;
    let is_secure = http.tls.is_some() || http.behind_tls_proxy || base_url.starts_with("https://");
    let settings = ApiSettings {
        base_url: base_url.to_owned(),
        is_secure,
        max_body_bytes: http.max_body_bytes,
        body_memory: http.body_memory,
        body_timeout: http.body_timeout,
        trusted_proxies: http.trusted_proxies.clone(),
        activations_per_minute: http.activations_per_minute,
        logins_per_minute: http.logins_per_minute,
        account_changes_per_minute: http.account_changes_per_minute,
    };
    let sealpost = Arc::clone(&components.sealpost);
    let (issuer, clock) = (Arc::clone(&components.issuer), Arc::clone(&components.clock));
    ApiState::new(settings, sealpost, issuer, clock)
}

fn serve_api(
    settings: &Settings,
    socket: TcpListener,
    api: web::Data<ApiState>,
    tls: Option<&Arc<Tls>>,
) -> Result<ServerHandle, NodeError> {
    let pages = web::Data::new(WebState::new(api.clone(), settings.http.dashboard_per_minute));
    let make = move || {
        App::new()
            .wrap(from_fn(sealpost_api::middleware))
            // Routes are tried in this order, and those with parameters are the dear ones: the API comes first.
            .configure(sealpost_api::routes_without_middleware(api.clone()))
            .configure(sealpost_web::routes(pages.clone()))
            .default_service(web::to(sealpost_api::no_such_path))
    };
    let bounds = Bounds {
        workers: settings.http.workers.map_or_else(cores, usize::from),
        connections_max: settings.http.max_connections,
        answer_within: settings.http.connection_timeout,
        drain_s: REQUESTS_DRAIN_S,
    };
    let tls = tls.map(Tls::config).transpose()?;
    listen::serve(socket, tls, bounds, make)
        .map_err(|error| NodeError::Address(Failure::caused("the API cannot be served", error)))
}

fn serve_ops(
    settings: &Settings,
    socket: TcpListener,
    ops: Ops,
) -> Result<ServerHandle, NodeError> {
    let ops = web::Data::new(ops);
    let make = move || App::new().app_data(ops.clone()).configure(ops::routes);
    let bounds = Bounds {
        workers: 1,
        connections_max: settings.http.max_connections,
        answer_within: settings.http.connection_timeout,
        drain_s: REQUESTS_DRAIN_S,
    };
    listen::serve(socket, None, bounds, make).map_err(|error| {
        NodeError::Start(Failure::caused("the ops address cannot be served", error))
    })
}

/// Each connection is an open file, and the limit that shells hand down is often as low as 1,024.
pub fn raise_file_limit() {
    match rlimit::increase_nofile_limit(u64::MAX) {
        Ok(limit) => tracing::debug!(limit, "open files"),
        Err(error) => tracing::warn!(%error, "the limit of open files stays as it was"),
    }
}

fn bind(address: SocketAddr) -> Result<TcpListener, NodeError> {
    TcpListener::bind(address).map_err(|error| {
        NodeError::Address(Failure::caused(
            format!("{address} cannot be listened on; is it taken?"),
            error,
        ))
    })
}

fn local_address(socket: &TcpListener) -> Result<SocketAddr, NodeError> {
    socket
        .local_addr()
        .map_err(|error| NodeError::Start(Failure::caused("the socket has no address", error)))
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(2, std::num::NonZero::get)
}

/// With the dispatcher's drain this stays within the 30 s that a stop may take.
const REQUESTS_DRAIN_S: u64 = 8;
