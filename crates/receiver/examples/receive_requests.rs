//! A receiver inside your own actix-web server: verifies each request and prints each event once.
//!
//! ```sh
//! export SEALPOST_WEBHOOK_SECRET=whsec_…
//! cargo run -p sealpost-receiver --example receive_requests -- 127.0.0.1:3000
//! ```
//!
//! The secret is shown when a webhook is registered. While the secret is rotated, give both secrets, separated by a
//! comma. Register the webhook `http://127.0.0.1:3000/hook` with a service on this machine that runs with `--dev`.

use std::{
    collections::HashSet,
    error::Error,
    io::{self, Write as _},
    sync::{Mutex, PoisonError},
};

use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use sealpost_receiver::{
    Clock as _, HeaderList, ReceivedRequest, ReceiverKey, SystemClock, VerificationError, secrets,
    verify,
};

/// The state of the receiver: its keys, and the ids of processed events. A real receiver stores the ids in a database.
struct Receiver {
    keys: Vec<ReceiverKey>,
    seen: Mutex<HashSet<String>>,
}

/// Responds with 204 to a valid request. After any other status, the service sends the event again later.
async fn receive(
    receiver: web::Data<Receiver>,
    request: HttpRequest,
    body: web::Bytes,
) -> HttpResponse {
    let headers = header_list(&request);
    // Verifies the body as it was received, because JSON that was parsed and written again has other bytes.
    let to_verify = ReceivedRequest { headers: &headers, body: &body };
    match verify(to_verify, &receiver.keys, SystemClock.now()) {
        Ok(()) => match receiver.process(&headers, &body) {
            Ok(()) => HttpResponse::NoContent().finish(),
            Err(error) => HttpResponse::InternalServerError().body(error.to_string()),
        },
        Err(fault @ (VerificationError::NoMatch { .. } | VerificationError::Stale { .. })) => {
            HttpResponse::Unauthorized().body(fault.to_string())
        }
        Err(fault) => HttpResponse::BadRequest().body(fault.to_string()),
    }
}

impl Receiver {
    /// Processes an event unless its `webhook-id` was processed before. The service may send an event more than once.
    fn process(&self, headers: &HeaderList, body: &[u8]) -> io::Result<()> {
        let id = headers.find("webhook-id").ok().flatten().unwrap_or_default();
        let is_new = self.seen.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned());
        if is_new {
            writeln!(io::stdout(), "{id} {}", String::from_utf8_lossy(body))?;
        }
        Ok(())
    }
}

fn header_list(request: &HttpRequest) -> HeaderList {
    let pairs = request.headers().iter();
    pairs.filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?))).collect()
}

#[actix_web::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:3000".to_owned());
    let keys = secrets(&secret_text()?, VARIABLE)?;
    if keys.is_empty() {
        return Err(
            format!("{VARIABLE} is empty: set it to the whsec_ secret of the webhook").into()
        );
    }
    let receiver = web::Data::new(Receiver { keys, seen: Mutex::default() });
    let app = move || {
        let hook = web::resource("/hook").route(web::post().to(receive));
        App::new().app_data(receiver.clone()).service(hook)
    };
    Ok(HttpServer::new(app).bind(address)?.run().await?)
}

#[expect(clippy::disallowed_methods, reason = "this is a program with its own settings")]
fn secret_text() -> Result<String, String> {
    std::env::var(VARIABLE)
        .map_err(|error| format!("{VARIABLE}: {error}: set it to the whsec_ secret of the webhook"))
}

const VARIABLE: &str = "SEALPOST_WEBHOOK_SECRET";
