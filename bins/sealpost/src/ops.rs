//! What operators and orchestrators ask, on an address of its own: `/livez` (the process runs) and `/readyz` (it
//! can take requests).

use std::sync::Arc;

use actix_web::{HttpResponse, web};
use sealpost_service::Sealpost;
use sealpost_webhooks::Dispatcher;

/// What readiness depends on.
pub(crate) struct Health {
    pub(crate) sealpost: Arc<Sealpost>,
    pub(crate) dispatcher: Arc<Dispatcher>,
}

/// Every route of the ops address.
pub(crate) fn routes(config: &mut web::ServiceConfig) {
    config
        .service(web::resource("/livez").route(web::get().to(livez)))
        .service(web::resource("/readyz").route(web::get().to(readyz)));
}

async fn livez() -> &'static str {
    "ok\n"
}

async fn readyz(health: web::Data<Health>) -> HttpResponse {
    let checked = web::block(move || {
        health.sealpost.check().map_err(|error| error.to_string())?;
        if health.dispatcher.is_alive() { Ok(()) } else { Err("the dispatcher has stopped".into()) }
    });
    match checked.await.unwrap_or_else(|_lost| Err("the check did not end".to_owned())) {
        Ok(()) => HttpResponse::Ok().body("ok\n"),
        Err(why) => HttpResponse::ServiceUnavailable().body(format!("{why}\n")),
    }
}
