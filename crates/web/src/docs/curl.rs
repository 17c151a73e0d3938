//! Renders an example request of the API reference as a curl command.

use serde_json::Value;

/// The credentials of a request. The command reads these credentials from shell variables.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Credentials {
    ApiToken,
    /// A session. If `with_key` is true, the command also sends the header `X-DID-API-Key`.
    Session {
        with_key: bool,
    },
    None,
}

/// Returns the curl command that calls an operation at `url`.
pub(super) fn command(
    method: &str,
    url: &str,
    credentials: Credentials,
    body: Option<&Value>,
) -> String {
    let mut lines = vec![if method == "GET" {
        format!("curl {}", quoted(url))
    } else {
        format!("curl -X {method} {}", quoted(url))
    }];
    match credentials {
        Credentials::ApiToken => lines.push(bearer("SEALPOST_TOKEN")),
        Credentials::Session { .. } => lines.push(bearer("SESSION_TOKEN")),
        Credentials::None => {}
    }
    if credentials == (Credentials::Session { with_key: true }) {
        lines.push("-H \"X-DID-API-Key: $API_KEY\"".to_owned());
    }
    if let Some(body) = body {
        lines.push("-H 'Content-Type: application/json'".to_owned());
        let compact = body.to_string();
        let text = if compact.len() > BODY_LINE { format!("{body:#}") } else { compact };
        lines.push(format!("-d {}", quoted(&text)));
    }
    lines.join(" \\\n    ")
}

fn bearer(variable: &str) -> String {
    format!("-H \"Authorization: Bearer ${variable}\"")
}

/// Quotes a text for a POSIX shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Maximum length of a body in one line. A longer body has a line for each member.
const BODY_LINE: usize = 48;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_command_has_its_credentials_and_body() {
        let body = json!({ "message": "it's" });
        let session = Credentials::Session { with_key: true };
        assert_eq!(
            command("POST", "http://127.0.0.1:1/v1/x", session, Some(&body)),
            "curl -X POST 'http://127.0.0.1:1/v1/x' \\\n    -H \"Authorization: Bearer $SESSION_TOKEN\" \\\n    \
             -H \"X-DID-API-Key: $API_KEY\" \\\n    -H 'Content-Type: application/json' \\\n    \
             -d '{\"message\":\"it'\\''s\"}'"
        );
        assert_eq!(
            command("POST", "http://127.0.0.1:1/", Credentials::ApiToken, None),
            "curl -X POST 'http://127.0.0.1:1/' \\\n    -H \"Authorization: Bearer $SEALPOST_TOKEN\""
        );
        assert_eq!(
            command("GET", "http://127.0.0.1:1/", Credentials::None, None),
            "curl 'http://127.0.0.1:1/'"
        );
    }

    #[test]
    fn a_long_body_has_a_line_for_each_member() {
        let body = json!({ "label": "Alice", "handle": "alice-of-the-long-handle" });
        let command = command("POST", "http://127.0.0.1:1/", Credentials::None, Some(&body));
        assert!(command.contains("-d '{\n  \""), "{command}");
    }
}
