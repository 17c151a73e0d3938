//! Documentation of the errors in the request itself: its method, body, fields or idempotency key.

use actix_web::http::Method;
use sealpost_domain::Refusal;

use super::{ErrorDocumentation, Retry};
use crate::response::Problem;

pub(super) const IDEMPOTENCY_KEY_REUSED: ErrorDocumentation = ErrorDocumentation {
    summary: "This `Idempotency-Key` was used before, with another recipient or another message.",
    causes: &[
        "Within the last 24 hours (by default) this sender used the key for another message, which was stored.",
    ],
    remedies: &[
        "Use a new key for each new message, for example a random UUID.",
        "For a retry, send exactly the same `to` and `message`.",
    ],
    retry: Retry::Changed,
    example: || Refusal::IdempotencyKeyReused.into(),
};

pub(super) const INVALID_FIELD: ErrorDocumentation = ErrorDocumentation {
    summary: "A field has the wrong type or an invalid value; `field` names it, and `detail` describes valid values.",
    causes: &[
        "A value breaks the rules of its field: for example a handle of two letters, or a webhook URL without https.",
        "`events` names an event that this server does not offer. Its operator can enable the events of v1.1.",
        "The body has an unknown field; `detail` names the most similar known field.",
        "The body has two members with the same name. Parsers disagree which of them counts.",
        "The `Idempotency-Key` header is empty or longer than 255 characters.",
        "`Authorization`, `Content-Type`, `Idempotency-Key` or `X-DID-API-Key` is sent twice. Then `field` names the header.",
    ],
    remedies: &["Correct the field that `field` names, as described in `detail`."],
    retry: Retry::Changed,
    example: || {
        Refusal::InvalidField {
            field: "handle",
            problem: "must have 3 to 32 characters".to_owned(),
        }
        .into()
    },
};

pub(super) const INVALID_HTTP: ErrorDocumentation = ErrorDocumentation {
    summary: "The request is not valid HTTP/1.1; the connection closes after this response.",
    causes: &[
        "`Host` or `Content-Length` is missing, invalid or sent twice. Then `field` names the header.",
        "`Transfer-Encoding` is not `chunked`, or sent together with `Content-Length`.",
        "`Sec-WebSocket-Key` of a WebSocket handshake is missing or invalid. Then `field` names the header.",
        "The path or query has characters that a URI must encode, such as `<` or `é`.",
        "The client speaks another protocol: HTTP/2 without TLS, or `http://` on a port with TLS.",
    ],
    remedies: &[
        "Use an HTTP library for HTTP/1.1. With hand-written requests, correct what `detail` names.",
    ],
    retry: Retry::Changed,
    example: || Problem::InvalidHttp { field: Some("Host"), problem: "must be sent once" },
};

pub(super) const INVALID_JSON: ErrorDocumentation = ErrorDocumentation {
    summary: "The body is not a JSON object.",
    causes: &[
        "The body is not JSON: `detail` names line, column (in bytes) and problem. Shells often remove quotes.",
        "The body is JSON, but an array, a string, a number or null.",
        "The body has more than 20,000 values: members of objects and elements of arrays, at each depth.",
        "The connection broke within the body, or the body is not UTF-8: it has a byte order mark, is UTF-16, or compressed.",
    ],
    remedies: &[
        "Send an object such as `{\"label\": \"Alice\"}` in UTF-8, serialized by a JSON library.",
    ],
    retry: Retry::Changed,
    example: || {
        Refusal::MalformedJson { line: 1, column: 18, problem: "trailing comma".to_owned() }.into()
    },
};

pub(super) const METHOD_NOT_ALLOWED: ErrorDocumentation = ErrorDocumentation {
    summary: "This path accepts another method; the `Allow` header names it.",
    causes: &[
        "The request has another method than the path. OPTIONS is refused like any other method.",
    ],
    remedies: &["Use the method in `Allow`: POST for most paths, GET for `/v1/ping`."],
    retry: Retry::Changed,
    example: || Problem::MethodNotAllowed { allowed: Method::POST, is_preflight: false },
};

pub(super) const MISSING_FIELD: ErrorDocumentation = ErrorDocumentation {
    summary: "A required field is missing from the body; `field` names the first missing field.",
    causes: &["A required field is absent, null, or an empty string or array."],
    remedies: &["Send the field that `field` names."],
    retry: Retry::Changed,
    example: || Refusal::MissingField { field: "message" }.into(),
};

pub(super) const RAW_DID_REJECTED: ErrorDocumentation = ErrorDocumentation {
    summary: "The recipient, or another named identity, is a raw DID, but must be an API key or a handle.",
    causes: &[
        "The field that `field` names, such as `to`, starts with `did:`, in upper or lower case, also with a percent-encoded colon.",
    ],
    remedies: &[
        "Use the API key (`ak_…`) or the handle of the recipient; ask the recipient for it.",
    ],
    retry: Retry::Changed,
    example: || Refusal::RawDidRejected { field: "to" }.into(),
};

pub(super) const UNSUPPORTED_MEDIA_TYPE: ErrorDocumentation = ErrorDocumentation {
    summary: "The body's content type is not JSON, or the body is compressed.",
    causes: &[
        "The request has a body, but its `Content-Type` is neither `application/json` nor a type with the suffix `+json`.",
        "The body is compressed: it has a `Content-Encoding` other than `identity`.",
    ],
    remedies: &["Send `Content-Type: application/json`, and the body uncompressed."],
    retry: Retry::Changed,
    example: || Problem::UnsupportedMediaType,
};

pub(super) const UPGRADE_REQUIRED: ErrorDocumentation = ErrorDocumentation {
    summary: "The path needs a WebSocket, but the request does not ask for one of version 13.",
    causes: &[
        "The request has no `Upgrade: websocket`.",
        "The header `Sec-WebSocket-Version` is missing, or is not 13 (RFC 6455, section 4.1).",
        "A proxy between client and server removes `Connection: upgrade`.",
    ],
    remedies: &["Connect with a WebSocket client, or use `sealpost listen --relay`."],
    retry: Retry::Changed,
    example: || Problem::UpgradeRequired { has_other_version: false },
};
