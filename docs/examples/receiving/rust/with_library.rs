//! Receives events, and verifies them with the crate standardwebhooks.
//! Dependencies: actix-web 4, http 1, `serde_json` 1, standardwebhooks 1.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a standalone program")]

use std::{
    collections::HashSet,
    env,
    sync::{Mutex, PoisonError},
};

use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use standardwebhooks::Webhook;

const BODY_BYTES_MAX: usize = 64 * 1024;

struct Receiver {
    webhook: Webhook,
    /// In production, use a table with a unique column: an event may arrive again days later.
    seen: Mutex<HashSet<String>>,
}

/// `body` holds the raw bytes: the signature does not match re-encoded JSON.
async fn receive(
    receiver: web::Data<Receiver>,
    request: HttpRequest,
    body: web::Bytes,
) -> HttpResponse {
    let headers = signed_headers(&request);
    if receiver.webhook.verify(&body, &headers).is_err() {
        return HttpResponse::Unauthorized().finish();
    }
    let (Some(id), Ok(event)) = (id(&headers), serde_json::from_slice::<Value>(&body)) else {
        return HttpResponse::BadRequest().finish();
    };
    if receiver.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(id) {
        // Put the event into a queue and process it later.
        let envelope_id = event.get("envelope_id").and_then(Value::as_str);
        println!("new envelope {}", envelope_id.unwrap_or_default());
    }
    // Any 2xx, also for a repeated event.
    HttpResponse::NoContent().finish()
}

/// Converts headers: the crate takes those of http 1, actix-web has those of http 0.2.
fn signed_headers(request: &HttpRequest) -> HeaderMap {
    let names = ["webhook-id", "webhook-timestamp", "webhook-signature"];
    let header = |name| {
        let value = request.headers().get(name)?.as_bytes();
        Some((HeaderName::from_static(name), HeaderValue::from_bytes(value).ok()?))
    };
    names.into_iter().filter_map(header).collect()
}

fn id(headers: &HeaderMap) -> Option<String> {
    headers.get("webhook-id")?.to_str().ok().map(str::to_owned)
}

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    // whsec_...
    let secret = env::var("WEBHOOK_SECRET").map_err(std::io::Error::other)?;
    let webhook = Webhook::new(&secret).map_err(std::io::Error::other)?;
    let receiver = web::Data::new(Receiver { webhook, seen: Mutex::default() });
    let port = env::var("PORT").ok().and_then(|port| port.parse().ok()).unwrap_or(8090);
    let server = HttpServer::new(move || {
        App::new()
            .app_data(receiver.clone())
            .app_data(web::PayloadConfig::new(BODY_BYTES_MAX))
            .default_service(web::post().to(receive))
    });
    let server = server.bind(("127.0.0.1", port))?;
    for address in server.addrs() {
        println!("listening on http://{address}/");
    }
    server.run().await
}
