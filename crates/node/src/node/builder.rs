//! Starts a node from typed settings.

use std::{
    io::{self, ErrorKind},
    net::{SocketAddr, TcpListener},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use actix_web::web;
use sealpost_api::ApiState;
use sealpost_domain::Clock as _;
use tokio::net::TcpSocket;

use super::{Node, reload::Reloader, serving, waiting::Waiting};
use crate::{
    clock::SystemClock,
    composition::Components,
    error::{NodeError, NodeErrorKind},
    files::console::Console,
    listening::tls::ReloadableCertificate,
    metrics::Registry,
    operations::OperationsState,
    settings::{ApiSettings, Settings, base_url::BaseUrl, checks},
};

/// Configures and starts a node.
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct NodeBuilder {
    settings: Settings,
    metrics: Arc<Registry>,
}

impl Node {
    /// Returns a builder with the default settings, which need only a data folder.
    pub fn builder() -> NodeBuilder {
        NodeBuilder::default()
    }
}

impl NodeBuilder {
    /// Replaces all settings.
    pub fn settings(self, settings: Settings) -> Self {
        Self { settings, ..self }
    }

    /// Sets the folder of the embedded database and its key file. The default is `./sealpost-data`.
    pub fn data_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.settings.database.data_dir = folder.into();
        self
    }

    /// Sets the address of the API and the web pages. The default is `127.0.0.1:8080`; port 0 selects a free port.
    pub fn listen(mut self, address: SocketAddr) -> Self {
        self.settings.http.listen = address;
        self
    }

    /// Sets the operations address, for health checks and metrics. The default is `127.0.0.1:9090`; `None` turns it
    /// off.
    pub fn ops_listen(mut self, address: Option<SocketAddr>) -> Self {
        self.settings.http.ops_listen = address;
        self
    }

    /// Serves the metrics of `registry` at `/metrics` of the operations address. By default `/metrics` is empty.
    pub fn metrics(self, registry: Arc<Registry>) -> Self {
        Self { metrics: registry, ..self }
    }

    /// Binds the addresses, starts all components, and serves requests. Must run inside an actix system.
    ///
    /// With [`KeySettings::wait`], waits for the key provider, and meanwhile responds with status 503 at the addresses.
    /// Always waits if the provider is a quorum, whose operators give the key only after the start.
    ///
    /// [`KeySettings::wait`]: crate::settings::KeySettings::wait
    pub async fn start(self) -> Result<Node, NodeError> {
        let Self { settings, metrics } = self;
        checks::check(&settings)?;
        let http = &settings.http;
        let api_socket = bind(http.listen)?;
        let ops_socket = http.ops_listen.map(bind).transpose()?;
        let open = |files| ReloadableCertificate::open(files, SystemClock.now());
        let certificate = http.tls.clone().map(open).transpose()?;
        let listening_url = format!("{}://{}", http.scheme(), local_address(&api_socket)?);
        let base_url = BaseUrl::new(http.base_url.as_deref(), &listening_url)?;
        let settings = Arc::new(settings);
        let sockets = (&api_socket, ops_socket.as_ref());
        let ops_url = ops_socket.as_ref().map(local_address).transpose()?;
        let ops_url = ops_url.map(|address| format!("http://{address}"));
        let wait = || {
            tracing::info!(
                listening = listening_url,
                ops = ops_url,
                "opened the addresses, which respond with status 503 meanwhile"
            );
            Waiting::serve(&settings, &base_url, sockets, certificate.as_ref())
        };
        let components = start_with_keys(&settings, &base_url, wait).await?;
        let base_url = base_url.as_str().to_owned();
        let state = web::Data::new(api_state(&settings, &components, &base_url));
        let own_url = ops_url.as_deref().unwrap_or_default();
        let console = Console::open(&settings.console, state.clone(), own_url)?;
        let reloader = Reloader {
            circuits: settings.circuits.clone(),
            sealpost: Arc::clone(&components.sealpost),
            certificate: certificate.clone(),
            console: console.clone(),
        };
        let anonymous = serving::anonymous_connections(&settings);
        let (api, pages) = serving::serve_api(
            &settings,
            api_socket,
            state.clone(),
            certificate.as_ref(),
            Arc::clone(&anonymous),
        )?;
        let node = Arc::clone(&components);
        let has_console = console.is_some();
        let operations =
            OperationsState { node, api: state, anonymous, registry: metrics, has_console };
        let serve_ops = |socket| {
            serving::serve_operations(
                &settings,
                socket,
                operations,
                console.map(|console| console.state),
            )
        };
        let ops = ops_socket.map(serve_ops).transpose()?;
        Ok(Node { base_url, listening_url, ops_url, api, pages, ops, components, reloader })
    }
}

