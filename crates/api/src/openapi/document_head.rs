//! The parts of an OpenAPI document that do not depend on its endpoints: texts, tags and credentials.

use sealpost_domain::Code;

use super::operation::Tag;

/// The parts of an OpenAPI document that do not depend on its endpoints.
pub(crate) struct DocumentHead {
    pub(crate) title: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) description: &'static str,
    pub(crate) tags: &'static [Tag],
    /// The names and the descriptions of the security schemes. All of them are bearer tokens.
    pub(crate) credentials: &'static [(&'static str, &'static str)],
    /// True if the document also describes the events that the service sends to webhooks.
    pub(crate) has_events: bool,
    /// The error codes that the document lists and shows examples of.
    pub(crate) codes: Vec<Code>,
    /// The URL of the server of the endpoints.
    pub(crate) server: String,
}

impl DocumentHead {
    /// Returns the head of the document of the public API.
    pub(crate) fn public(base_url: &str) -> Self {
        Self {
            title: "Sealpost",
            summary: "Decentralised identity and sealed messaging.",
            description: DESCRIPTION,
            tags: &Tag::PUBLIC,
            credentials: &[
                (
                    "session",
                    "The session token of `POST /v1/auth/login`. It authenticates the account.",
                ),
                ("apiToken", API_TOKEN),
            ],
            has_events: true,
            // Only the WebSocket endpoint of relays returns this code, and the document leaves out this endpoint.
            codes: Code::public().filter(|code| *code != Code::UpgradeRequired).collect(),
            server: base_url.to_owned(),
        }
    }
}

const DESCRIPTION: &str = "\
Activate an identity, send sealed envelopes from one API key to another, and get signed webhook events about them.\n\n\
- Requests and responses are JSON; success is 200.\n\
- An error response is a problem document (RFC 9457). Its `code` never changes, and its `type` is the address of a page \
with the remedy.\n\
- Unknown fields of a body are refused, and responses may gain fields.\n\
- Each response carries `X-Request-Id`; name this id in reports.";
const API_TOKEN: &str = "\
The API token of `POST /v1/auth/tokens/create`. It authenticates one API key, and allows only the requests of its \
scopes. The description of an operation names the scopes that allow it.";
