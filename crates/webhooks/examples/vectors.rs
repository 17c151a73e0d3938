//! Writes the test vectors for receivers in any language, from public secrets. A test compares the file with the output.
//!
//! `cargo run -p sealpost-webhooks --example vectors > docs/examples/webhook-vectors.json`

use std::io::Write as _;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use sealpost_domain::ports::EventSigner;
use sealpost_wallet::WebhookSecret;
use sealpost_webhooks::{VerifyingKey, sign, sign_asymmetric};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    Ok(writeln!(std::io::stdout(), "{:#}", vectors()?)?)
}

/// Returns the content of the file with the test vectors. The verdicts are constants, not results of the code under
/// test.
pub(crate) fn vectors() -> Result<Value, Box<dyn std::error::Error>> {
    let factory = VectorFactory::new()?;
    let mut cases = factory.symmetric_cases();
    cases.extend(factory.asymmetric_cases());
    Ok(json!({
        "about": "Webhook requests with their verdicts. A case is valid if one of its keys (secrets for v1 entries, \
                  public_key for v1a entries) verifies an entry of webhook-signature over the exact bytes of body, \
                  and now is within tolerance_s of webhook-timestamp.",
        "tolerance_s": 300,
        "signing_key": format!("whsk_{}", STANDARD.encode(SIGNING_SEED)),
        "cases": cases,
    }))
}

struct VectorFactory {
    secrets: [WebhookSecret; 2],
    signers: [Signer; 2],
}

struct Signer(Ed25519KeyPair);

/// The parts of a test case that differ between cases.
struct Case<'a> {
    name: &'a str,
    is_valid: bool,
    now: i64,
    id: &'a str,
    timestamp: i64,
    body: &'a str,
}

const VALID: Case<'_> =
    Case { name: "", is_valid: true, now: SENT_AT + 2, id: ID, timestamp: SENT_AT, body: BODY };

impl VectorFactory {
    fn new() -> Result<Self, Box<dyn std::error::Error>> {
        let secret = |first: u8| WebhookSecret::parse(&secret_text(first));
        let signer = |seed: &[u8]| Ed25519KeyPair::from_seed_unchecked(seed).map(Signer);
        let error = "ring rejects a seed of 32 bytes";
        Ok(Self {
            secrets: [secret(NEW)?, secret(OLD)?],
            signers: [
                signer(&SIGNING_SEED).map_err(|_rejected| error)?,
                signer(&[9; 32]).map_err(|_rejected| error)?,
            ],
        })
    }

    fn symmetric_cases(&self) -> Vec<Value> {
        let [new, old] =
            self.secrets.each_ref().map(|secret| sign(secret, ID, SENT_AT, BODY.as_bytes()));
        let both = format!("{new} {old}");
        let (flipped, signer) = (
            flip(&new),
            sign_asymmetric(&self.signers[0], ID, &SENT_AT.to_string(), BODY.as_bytes()),
        );
        let (line, spaced) = (format!("{BODY}\n"), BODY.replace("\":", "\": "));
        let flipped_body = BODY.replace("1267", "1266");
        let many = format!("v0,AAAA {flipped} {signer} {new}");
        let with_new = |case: Case<'_>, signature: &str| case.with_secrets(&[NEW], signature);
        vec![
            with_new(Case { name: "one signature", ..VALID }, &new),
            with_new(
                Case { name: "received 300 s after it was sent", now: SENT_AT + 300, ..VALID },
                &new,
            ),
            with_new(
                Case { name: "received 300 s before it was sent", now: SENT_AT - 300, ..VALID },
                &new,
            ),
            with_new(Case { name: "old timestamp", now: SENT_AT + 301, ..INVALID }, &new),
            with_new(Case { name: "timestamp in the future", now: SENT_AT - 301, ..INVALID }, &new),
            with_new(
                Case { name: "flipped bit in the body", body: &flipped_body, ..INVALID },
                &new,
            ),
            with_new(Case { name: "newline after the body", body: &line, ..INVALID }, &new),
            with_new(
                Case { name: "body serialized again with spaces", body: &spaced, ..INVALID },
                &new,
            ),
            with_new(Case { name: "flipped bit in the id", id: FLIPPED_ID, ..INVALID }, &new),
            with_new(
                Case { name: "flipped bit in the timestamp", timestamp: SENT_AT + 1, ..INVALID },
                &new,
            ),
            with_new(Case { name: "flipped bit in the signature", ..INVALID }, &flipped),
            with_new(Case { name: "no signature", ..INVALID }, ""),
            with_new(Case { name: "wrong secret", ..INVALID }, &old),
            with_new(Case { name: "rotating, the new secret is known", ..VALID }, &both),
            Case { name: "rotating, the old secret is known", ..VALID }.with_secrets(&[OLD], &both),
            Case { name: "rotating, both are known, one has signed", ..VALID }
                .with_secrets(&[NEW, OLD], &old),
            with_new(Case { name: "the matching signature is the last of many", ..VALID }, &many),
            with_new(Case { name: "a v1a signature does not match a secret", ..INVALID }, &signer),
        ]
    }

