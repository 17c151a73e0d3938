//! The two HTTP servers of a node.

use std::{net::TcpListener, sync::Arc};

use actix_web::{App, dev::ServerHandle, middleware::from_fn, web};
use sealpost_api::ApiState;
use sealpost_web::WebState;

use crate::{
    error::{Failure, NodeError},
    listening::{self, Bounds, tls::ReloadableCertificate},
    operations::{self, OperationsState},
    settings::Settings,
};

/// Serves the API and the pages.
pub(super) fn serve_api(
    settings: &Settings,
    socket: TcpListener,
    api: web::Data<ApiState>,
    certificate: Option<&Arc<ReloadableCertificate>>,
) -> Result<ServerHandle, NodeError> {
    let pages = web::Data::new(WebState::new(api.clone(), settings.web));
    let make = move || {
        App::new()
            .wrap(from_fn(sealpost_api::middleware))
            // Routes are tried in this order. Routes with parameters are expensive, so the API comes first.
            .configure(sealpost_api::routes_without_middleware(api.clone()))
            .configure(sealpost_web::routes(pages.clone()))
            .default_service(web::to(sealpost_api::no_such_path))
    };
    let workers = settings.http.workers.map_or_else(cores, usize::from);
    let tls = certificate.map(ReloadableCertificate::config).transpose()?;
    listening::serve(socket, tls, bounds(settings, workers), make)
        .map_err(|error| NodeError::Address(Failure::caused("the API cannot be served", error)))
}

/// Serves the operations address.
pub(super) fn serve_operations(
    settings: &Settings,
    socket: TcpListener,
    state: OperationsState,
) -> Result<ServerHandle, NodeError> {
    let state = web::Data::new(state);
    let make = move || App::new().app_data(state.clone()).configure(operations::routes);
    listening::serve(socket, None, bounds(settings, 1), make).map_err(|error| {
        NodeError::Address(Failure::caused("the operations address cannot be served", error))
    })
}

fn bounds(settings: &Settings, workers: usize) -> Bounds {
    Bounds {
        workers,
        connections_max: settings.http.max_connections,
        progress_within: settings.http.connection_timeout,
        drain_s: REQUESTS_DRAIN_S,
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(2, std::num::NonZero::get)
}

/// Limits the drain of active requests. With the 20 s of the dispatcher, a stop stays below 30 s.
const REQUESTS_DRAIN_S: u64 = 8;