/// Starts the components. If the key provider does not unwrap the keys and the settings allow waiting, calls `wait`
/// once, which serves status 503, and tries again every two seconds. Returns any other error at once.
async fn start_with_keys(
    settings: &Arc<Settings>,
    base_url: &BaseUrl,
    wait: impl Fn() -> Result<Waiting, NodeError>,
) -> Result<Arc<Components>, NodeError> {
    let (mut waiting, mut logged) = (None, None);
    let started = loop {
        match start_components(settings, base_url).await {
            Err(error) if error.kind() == NodeErrorKind::KeyProvider && settings.keys.waits() => {
                let reason = error.to_string();
                if logged.as_ref() != Some(&reason) {
                    tracing::error!(
                        reason,
                        "waiting for the key provider; requests get status 503"
                    );
                    logged = Some(reason);
                }
            }
            started => break started,
        }
        if waiting.is_none() {
            waiting = Some(wait()?);
        }
        actix_rt::time::sleep(TRY_AGAIN_AFTER).await;
    };
    if let Some(waiting) = waiting {
        waiting.stop().await;
    }
    started
}

/// Starts the components on the pool of blocking threads, because starting them blocks.
async fn start_components(
    settings: &Arc<Settings>,
    base_url: &BaseUrl,
) -> Result<Arc<Components>, NodeError> {
    let (settings, base_url) = (Arc::clone(settings), base_url.clone());
    let started = web::block(move || Components::start(&settings, &base_url)).await;
    let started = started
        .map_err(|error| NodeError::caused("the start was interrupted by a panic", error))?;
    started.map(Arc::new)
}

fn api_state(settings: &Settings, components: &Components, base_url: &str) -> ApiState {
    let http = &settings.http;
    let is_secure = http.tls.is_some() || http.behind_tls_proxy || base_url.starts_with("https://");
    let settings = ApiSettings { base_url: base_url.to_owned(), is_secure, ..settings.api.clone() };
    let sealpost = Arc::clone(&components.sealpost);
    let (issuer, clock) = (Arc::clone(&components.issuer), Arc::clone(&components.clock));
    ApiState::new(settings, sealpost, issuer, clock)
}

/// Binds an address with an accept queue of [`BACKLOG`] connections. If a burst of connections overflows the queue, the
/// clients connect only a second later, after a retransmission.
fn bind(address: SocketAddr) -> Result<TcpListener, NodeError> {
    let listen = || {
        let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)?.into_std()
    };
    listen().map_err(|error: io::Error| {
        NodeError::caused(format!("{address} cannot be bound: {}", bind_advice(&error)), error)
    })
}

/// Returns the advice for an address that cannot be bound.
pub fn bind_advice(error: &io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::AddrNotAvailable => "give an address of this machine",
        ErrorKind::PermissionDenied => {
            "give a port from 1024 up, or give the process the capability CAP_NET_BIND_SERVICE"
        }
        _ => "stop its user, or give another address",
    }
}

fn local_address(socket: &TcpListener) -> Result<SocketAddr, NodeError> {
    socket
        .local_addr()
        .map_err(|error| NodeError::caused("the address of a socket cannot be read", error))
}

/// Time between two attempts to start while the key provider does not unwrap the keys.
const TRY_AGAIN_AFTER: Duration = Duration::from_secs(2);
/// Length of the accept queue. The kernel lowers it to `net.core.somaxconn`.
const BACKLOG: u32 = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_address_of_another_machine_gets_its_own_advice() {
        let refused = bind(SocketAddr::from(([192, 0, 2, 1], 0))).unwrap_err();
        assert!(refused.to_string().ends_with("give an address of this machine"), "{refused}");
        let taken = bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
        let refused = bind(taken.local_addr().unwrap()).unwrap_err();
        assert!(refused.to_string().contains("stop its user"), "{refused}");
    }
}