    fn asymmetric_cases(&self) -> Vec<Value> {
        let timestamp = SENT_AT.to_string();
        let [own, other] = self
            .signers
            .each_ref()
            .map(|signer| sign_asymmetric(signer, ID, &timestamp, BODY.as_bytes()));
        let both = format!("{} {own}", sign(&self.secrets[0], ID, SENT_AT, BODY.as_bytes()));
        let symmetric = both.replace(&own, "");
        let flipped_body = BODY.replace("1267", "1266");
        let key = self.signers[0].key();
        let cases = [
            (Case { name: "v1a", ..VALID }, own.clone()),
            (Case { name: "v1a beside v1", ..VALID }, both),
            (Case { name: "v1a, old timestamp", now: SENT_AT + 301, ..INVALID }, own.clone()),
            (
                Case { name: "v1a, flipped bit in the body", body: &flipped_body, ..INVALID },
                own.clone(),
            ),
            (Case { name: "v1a, flipped bit in the id", id: FLIPPED_ID, ..INVALID }, own.clone()),
            (
                Case {
                    name: "v1a, flipped bit in the timestamp",
                    timestamp: SENT_AT + 1,
                    ..INVALID
                },
                own.clone(),
            ),
            (Case { name: "v1a, flipped bit in the signature", ..INVALID }, flip(&own)),
            (Case { name: "v1a, wrong key", ..INVALID }, other),
            (
                Case { name: "a v1 signature does not match a public key", ..INVALID },
                symmetric.trim_end().to_owned(),
            ),
        ];
        cases.into_iter().map(|(case, signature)| case.with_key(&key, &signature)).collect()
    }
}

impl Case<'_> {
    fn with_secrets(&self, known: &[u8], signature: &str) -> Value {
        let secrets: Vec<String> = known.iter().copied().map(secret_text).collect();
        self.to_json(&json!(secrets), &Value::Null, signature)
    }

    fn with_key(&self, key: &str, signature: &str) -> Value {
        self.to_json(&json!([]), &json!(key), signature)
    }

    fn to_json(&self, secrets: &Value, public_key: &Value, signature: &str) -> Value {
        json!({
            "name": self.name,
            "secrets": secrets,
            "public_key": public_key,
            "headers": {
                "webhook-id": self.id,
                "webhook-timestamp": self.timestamp.to_string(),
                "webhook-signature": signature,
            },
            "body": self.body,
            "now": self.now,
            "valid": self.is_valid,
        })
    }
}

impl EventSigner for Signer {
    fn sign_event(&self, content: &[u8]) -> [u8; 64] {
        self.0.sign(content).as_ref().try_into().unwrap_or([0; 64])
    }
}

impl Signer {
    fn key(&self) -> String {
        let bytes = self.0.public_key().as_ref().try_into().unwrap_or_default();
        VerifyingKey::from_bytes(bytes).map(|key| key.to_string()).unwrap_or_default()
    }
}

/// Returns the text of a webhook secret with 32 bytes that count up from `first`.
fn secret_text(first: u8) -> String {
    let bytes: Vec<u8> = (first..first.saturating_add(32)).collect();
    format!("whsec_{}", STANDARD.encode(bytes))
}

/// Returns the entry with a wrong signature: the lowest bit of its first byte is flipped.
fn flip(entry: &str) -> String {
    let (version, text) = entry.split_once(',').unwrap_or_default();
    let mut bytes = STANDARD.decode(text).unwrap_or_default();
    if let Some(first) = bytes.first_mut() {
        *first ^= 1;
    }
    format!("{version},{}", STANDARD.encode(bytes))
}

const INVALID: Case<'_> = Case { is_valid: false, ..VALID };
const NEW: u8 = 0;
const OLD: u8 = 32;
const SIGNING_SEED: [u8; 32] = *b"a seed that anybody may look at.";
/// Time of all requests in Unix seconds. The number is even, so the next number differs in only one bit of the last
/// digit.
const SENT_AT: i64 = 1_767_225_600;
const ID: &str = "env_01h455vb4pex5vsknk084sn02q";
const FLIPPED_ID: &str = "env_01h455vb4pex5vsknk084sn02p";
const BODY: &str = concat!(
    r#"{"event":"envelope.received","envelope_id":"env_01h455vb4pex5vsknk084sn02q","#,
    r#""envelope_hash":"sha256:e59cdddc5bebce1a9e9b690afb5fe71a7e5df7bb62b25cb02149d788b11a3f49","#,
    r#""sender":"ak_01h455vb4pex5vsknk084sn02q","#,
    r#""encryption":{"algorithm":"HPKE-XWing-HKDF-SHA256-AES-256-GCM-Ed25519","status":"sealed"},"#,
    r#""metadata":{"payload_size_bytes":1267,"timestamp":"2026-01-01T00:00:00.000Z"}}"#,
);
