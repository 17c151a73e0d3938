//! Opens the envelopes that a receiver reports: `receiver | open`.
//! Dependencies: `serde_json` 1, ureq 3.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a standalone program"
)]

use std::{env, error::Error, io, thread, time::Duration};

use serde_json::{Value, json};

struct Service {
    url: String,
    token: String,
    key: String,
    agent: ureq::Agent,
}

impl Service {
    /// Opens an envelope. Returns `None` if the service refuses it permanently.
    fn open(&self, envelope_id: &str) -> Result<Option<Value>, Box<dyn Error>> {
        let body = json!({ "envelope_id": envelope_id }).to_string();
        loop {
            let mut response = self
                .agent
                .post(&self.url)
                .header("Authorization", format!("Bearer {}", self.token))
                .header("X-DID-API-Key", &self.key)
                .header("Content-Type", "application/json")
                .send(&body)?;
            let content: Value = serde_json::from_str(&response.body_mut().read_to_string()?)?;
            match response.status().as_u16() {
                200 => return Ok(Some(content)),
                429 | 503 => {
                    let wait = response.headers().get("Retry-After");
                    let seconds = wait.and_then(|it| it.to_str().ok()?.parse().ok()).unwrap_or(1);
                    thread::sleep(Duration::from_secs(seconds));
                }
                status => {
                    let code = content.get("code").and_then(Value::as_str).unwrap_or_default();
                    eprintln!("{envelope_id} {status} {code}");
                    return Ok(None);
                }
            }
        }
    }
}

fn act(envelope: &Value) {
    let text = |name| envelope.get(name).and_then(Value::as_str).unwrap_or_default();
    println!("{}: {}", text("sender"), text("message")); // Your work comes here.
}

fn main() -> Result<(), Box<dyn Error>> {
    let service = Service {
        url: env::var("SEALPOST_URL")? + "/v1/channel/open",
        token: env::var("SESSION_TOKEN")?,
        key: env::var("API_KEY")?,
        agent: ureq::Agent::config_builder().http_status_as_error(false).build().into(),
    };
    for line in io::stdin().lines() {
        let line = line?;
        let Some(envelope_id) = line.strip_prefix("new envelope ") else { continue };
        if let Some(envelope) = service.open(envelope_id)? {
            act(&envelope);
        }
    }
    Ok(())
}
