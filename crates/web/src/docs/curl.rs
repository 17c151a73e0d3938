//! Renders an example request of the API reference as a curl command.

use serde_json::Value;

/// Returns the curl command that calls an operation at `url`. The command reads the session token and the API key from
/// shell variables.
pub(super) fn command(method: &str, url: &str, operation: &Value, body: Option<&Value>) -> String {
    let mut lines = vec![if method == "GET" {
        format!("curl {}", quoted(url))
    } else {
        format!("curl -X {method} {}", quoted(url))
    }];
    if requires_session(operation) {
        lines.push("-H \"Authorization: Bearer $SESSION_TOKEN\"".to_owned());
    }
    if accepts_key(operation) {
        lines.push("-H \"X-DID-API-Key: $API_KEY\"".to_owned());
    }
    if let Some(body) = body {
        lines.push("-H 'Content-Type: application/json'".to_owned());
        lines.push(format!("-d {}", quoted(&body.to_string())));
    }
    lines.join(" \\\n    ")
}

/// Returns true if the operation requires a session. Reads only the first security requirement.
pub(super) fn requires_session(operation: &Value) -> bool {
    operation.pointer("/security/0/session").is_some()
}

/// Returns true if the operation accepts the header with the API key.
pub(super) fn accepts_key(operation: &Value) -> bool {
    let parameters = operation.get("parameters").and_then(Value::as_array);
    parameters.into_iter().flatten().any(|parameter| parameter.get("$ref") == Some(&KEY.into()))
}

/// Quotes a text for a POSIX shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

const KEY: &str = "#/components/parameters/X-DID-API-Key";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_command_has_the_credentials_and_body_of_the_operation() {
        let operation = json!({ "security": [{ "session": [] }], "parameters": [{ "$ref": KEY }] });
        let body = json!({ "message": "it's" });
        let rendered = command("POST", "http://127.0.0.1:1/v1/x", &operation, Some(&body));
        assert_eq!(
            rendered,
            "curl -X POST 'http://127.0.0.1:1/v1/x' \\\n    -H \"Authorization: Bearer $SESSION_TOKEN\" \\\n    \
             -H \"X-DID-API-Key: $API_KEY\" \\\n    -H 'Content-Type: application/json' \\\n    \
             -d '{\"message\":\"it'\\''s\"}'"
        );
        let open = json!({ "security": [{}, { "session": [] }] });
        assert_eq!(
            command("GET", "http://127.0.0.1:1/", &open, None),
            "curl 'http://127.0.0.1:1/'"
        );
    }
}
