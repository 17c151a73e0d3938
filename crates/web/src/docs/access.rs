//! The credentials that an operation accepts.

use serde_json::Value;

/// The credentials that an operation accepts, according to its security requirements in the OpenAPI document.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// The operation needs no credentials.
    Public,
    /// The operation needs no credentials, and accepts a session.
    OptionalSession,
    /// The operation needs a session. If `with_key` is true, it also needs the header `X-DID-API-Key`.
    Session { with_key: bool },
    /// The operation needs an API token, or a session with the header `X-DID-API-Key`.
    Token,
}

impl Access {
    pub(super) fn new(operation: &Value) -> Self {
        let accepts =
            |place, scheme| operation.pointer(&format!("/security/{place}/{scheme}")).is_some();
        let parameters = operation.get("parameters").and_then(Value::as_array);
        let with_key =
            parameters.into_iter().flatten().any(|it| it.get("$ref") == Some(&KEY.into()));
        match (accepts(0, "session"), accepts(1, "apiToken"), accepts(1, "session")) {
            (true, true, _) => Self::Token,
            (true, false, _) => Self::Session { with_key },
            (false, _, true) => Self::OptionalSession,
            (false, _, false) => Self::Public,
        }
    }

    /// Returns the credentials in a few words.
    pub(super) fn summary(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::OptionalSession => "public; a session token is optional",
            Self::Session { with_key: true } => "session token and API key",
            Self::Session { with_key: false } => "session token",
            Self::Token => "API token, or session token and API key",
        }
    }

    /// Returns the description of the header `Authorization`. `None` if the operation ignores the header.
    pub(super) fn authorization(self) -> Option<&'static str> {
        match self {
            Self::Public => None,
            Self::OptionalSession => Some("Optional: `Bearer` and a session token (`st_…`)."),
            Self::Session { .. } => Some("`Bearer` and a session token (`st_…`)."),
            Self::Token => Some(
                "`Bearer` and an API token (`kt_…`), or a session token (`st_…`). Programs use an API token.",
            ),
        }
    }

    /// Returns the ways to send the credentials, each as arguments of curl. The first is recommended. The commands read
    /// the credentials from shell variables.
    pub(super) fn arguments(self) -> &'static [&'static [&'static str]] {
        match self {
            Self::Public | Self::OptionalSession => &[&[]],
            Self::Session { with_key: true } => &[&[SESSION, API_KEY]],
            Self::Session { with_key: false } => &[&[SESSION]],
            Self::Token => &[&[API_TOKEN], &[SESSION, API_KEY]],
        }
    }
}

const API_KEY: &str = "-H \"X-DID-API-Key: $API_KEY\"";
const API_TOKEN: &str = "-H \"Authorization: Bearer $SEALPOST_TOKEN\"";
const SESSION: &str = "-H \"Authorization: Bearer $SESSION_TOKEN\"";
const KEY: &str = "#/components/parameters/X-DID-API-Key";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_access_follows_from_the_security_requirements() {
        let key = json!([{ "$ref": KEY }]);
        for (security, parameters, access) in [
            (json!([]), json!([]), Access::Public),
            (json!([{}, { "session": [] }]), json!([]), Access::OptionalSession),
            (json!([{ "session": [] }]), json!([]), Access::Session { with_key: false }),
            (json!([{ "session": [] }]), key.clone(), Access::Session { with_key: true }),
            (json!([{ "session": [] }, { "apiToken": [] }]), key, Access::Token),
        ] {
            let operation = json!({ "security": security, "parameters": parameters });
            assert!(Access::new(&operation) == access, "{operation}");
        }
        let arguments: [&[&str]; 2] = [
            &["-H \"Authorization: Bearer $SEALPOST_TOKEN\""],
            &["-H \"Authorization: Bearer $SESSION_TOKEN\"", "-H \"X-DID-API-Key: $API_KEY\""],
        ];
        assert_eq!(Access::Token.arguments(), arguments);
    }
}
