//! Webhook requests that a test signs itself, as the Standard Webhooks specification requires. The reference library
//! signs with shared secrets (v1), and this module signs with an Ed25519 private key (v1a).

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::signature::Ed25519KeyPair;
use standardwebhooks::Webhook;

use crate::support::{Client, Request, Response, WebhookRequest};

/// A webhook request with its signature.
#[derive(Debug, Clone)]
pub(crate) struct Signed {
    pub(crate) id: String,
    pub(crate) timestamp: String,
    pub(crate) signature: String,
    pub(crate) body: String,
}

impl Signed {
    /// Creates a request with a timestamp `seconds_ago` in the past, and one signature for each secret.
    pub(crate) fn with(secrets: &[&str], seconds_ago: i64) -> Self {
        Self::unsigned(ID, seconds_ago).signed(secrets)
    }

    /// Replaces the body, and signs the request again with these secrets.
    pub(crate) fn saying(self, body: &str, secrets: &[&str]) -> Self {
        Self { body: body.to_owned(), ..self }.signed(secrets)
    }

    fn signed(mut self, secrets: &[&str]) -> Self {
        let timestamp = self.timestamp.parse().unwrap();
        let entry = |secret: &&str| {
            let webhook = Webhook::new(secret).unwrap();
            webhook.sign(&self.id, timestamp, self.body.as_bytes()).unwrap()
        };
        self.signature = secrets.iter().map(entry).collect::<Vec<_>>().join(" ");
        self
    }

    /// Creates a request with a v1a (Ed25519) signature that [`PUBLIC_KEY`] verifies.
    pub(crate) fn asymmetric(seconds_ago: i64) -> Self {
        Self::asymmetric_as(ID, seconds_ago)
    }

    /// Creates a request with this id and a v1a (Ed25519) signature.
    pub(crate) fn asymmetric_as(id: &str, seconds_ago: i64) -> Self {
        let mut request = Self::unsigned(id, seconds_ago);
        let content = format!("{}.{}.{}", request.id, request.timestamp, request.body);
        let key = Ed25519KeyPair::from_seed_unchecked(&SEED).unwrap();
        request.signature = format!("v1a,{}", STANDARD.encode(key.sign(content.as_bytes())));
        request
    }

    fn unsigned(id: &str, seconds_ago: i64) -> Self {
        let id = id.to_owned();
        let body = format!(
            r#"{{"event":"envelope.received","envelope_id":"{id}","sender":"ak_01h455vb4pex5vsknk084sn02q"}}"#
        );
        let timestamp = (unix_seconds() - seconds_ago).to_string();
        Self { id, timestamp, signature: String::new(), body }
    }

    /// Returns four altered copies of the request. Each has one flipped bit: in the body, the id, the timestamp or the
    /// signature.
    pub(crate) fn flipped(&self) -> [Self; 4] {
        let flipped = |entry: &str| {
            let (version, signature) = entry.split_once(',').unwrap();
            let mut signature = STANDARD.decode(signature).unwrap();
            signature[0] ^= 1;
            format!("{version},{}", STANDARD.encode(signature))
        };
        let signature = self.signature.split(' ').map(flipped).collect::<Vec<_>>().join(" ");
        [
            Self { body: flip_last_bit(&self.body), ..self.clone() },
            Self { id: flip_last_bit(&self.id), ..self.clone() },
            Self { timestamp: flip_last_bit(&self.timestamp), ..self.clone() },
            Self { signature, ..self.clone() },
        ]
    }

    /// Returns the webhook headers of the request as text.
    pub(crate) fn head(&self) -> String {
        let Self { id, timestamp, signature, .. } = self;
        format!(
            "webhook-id: {id}\nwebhook-timestamp: {timestamp}\nwebhook-signature: {signature}\n"
        )
    }

    #[track_caller]
    pub(crate) fn post(&self, url: &str) -> Response {
        self.request(&Client::new(url)).response()
    }

    fn request<'a>(&self, client: &'a Client) -> Request<'a> {
        client
            .post("")
            .header("webhook-id", &self.id)
            .header("webhook-timestamp", &self.timestamp)
            .header("webhook-signature", &self.signature)
            .header("X-Service-Signature", &self.signature)
            .body("application/json", self.body.as_bytes())
    }
}

impl From<&WebhookRequest> for Signed {
    fn from(request: &WebhookRequest) -> Self {
        let header = |name| request.header(name).to_owned();
        Self {
            id: header("webhook-id"),
            timestamp: header("webhook-timestamp"),
            signature: header("webhook-signature"),
            body: String::from_utf8(request.body.clone()).unwrap(),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "receivers ask the same clock")]
fn unix_seconds() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.unwrap().as_secs().try_into().unwrap()
}

fn flip_last_bit(text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    *bytes.last_mut().unwrap() ^= 1;
    String::from_utf8(bytes).unwrap()
}

const ID: &str = "env_01h455vb4pex5vsknk084sn02q";
/// The public key of the private key [`SEED`].
pub(crate) const PUBLIC_KEY: &str = "whpk_6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iw=";
const SEED: [u8; 32] = [7; 32];
