//! What operators and orchestrators ask, on an address of its own: `/livez` (the process runs), `/readyz` (it can take
//! requests) and `/metrics` (what it has counted, and how it stands).

use std::sync::Arc;

use actix_web::{HttpResponse, web};
use sealpost_api::ApiState;
use sealpost_webhooks::Stats;

use crate::{
    compose::Components,
    metrics::{self, Registry, float},
};

/// What operators ask about.
pub(crate) struct Ops {
    pub(crate) node: Arc<Components>,
    pub(crate) api: web::Data<ApiState>,
    pub(crate) registry: Arc<Registry>,
}

/// Every route of the ops address.
pub(crate) fn routes(config: &mut web::ServiceConfig) {
    config
        .service(web::resource("/livez").route(web::get().to(livez)).route(web::head().to(livez)))
        .service(
            web::resource("/metrics")
                .route(web::get().to(show_metrics))
                .route(web::head().to(show_metrics)),
        )
        .service(
            web::resource("/readyz").route(web::get().to(readyz)).route(web::head().to(readyz)),
        );
}

/// Not alive is what only a new process mends: not that threads end in order while the service stops.
async fn livez(ops: web::Data<Ops>) -> HttpResponse {
    if ops.node.is_whole() {
        HttpResponse::Ok().body("ok\n")
    } else {
        HttpResponse::ServiceUnavailable()
            .body("a thread has ended by a fault; the process stops\n")
    }
}

async fn readyz(ops: web::Data<Ops>) -> HttpResponse {
    let checked = web::block(move || {
        ops.node.sealpost.check().map_err(|error| error.to_string())?;
        if ops.node.dispatcher.is_alive() {
            Ok(())
        } else {
            Err("the dispatcher has stopped".into())
        }
    });
    match checked.await.unwrap_or_else(|_lost| Err("the check did not end".to_owned())) {
        Ok(()) => HttpResponse::Ok().body("ok\n"),
        Err(why) => HttpResponse::ServiceUnavailable().body(format!("{why}\n")),
    }
}

async fn show_metrics(ops: web::Data<Ops>) -> HttpResponse {
    let rendered = web::block(move || {
        metrics::observe_process();
        observe(&ops.node);
        ::metrics::gauge!("sealpost_body_memory_bytes").set(float(ops.api.body_memory_taken()));
        ops.registry.render()
    });
    match rendered.await {
        Ok(text) => HttpResponse::Ok().content_type("text/plain; version=0.0.4").body(text),
        Err(_lost) => HttpResponse::ServiceUnavailable().body("the metrics were not read\n"),
    }
}

/// What is not counted as it happens but looked at when somebody asks.
fn observe(node: &Components) {
    ::metrics::gauge!("sealpost_commit_queue_bytes").set(float(node.sealpost.queue_bytes()));
    ::metrics::gauge!("sealpost_commit_queue_depth").set(float(node.sealpost.queue_depth()));
    ::metrics::gauge!("sealpost_deliveries_held").set(float(node.dispatcher.held()));
    observe_deliveries(&node.dispatcher.stats());
    for (cache, entries) in node.sealpost.cache_entries() {
        ::metrics::gauge!("sealpost_cache_entries", "cache" => cache).set(float(entries));
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
