//! Starts the two HTTP servers of a node: the API with the web pages, and the operations address for health checks and
//! metrics.

use std::{net::TcpListener, num::NonZero, sync::Arc, thread};

use actix_web::{App, middleware::from_fn, web};
use sealpost_api::{AdminState, ApiState, ConnectionProblems};
use sealpost_web::{ConsoleState, WebState};

use crate::{
    error::NodeError,
    listening::{self, AnonymousConnections, Bounds, RunningServer, tls::ReloadableCertificate},
    operations::{self, OperationsState},
    settings::{HttpSettings, Settings},
};

/// Starts the server of the HTTP API and the web pages. Also returns the state of the web pages, because a stop must
/// end their live streams.
pub(super) fn serve_api(
    settings: &Settings,
    socket: TcpListener,
    api: web::Data<ApiState>,
    certificate: Option<&Arc<ReloadableCertificate>>,
    anonymous: Arc<AnonymousConnections>,
) -> Result<(RunningServer, web::Data<WebState>), NodeError> {
    let bounds = bounds(settings, workers(settings), anonymous, api.as_ref().into());
    let pages = web::Data::new(WebState::new(api.clone(), &settings.web));
    let served = pages.clone();
    let make = move || {
        App::new()
            .wrap(from_fn(sealpost_api::middleware))
            // Registers the API first. A path is compared with the routes in the order of their registration, and
            // routes with parameters are expensive to compare. API requests are therefore not compared with the routes
            // of the pages.
            .configure(sealpost_api::routes_without_middleware(api.clone()))
            .configure(sealpost_web::routes(served.clone()))
            .default_service(web::to(sealpost_web::no_such_page))
    };
    let tls = certificate.map(ReloadableCertificate::config).transpose()?;
    let running = listening::serve(socket, tls, bounds, make)
        .map_err(|error| NodeError::caused("the API cannot be served", error))?;
    Ok((running, pages))
}

/// Starts the server of the operations address: health checks, metrics, and the console if operators are configured.
pub(super) fn serve_operations(
    settings: &Settings,
    socket: TcpListener,
    state: OperationsState,
    console: Option<web::Data<AdminState>>,
) -> Result<RunningServer, NodeError> {
    let bounds = bounds(settings, 1, anonymous_connections(settings), state.api.as_ref().into());
    let state = web::Data::new(state);
    let console = console.map(|admin| {
        let pages = web::Data::new(ConsoleState::new(admin.clone()));
        (admin, pages)
    });
    let make = move || {
        let app = App::new()
            .wrap(from_fn(sealpost_api::support_head))
            .app_data(state.clone())
            .configure(operations::routes);
        match &console {
            None => app,
            Some((admin, pages)) => app
                .configure(sealpost_api::admin_routes(admin.clone()))
                .configure(sealpost_web::console_routes(pages.clone())),
        }
    };
    listening::serve(socket, None, bounds, make)
        .map_err(|error| NodeError::caused("the operations address cannot be served", error))
}

/// Creates the set that limits the unauthenticated connections of a server.
pub(super) fn anonymous_connections(settings: &Settings) -> Arc<AnonymousConnections> {
    let http = &settings.http;
    AnonymousConnections::new(
        http.max_anonymous_connections,
        http.max_anonymous_connections_per_address,
        settings.api.trusted_proxies.clone().unwrap_or_default(),
    )
}

pub(super) fn bounds(
    settings: &Settings,
    workers: usize,
    anonymous: Arc<AnonymousConnections>,
    problems: ConnectionProblems,
) -> Bounds {
    let http = &settings.http;
    Bounds {
        workers,
        connections_max: http.max_connections,
        anonymous,
        problems: Arc::new(problems),
        handshake_within: http.tls_handshake_timeout,
        head_bytes_max: http.max_head_bytes,
        progress_within: http.connection_timeout,
        drain_s: REQUESTS_DRAIN_S,
    }
}

fn workers(settings: &Settings) -> usize {
    let cores = || thread::available_parallelism().map_or(2, NonZero::get);
    worker_count(settings.http.workers, cores)
}

fn worker_count(configured: Option<u16>, cores: impl FnOnce() -> usize) -> usize {
    let count = configured.map_or_else(cores, usize::from);
    count.clamp(1, HttpSettings::WORKERS_MAX.into())
}

/// Time in seconds for active requests to complete when the node stops. Webhook requests may take another 20 s
/// afterwards, so a stop takes less than 30 s in total.
const REQUESTS_DRAIN_S: u64 = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_with_many_cores_gets_the_largest_number_of_workers() {
        assert_eq!(worker_count(None, || 8), 8);
        assert_eq!(worker_count(None, || 768), 512);
        assert_eq!(worker_count(Some(3), || 768), 3);
    }
}
