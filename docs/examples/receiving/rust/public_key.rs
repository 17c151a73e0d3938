//! Receives events, and verifies them with the service's public key.
//! Dependencies: actix-web 4, base64 0.22, ring 0.17, `serde_json` 1.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a standalone program")]

use std::{
    collections::HashSet,
    env,
    sync::{Mutex, PoisonError},
    time::SystemTime,
};

use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::signature::{ED25519, UnparsedPublicKey};
use serde_json::Value;

const BODY_BYTES_MAX: usize = 64 * 1024;
const TOLERANCE_S: u64 = 5 * 60;

struct Receiver {
    key: UnparsedPublicKey<Vec<u8>>,
    /// In production, use a table with a unique column: an event may arrive again days later.
    seen: Mutex<HashSet<String>>,
}

impl Receiver {
    /// Returns the event id if a signature is correct and at most five minutes old.
    fn genuine(&self, request: &HttpRequest, body: &[u8]) -> Option<String> {
        let header = |name| request.headers().get(name)?.to_str().ok();
        let (id, timestamp) = (header("webhook-id")?, header("webhook-timestamp")?);
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?;
        if now.as_secs().abs_diff(timestamp.parse().ok()?) > TOLERANCE_S {
            return None;
        }
        let content = [id.as_bytes(), timestamp.as_bytes(), body].join(&b'.');
        let is_right = |entry: &str| {
            let signature = entry.strip_prefix("v1a,").and_then(|text| STANDARD.decode(text).ok());
            signature.is_some_and(|signature| self.key.verify(&content, &signature).is_ok())
        };
        header("webhook-signature")?.split(' ').any(is_right).then(|| id.to_owned())
    }
}

/// `body` holds the raw bytes: the signature does not match re-encoded JSON.
async fn receive(
    receiver: web::Data<Receiver>,
    request: HttpRequest,
    body: web::Bytes,
) -> HttpResponse {
    let Some(id) = receiver.genuine(&request, &body) else {
        return HttpResponse::Unauthorized().finish();
    };
    let Ok(event) = serde_json::from_slice::<Value>(&body) else {
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

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    // whpk_...
    let key = env::var("WEBHOOK_PUBLIC_KEY").map_err(std::io::Error::other)?;
    let key = key.strip_prefix("whpk_").unwrap_or(&key);
    let key =
        UnparsedPublicKey::new(&ED25519, STANDARD.decode(key).map_err(std::io::Error::other)?);
    let receiver = web::Data::new(Receiver { key, seen: Mutex::default() });
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
