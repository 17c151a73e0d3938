//! What a receiver does with a notice: verify the signature over the raw body, look at the id (a notice may come more
//! than once), and only then read the body. Run it with `cargo run -p sealpost-webhooks --example receive`.

use std::{
    collections::{HashMap, HashSet},
    error::Error,
    io::Write as _,
    time::SystemTime,
};

use sealpost_domain::Timestamp;
use sealpost_wallet::WebhookSecret;
use sealpost_webhooks::{SignedHeaders, VerifyFault, sign, verify};

/// A receiver keeps its secret, and the ids that it has dealt with.
struct Receiver {
    secret: WebhookSecret,
    seen: HashSet<String>,
}

/// What the receiver answers; anything but 2xx is sent again.
#[derive(Debug, PartialEq)]
enum Answer {
    Ok200,
    BadRequest400,
}

impl Receiver {
    /// `body` must be the bytes as they came: parsed and written again, they would not match the signature.
    fn receive(&mut self, headers: &HashMap<&str, String>, body: &[u8], now: Timestamp) -> Answer {
        let header = |name: &str| headers.get(name).map(String::as_str).unwrap_or_default();
        let signed = SignedHeaders {
            id: header("webhook-id"),
            timestamp: header("webhook-timestamp"),
            signature: header("webhook-signature"),
        };
        if verify(&self.secret, &signed, body, now).is_err() {
            return Answer::BadRequest400;
        }
        let is_new = self.seen.insert(signed.id.to_owned());
        if is_new && serde_json::from_slice::<serde_json::Value>(body).is_err() {
            return Answer::BadRequest400;
        }
        Answer::Ok200
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
    writeln!(out, "as it was sent: {:?}", receiver.receive(&headers, body, now))?;
    writeln!(out, "sent once more: {:?}", receiver.receive(&headers, body, now))?;
    writeln!(out, "body altered:   {:?}", receiver.receive(&headers, b"{}", now))?;
    let later = Timestamp::from_millis(now.as_millis() + 600_000);
    writeln!(out, "ten minutes on: {:?}", receiver.receive(&headers, body, later))?;
    writeln!(out, "a fault reads:  {}", VerifyFault::NoMatch)?;
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a receiver has its own clock")]
fn now() -> Result<Timestamp, Box<dyn Error>> {
    let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?;
    Ok(Timestamp::from_millis(i64::try_from(since_epoch.as_millis())?))
}
