//! Renders an example request of the API reference as a curl command.

use serde_json::Value;

/// Returns the curl command that calls an operation at `url`. `credentials` are the arguments with the credentials.
pub(super) fn command(
    method: &str,
    url: &str,
    credentials: &[&str],
    body: Option<&Value>,
) -> String {
    let method = if method == "GET" { String::new() } else { format!("-X {method} ") };
    let mut lines = vec![format!("curl {method}{}", quoted(url))];
    lines.extend(credentials.iter().map(|argument| (*argument).to_owned()));
    if let Some(body) = body {
        lines.push("-H 'Content-Type: application/json'".to_owned());
        let compact = body.to_string();
        let text = if compact.len() > BODY_LINE { format!("{body:#}") } else { compact };
        lines.push(format!("-d {}", quoted(&text)));
    }
    lines.join(" \\\n    ")
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
        assert_eq!(
            command("POST", "http://127.0.0.1:1/v1/x", &["-H a", "-H b"], Some(&body)),
            "curl -X POST 'http://127.0.0.1:1/v1/x' \\\n    -H a \\\n    -H b \\\n    \
             -H 'Content-Type: application/json' \\\n    -d '{\"message\":\"it'\\''s\"}'"
        );
        let command = command("GET", "http://127.0.0.1:1/", &[], None);
        assert_eq!(command, "curl 'http://127.0.0.1:1/'");
    }

    #[test]
    fn a_long_body_has_a_line_for_each_member() {
        let body = json!({ "label": "Alice", "handle": "alice-of-the-long-handle" });
        let command = command("POST", "http://127.0.0.1:1/", &[], Some(&body));
        assert!(command.contains("-d '{\n  \""), "{command}");
    }
}
