//! Shows the steps of a receiver: verify the signature over the raw body, check the id for a repeated delivery, and
//! only then parse the body. Run with `cargo run -p sealpost-webhooks --example receive`.

use std::{
    collections::{HashMap, HashSet},
    error::Error,
    io::Write as _,
    time::SystemTime,
};

use sealpost_domain::Timestamp;
use sealpost_wallet::WebhookSecret;
use sealpost_webhooks::{SignedHeaders, VerifyError, sign, verify};

/// A receiver of webhook requests, with the secret of its webhook and the ids of processed events.
struct Receiver {
    secret: WebhookSecret,
    seen: HashSet<String>,
}

/// The response of the receiver. After any status except 2xx, the service sends the event again.
#[derive(Debug, PartialEq)]
enum Response {
    Ok200,
    BadRequest400,
}

impl Receiver {
    /// Processes a request. `body` must contain the bytes as received. A body that was parsed and serialized again may
    /// not match the signature.
    fn receive(
        &mut self,
        headers: &HashMap<&str, String>,
        body: &[u8],
        now: Timestamp,
    ) -> Response {
        let header = |name: &str| headers.get(name).map(String::as_str).unwrap_or_default();
        let signed = SignedHeaders {
            id: header("webhook-id"),
            timestamp: header("webhook-timestamp"),
            signature: header("webhook-signature"),
        };
        if verify(&self.secret, &signed, body, now).is_err() {
            return Response::BadRequest400;
        }
        let is_new = self.seen.insert(signed.id.to_owned());
        if is_new && serde_json::from_slice::<serde_json::Value>(body).is_err() {
            return Response::BadRequest400;
        }
        Response::Ok200
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let secret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
    let mut receiver = Receiver { secret: WebhookSecret::parse(secret)?, seen: HashSet::new() };

    let now = now()?;
    let body = br#"{"event":"envelope.received","envelope_id":"env_01h455vb4pex5vsknk084sn02q"}"#;
    let id = "env_01h455vb4pex5vsknk084sn02q";
    let headers = HashMap::from([
        ("webhook-id", id.to_owned()),
        ("webhook-timestamp", now.as_seconds().to_string()),
        ("webhook-signature", sign(&receiver.secret, id, now.as_seconds(), body)),
    ]);

    let mut out = std::io::stdout();
    writeln!(out, "as sent:         {:?}", receiver.receive(&headers, body, now))?;
    writeln!(out, "sent again:      {:?}", receiver.receive(&headers, body, now))?;
    writeln!(out, "body altered:    {:?}", receiver.receive(&headers, b"{}", now))?;
    let later = Timestamp::from_millis(now.as_millis() + 600_000);
    writeln!(out, "ten minutes old: {:?}", receiver.receive(&headers, body, later))?;
    writeln!(out, "an error reads:  {}", VerifyError::NoMatch)?;
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a receiver reads the system clock")]
fn now() -> Result<Timestamp, Box<dyn Error>> {
    let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    Ok(Timestamp::from_millis(i64::try_from(since_epoch.as_millis())?))
}
