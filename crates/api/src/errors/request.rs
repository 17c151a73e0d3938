//! What is wrong with the request itself.

use actix_web::http::Method;
use sealpost_domain::Refusal;

use super::{Meaning, Retry};
use crate::http::Problem;

pub(super) const IDEMPOTENCY_KEY_REUSED: Meaning = Meaning {
    means: "This `Idempotency-Key` came before, with another recipient or another message.",
    when: &[
        "Within 24 hours (by default) this sender used the key for a request that was stored and that \
         differs from this one.",
    ],
    remedy: &[
        "Take a fresh key for each new message; a random UUID will do.",
        "Send exactly the same `to` and `message` where you do mean the same request.",
    ],
    retry: Retry::Changed,
    example: || Refusal::IdempotencyKeyReused.into(),
};

pub(super) const INVALID_FIELD: Meaning = Meaning {
    means: "A field has the wrong type or an unacceptable value; `field` names it and `detail` says what it must be.",
    when: &[
        "A value breaks the rules of its field, such as a handle of two letters or a webhook's address that is not https.",
        "An event that is planned for v1.1 is asked for.",
        "The `Idempotency-Key` header has no or more than 255 characters, or comes twice.",
    ],
    remedy: &["Change the field that `field` names as `detail` says."],
    retry: Retry::Changed,
    example: || {
        Refusal::InvalidField {
            field: "handle",
            problem: "must have 3 to 32 characters".to_owned(),
        }
        .into()
    },
};

pub(super) const INVALID_JSON: Meaning = Meaning {
    means: "The body is not a JSON object.",
    when: &[
        "The body is not JSON, or is an array, a text or a number.",
        "The body broke off, or its text is not UTF-8.",
    ],
    remedy: &[
        "Send an object such as `{\"label\": \"Alice\"}`, as UTF-8, and let a library write it.",
    ],
    retry: Retry::Changed,
    example: || Refusal::InvalidJson.into(),
};

pub(super) const METHOD_NOT_ALLOWED: Meaning = Meaning {
    means: "This path takes another method, which the `Allow` header names.",
    when: &[
        "A path is called with another method than its own; OPTIONS is a method like any other.",
    ],
    remedy: &["Use the method that `Allow` names: POST nearly everywhere, GET for `/v1/ping`."],
    retry: Retry::Changed,
    example: || Problem::MethodNotAllowed { allowed: Method::POST },
};

pub(super) const MISSING_FIELD: Meaning = Meaning {
    means: "A required field is missing from the body; `field` names the first one.",
    when: &["A required field is absent, null, or an empty string or array."],
    remedy: &["Send the field that `field` names."],
    retry: Retry::Changed,
    example: || Refusal::MissingField { field: "message" }.into(),
};

pub(super) const RAW_DID_REJECTED: Meaning = Meaning {
    means: "A raw DID stands where an API key or a handle is required.",
    when: &["`to` begins with `did:`, in any case and with the colon percent-encoded too."],
    remedy: &[
        "Name the recipient by its API key (`ak_…`) or by its handle; ask the recipient for one of them.",
    ],
    retry: Retry::Changed,
    example: || Refusal::RawDidRejected.into(),
};

pub(super) const UNSUPPORTED_MEDIA_TYPE: Meaning = Meaning {
    means: "The body's content type is not JSON.",
    when: &[
        "There is a body, and its `Content-Type` is absent or another than `application/json` or a type ending in `+json`.",
    ],
    remedy: &["Send `Content-Type: application/json`."],
    retry: Retry::Changed,
    example: || Problem::UnsupportedMediaType,
};
