//! A caller of the API that prints each call as a curl command.

use std::{fmt::Write as _, net::SocketAddr};

use serde_json::Value;

use super::narration::say;
use crate::{fault::Fault, http};

/// Calls the API and prints requests and responses.
pub(super) struct Caller {
    address: SocketAddr,
}

/// The credentials of a call.
pub(super) struct Identity {
    pub(super) token: String,
    pub(super) key: String,
}

impl Caller {
    pub(super) fn new(base_url: &str) -> Result<Self, Fault> {
        let address = base_url.strip_prefix("http://").and_then(|address| address.parse().ok());
        let address = address.ok_or_else(|| Fault::new(format!("{base_url} is not a socket")))?;
        Ok(Self { address })
    }

    /// Makes a call without credentials that must succeed.
    pub(super) async fn call(&self, path: &str, body: &Value) -> Result<Value, Fault> {
        self.perform(path, None, body, 200).await
    }

    /// Makes a call that must have this status.
    pub(super) async fn call_as(
        &self,
        identity: &Identity,
        path: &str,
        body: &Value,
        status: u16,
    ) -> Result<Value, Fault> {
        self.perform(path, Some(identity), body, status).await
    }

    async fn perform(
        &self,
        path: &str,
        identity: Option<&Identity>,
        body: &Value,
        status: u16,
    ) -> Result<Value, Fault> {
        let (address, fields, body) = (self.address, headers(identity), body.to_string());
        say(&format!("   $ {}", curl(&format!("http://{address}{path}"), &fields, &body)))?;
        let line = format!("POST {path}");
        let fields = fields.join("\r\n");
        let request = move || http::request(address, &line, &fields, &body);
        let response = actix_rt::task::spawn_blocking(request)
            .await
            .map_err(|error| Fault::caused("a call was interrupted", error))?
            .map_err(|error| Fault::caused(format!("{path} has no response"), error))?;
        let value: Value = serde_json::from_slice(&response.body)
            .map_err(|error| Fault::caused(format!("the response of {path} is not JSON"), error))?;
        say(&indented(&value))?;
        if response.status == status {
            return Ok(value);
        }
        Err(Fault::new(format!("{path} responded {} instead of {status}", response.status)))
    }
}

/// Returns a text field of a response.
pub(super) fn text<'a>(response: &'a Value, field: &str) -> Result<&'a str, Fault> {
    let value = response.get(field).and_then(Value::as_str);
    value.ok_or_else(|| Fault::new(format!("the response has no {field}")))
}

/// Returns JSON as indented lines.
pub(super) fn indented(value: &Value) -> String {
    let pretty = serde_json::to_string_pretty(value).unwrap_or_default();
    pretty.lines().map(|line| format!("   {line}")).collect::<Vec<_>>().join("\n")
}

fn headers(identity: Option<&Identity>) -> Vec<String> {
    let mut fields = vec!["Content-Type: application/json".to_owned()];
    if let Some(Identity { token, key }) = identity {
        fields.push(format!("Authorization: Bearer {token}"));
        fields.push(format!("X-DID-API-Key: {key}"));
    }
    fields
}

fn curl(url: &str, fields: &[String], body: &str) -> String {
    let mut line = format!("curl -s {url}");
    for field in fields {
        // Writing to a string cannot fail.
        write!(line, " -H '{field}'").ok();
    }
    format!("{line} -d '{body}'")
}
