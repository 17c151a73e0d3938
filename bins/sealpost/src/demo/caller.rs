//! A caller of the API, who says what they type.

use std::{fmt::Write as _, time::Duration};

use awc::Client;
use serde_json::Value;

use super::say;
use crate::fault::Fault;

/// Calls the API and narrates.
pub(super) struct Caller {
    base_url: String,
    client: Client,
}

/// As whom a call is made.
pub(super) struct Identity {
    pub(super) token: String,
    pub(super) key: String,
}

impl Caller {
    pub(super) fn new(base_url: &str) -> Self {
        let client = Client::builder().disable_redirects().timeout(TIMEOUT).finish();
        Self { base_url: base_url.to_owned(), client }
    }

    /// A call without credentials that must succeed.
    pub(super) async fn post(&mut self, path: &str, body: &Value) -> Result<Value, Fault> {
        self.call(path, None, body, 200).await
    }

    /// A call as an identity that must succeed.
    pub(super) async fn act(
        &mut self,
        path: &str,
        identity: &Identity,
        body: &Value,
    ) -> Result<Value, Fault> {
        self.call(path, Some(identity), body, 200).await
    }

    /// A call as an identity that must be refused.
    pub(super) async fn act_refused(
        &mut self,
        path: &str,
        identity: &Identity,
        body: &Value,
        status: u16,
    ) -> Result<Value, Fault> {
        self.call(path, Some(identity), body, status).await
    }

    async fn call(
        &self,
        path: &str,
        identity: Option<&Identity>,
        body: &Value,
        status: u16,
    ) -> Result<Value, Fault> {
        let url = format!("{}{path}", self.base_url);
        say(&format!("   $ {}", curl(&url, identity, body)))?;
        let mut request = self.client.post(&url);
        if let Some(identity) = identity {
            request = request
                .bearer_auth(&identity.token)
                .insert_header(("X-DID-API-Key", identity.key.as_str()));
        }
        let mut answer = request
            .send_json(body)
            .await
            .map_err(|error| Fault::new(format!("{path} gives no answer: {error}")))?;
        let value: Value = answer
            .json()
            .await
            .map_err(|error| Fault::new(format!("{path} does not answer JSON: {error}")))?;
        say(&indented(&value))?;
        if answer.status().as_u16() == status {
            return Ok(value);
        }
        Err(Fault::new(format!("{path} answers {} and not {status}", answer.status())))
    }
}

/// The text of a field that an answer must have.
pub(super) fn text<'a>(answer: &'a Value, field: &str) -> Result<&'a str, Fault> {
    let value = answer.get(field).and_then(Value::as_str);
    value.ok_or_else(|| Fault::new(format!("the answer has no {field}")))
}

/// JSON as it is shown.
pub(super) fn indented(value: &Value) -> String {
    let pretty = serde_json::to_string_pretty(value).unwrap_or_default();
    pretty.lines().map(|line| format!("   {line}")).collect::<Vec<_>>().join("\n")
}

fn curl(url: &str, identity: Option<&Identity>, body: &Value) -> String {
    let mut line = format!("curl -s {url} -H 'Content-Type: application/json'");
    if let Some(Identity { token, key }) = identity {
        // Writing to a string does not fail.
        write!(line, " -H 'Authorization: Bearer {token}' -H 'X-DID-API-Key: {key}'").ok();
    }
    format!("{line} -d '{body}'")
}

const TIMEOUT: Duration = Duration::from_secs(5);
