//! An API client for the demo. Prints each request as an equivalent curl command, and then the response.

use std::{fmt::Write as _, net::SocketAddr};

use serde_json::Value;

use super::narration::say;
use crate::{command_error::CommandError, http};

/// Calls the API of the demo server, and prints requests and responses.
pub(super) struct Caller {
    address: SocketAddr,
}

/// The session token and the API key that authenticate a call.
pub(super) struct Identity {
    pub(super) token: String,
    pub(super) key: String,
}

impl Caller {
    pub(super) fn new(base_url: &str) -> Result<Self, CommandError> {
        let address = base_url.strip_prefix("http://").and_then(|address| address.parse().ok());
        let address =
            address.ok_or_else(|| CommandError::new(format!("{base_url} is not a socket")))?;
        Ok(Self { address })
    }

    /// Makes a call, without credentials if `identity` is `None`. Fails if the response has another status than
    /// `status`.
    pub(super) async fn call(
        &self,
        identity: Option<&Identity>,
        path: &str,
        body: &Value,
        status: u16,
    ) -> Result<Value, CommandError> {
        let (address, fields, body) = (self.address, headers(identity), body.to_string());
        say(&format!("   $ {}", curl(&format!("http://{address}{path}"), &fields, &body)))?;
        let line = format!("POST {path}");
        let fields = fields.join("\r\n");
        let request = move || http::request(address, &line, &fields, &body);
        let response = actix_rt::task::spawn_blocking(request)
            .await
            .map_err(|error| CommandError::caused("a call was interrupted", error))?
            .map_err(|error| CommandError::caused(format!("{path} has no response"), error))?;
        let value: Value = serde_json::from_slice(&response.body).map_err(|error| {
            CommandError::caused(format!("the response of {path} is not JSON"), error)
        })?;
        say(&indented(&value))?;
        if response.status == status {
            return Ok(value);
        }
        Err(CommandError::new(format!("{path} responded {} instead of {status}", response.status)))
    }
}

/// Returns a string field of a response. Fails if the field is missing.
pub(super) fn text<'a>(response: &'a Value, field: &str) -> Result<&'a str, CommandError> {
    let value = response.get(field).and_then(Value::as_str);
    value.ok_or_else(|| CommandError::new(format!("the response has no {field}")))
}

/// Formats JSON for the terminal, indented below the command that it belongs to.
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
