//! Notices that a case signs itself, as Standard Webhooks says: with a secret by the reference library, and with a key.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::signature::Ed25519KeyPair;
use standardwebhooks::Webhook;

use crate::support::{Answer, Client, Notice, Request};

/// A notice to send.
#[derive(Debug, Clone)]
pub(crate) struct Signed {
    pub(crate) id: String,
    pub(crate) timestamp: String,
    pub(crate) signature: String,
    pub(crate) body: String,
}

impl Signed {
    /// A notice of this many seconds ago, with a signature by each secret.
    pub(crate) fn with(secrets: &[&str], seconds_ago: i64) -> Self {
        Self::unsigned(ID, seconds_ago).signed(secrets)
    }

    /// The same with another body.
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

    /// The same with a v1a signature, by the key whose public half is [`PUBLIC_KEY`].
    pub(crate) fn asymmetric(seconds_ago: i64) -> Self {
        Self::asymmetric_as(ID, seconds_ago)
    }

    /// The same with this id.
    pub(crate) fn asymmetric_as(id: &str, seconds_ago: i64) -> Self {
        let mut notice = Self::unsigned(id, seconds_ago);
        let content = format!("{}.{}.{}", notice.id, notice.timestamp, notice.body);
        let key = Ed25519KeyPair::from_seed_unchecked(&SEED).unwrap();
        notice.signature = format!("v1a,{}", STANDARD.encode(key.sign(content.as_bytes())));
        notice
    }

    fn unsigned(id: &str, seconds_ago: i64) -> Self {
        let id = id.to_owned();
        let body = format!(
            r#"{{"event":"envelope.received","envelope_id":"{id}","sender":"ak_01h455vb4pex5vsknk084sn02q"}}"#
        );
        let timestamp = (unix_seconds() - seconds_ago).to_string();
        Self { id, timestamp, signature: String::new(), body }
    }

    /// The four ways to flip one bit: of the body, the id, the timestamp and the signature.
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

    /// Its headers as text.
    pub(crate) fn head(&self) -> String {
        let Self { id, timestamp, signature, .. } = self;
        format!(
            "webhook-id: {id}\nwebhook-timestamp: {timestamp}\nwebhook-signature: {signature}\n"
        )
    }

    /// Sends it.
    #[track_caller]
    pub(crate) fn post(&self, url: &str) -> Answer {
        self.request(&Client::new(url)).answer()
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

impl From<&Notice> for Signed {
    fn from(notice: &Notice) -> Self {
        let header = |name| notice.header(name).to_owned();
        Self {
            id: header("webhook-id"),
            timestamp: header("webhook-timestamp"),
            signature: header("webhook-signature"),
            body: String::from_utf8(notice.body.clone()).unwrap(),
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
/// Of [`SEED`].
pub(crate) const PUBLIC_KEY: &str = "whpk_6kpsY+KcUgq+9VB7Ey7F+ZVHdq6+vnuSQh7qaRRG0iw=";
const SEED: [u8; 32] = [7; 32];
