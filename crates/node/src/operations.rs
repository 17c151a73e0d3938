//! Serves the operations address:
//!
//! - `/`: a list of these paths.
//! - `/livez`: the process works.
//! - `/readyz`: the node can serve requests.
//! - `/metrics`: the metrics of the process.
//! - If operators are configured: the console (web pages for operators) and the API for operators.

use std::{sync::Arc, time::Duration};

use actix_web::{HttpResponse, web};
use sealpost_api::ApiState;
use sealpost_domain::with_causes;
use sealpost_webhooks::Stats;
use tokio::time::timeout;

use crate::{
    composition::Components,
    listening::AnonymousConnections,
    metrics::{self, Registry, float},
};

/// The objects that the handlers of the operations address read.
pub(crate) struct OperationsState {
    pub(crate) node: Arc<Components>,
    pub(crate) api: web::Data<ApiState>,
    pub(crate) anonymous: Arc<AnonymousConnections>,
    pub(crate) registry: Arc<Registry>,
    /// True if operators are configured. Then the console and its API are served.
    pub(crate) has_console: bool,
}

/// Registers the routes of the operations address. Any other path gets status 404 and the list of paths.
pub(crate) fn routes(config: &mut web::ServiceConfig) {
    config
        .service(web::resource("/").route(
            web::get().to(async |state: web::Data<OperationsState>| {
                HttpResponse::Ok().body(paths(&state))
            }),
        ))
        .default_service(web::to(async |state: web::Data<OperationsState>| {
            HttpResponse::NotFound().body(format!("no such path\n\n{}", paths(&state)))
        }))
        .service(web::resource("/livez").route(web::get().to(livez)))
        .service(web::resource("/metrics").route(web::get().to(show_metrics)))
        .service(web::resource("/readyz").route(web::get().to(readyz)));
}

/// Returns the paths of the operations address, one per line.
fn paths(state: &OperationsState) -> String {
    let console = if state.has_console { CONSOLE_PATHS } else { NO_CONSOLE };
    format!("{PATHS}{console}")
}

/// Reports whether the process works. Responds with status 503 only if a restart of the process is necessary. The end
/// of a thread during an orderly stop is no failure.
async fn livez(state: web::Data<OperationsState>) -> HttpResponse {
    if state.node.is_whole() {
        HttpResponse::Ok().body("ok\n")
    } else {
        HttpResponse::ServiceUnavailable().body("a worker thread has panicked; the process stops\n")
    }
}

async fn readyz(state: web::Data<OperationsState>) -> HttpResponse {
    let checked = timeout(CHECKED_WITHIN, web::block(move || check(&state.node)));
    let checked = match checked.await {
        Ok(checked) => checked.unwrap_or_else(|_canceled| Err("the check was canceled".to_owned())),
        Err(_elapsed) => Err("the database does not respond".to_owned()),
    };
    match checked {
        Ok(warnings) => {
            let lines = warnings.iter().map(|warning| format!("warning: {warning}\n"));
            HttpResponse::Ok().body(format!("ok\n{}", lines.collect::<String>()))
        }
        Err(reason) => HttpResponse::ServiceUnavailable().body(format!("{reason}\n")),
    }
}

/// Checks whether the node can serve requests, and returns warnings about its setup. If the node cannot serve, the
/// error is the first reason. Blocks the thread.
fn check(node: &Components) -> Result<Vec<String>, String> {
    if node.is_stopping() {
        return Err("the server is stopping".into());
    }
    node.sealpost.check().map_err(|error| with_causes(&error))?;
    node.database.check_writes().map_err(|fault| fault.to_string())?;
    if !node.dispatcher.is_alive() {
        return Err("the dispatcher has stopped".into());
    }
    if node.sealpost.is_short_of_space().map_err(|error| with_causes(&error))? {
        return Err(
            "the disk of the database is nearly full: sends and activations are refused".into()
        );
    }
    node.warnings().map_err(|error| with_causes(&error))
}

async fn show_metrics(state: web::Data<OperationsState>) -> HttpResponse {
    let rendered = web::block(move || {
        metrics::process::observe();
        observe(&state.node);
        ::metrics::gauge!("sealpost_anonymous_connections").set(float(state.anonymous.count()));
        ::metrics::gauge!("sealpost_body_memory_bytes").set(float(state.api.body_memory_taken()));
        state.registry.render()
    });
    match rendered.await {
        Ok(text) => HttpResponse::Ok().content_type("text/plain; version=0.0.4").body(text),
        Err(_canceled) => {
            HttpResponse::ServiceUnavailable().body("the request for metrics was canceled\n")
        }
    }
}

/// Updates the metrics with values that are read at each scrape. All other metrics are updated when an event happens.
fn observe(node: &Components) {
    ::metrics::gauge!("sealpost_commit_queue_bytes")
        .set(float(node.sealpost.sending.queue_bytes()));
    ::metrics::gauge!("sealpost_commit_queue_depth")
        .set(float(node.sealpost.sending.queue_depth()));
    ::metrics::gauge!("sealpost_deliveries_held").set(float(node.dispatcher.held()));
    let pending = float(node.pending_journal_lines());
    ::metrics::gauge!("sealpost_revocation_journal_pending").set(pending);
    observe_deliveries(&node.dispatcher.stats());
    for (cache, entries) in node.sealpost.cache_entries() {
        ::metrics::gauge!("sealpost_cache_entries", "cache" => cache).set(float(entries));
    }
    if let Some(age) = node.database.last_commit().age() {
        ::metrics::gauge!("sealpost_last_commit_age_seconds").set(age.as_secs_f64());
    }
    for pool in node.database.pool_states() {
        for (state, count) in [("busy", pool.busy), ("idle", pool.idle)] {
            ::metrics::gauge!(
                "sealpost_database_pool_connections", "pool" => pool.pool, "state" => state
            )
            .set(float(count));
        }
    }
}

fn observe_deliveries(stats: &Stats) {
    ::metrics::gauge!("sealpost_deliveries_in_flight").set(float(stats.in_flight));
    ::metrics::gauge!("sealpost_breakers_open").set(float(stats.open_breakers));
    ::metrics::gauge!("sealpost_relay_connections").set(float(stats.relays));
    ::metrics::counter!("sealpost_deliveries_postponed_total").absolute(stats.deferred);
    let settled =
        |outcome| ::metrics::counter!("sealpost_deliveries_settled_total", "outcome" => outcome);
    settled("retried").absolute(stats.retries);
    settled("exhausted").absolute(stats.exhausted);
    for (kind, count) in stats.attempts {
        if kind == Stats::SUCCEEDED {
            settled(kind).absolute(count);
        } else {
            ::metrics::counter!("sealpost_delivery_failures_total", "reason" => kind)
                .absolute(count);
        }
    }
}

/// Maximum time for the check of `/readyz`, so that a frozen database server does not block the response.
const CHECKED_WITHIN: Duration = Duration::from_secs(10);

const PATHS: &str = "\
sealpost operations address
/livez    whether the process works
/readyz   whether the node can serve requests
/metrics  the metrics of the process
";
const CONSOLE_PATHS: &str = "\
/console  pages for operators
/admin    the API for operators, below /admin/v1
";
const NO_CONSOLE: &str = "\
The console is off: it needs --console-password-file.
";
