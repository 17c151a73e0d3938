//! The OpenAPI text of one endpoint, built step by step.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use sealpost_domain::Code;
use serde_json::{Map, Value, json};

/// The OpenAPI text of one endpoint. Parts that all endpoints share are added when the document is rendered.
pub(crate) struct Operation {
    pub(super) id: &'static str,
    pub(super) tag: Tag,
    pub(super) summary: &'static str,
    pub(super) description: &'static str,
    pub(super) credentials: Credentials,
    pub(super) body: Option<Content>,
    pub(super) success: Content,
    pub(super) refusals: Vec<Code>,
    pub(super) is_idempotent: bool,
    pub(super) links: Option<Value>,
    /// The content type of the response.
    pub(super) content_type: &'static str,
    pub(super) path_parameter: Option<Value>,
}

/// The tags of the document, in its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tag {
    Identities,
    Sessions,
    Channel,
    Webhooks,
    Badges,
    Service,
}

/// The credentials of an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Credentials {
    /// A session token and one of the account's API keys.
    Key,
    /// None.
    None,
    /// A session token, or none.
    OptionalSession,
    /// A session token.
    Session,
}

/// The body of a request or of a response.
pub(super) struct Content {
    pub(super) schema: fn(&mut SchemaGenerator) -> Schema,
    /// Pairs of a summary and an example value. The summary may be empty.
    pub(super) examples: Vec<(&'static str, Value)>,
    pub(super) is_required: bool,
}

impl Tag {
    pub(super) const ALL: [Self; 6] = [
        Self::Identities,
        Self::Sessions,
        Self::Channel,
        Self::Webhooks,
        Self::Badges,
        Self::Service,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Identities => "Identities",
            Self::Sessions => "Sessions",
            Self::Channel => "Channel",
            Self::Webhooks => "Webhooks",
            Self::Badges => "Badges",
            Self::Service => "Service",
        }
    }

    pub(super) const fn description(self) -> &'static str {
        match self {
            Self::Identities => "An identity is an API key with its DID and, optionally, a handle.",
            Self::Sessions => "A session token authenticates an account.",
            Self::Channel => "Sealed envelopes, from one API key to another.",
            Self::Webhooks => "Webhooks of an API key, and the deliveries of events to them.",
            Self::Badges => {
                "Credentials on the assessment of an API key, and compliance checks of jurisdictions."
            }
            Self::Service => "The service itself.",
        }
    }
}

impl Operation {
    /// Starts an operation without credentials and body. A success responds with a `T`, as in `example`.
    pub(crate) fn new<T: JsonSchema>(id: &'static str, example: Value) -> Self {
        Self {
            id,
            tag: Tag::Service,
            summary: "",
            description: "",
            credentials: Credentials::None,
            body: None,
            success: Content {
                schema: SchemaGenerator::subschema_for::<T>,
                examples: vec![("", example)],
                is_required: true,
            },
            refusals: Vec::new(),
            is_idempotent: false,
            links: None,
            content_type: "application/json",
            path_parameter: None,
        }
    }

    /// Sets tag, summary and description.
    pub(crate) fn describe(
        self,
        tag: Tag,
        summary: &'static str,
        description: &'static str,
    ) -> Self {
        Self { tag, summary, description, ..self }
    }

    /// Adds another example of a success.
    pub(crate) fn or_responds(mut self, summary: &'static str, example: Value) -> Self {
        self.success.examples.push((summary, example));
        self
    }

    /// Requires a body: a `T`, as in these examples with their summaries.
    pub(crate) fn body<T: JsonSchema>(self, examples: Vec<(&'static str, Value)>) -> Self {
        let body = Content { schema: T::json_schema, examples, is_required: true };
        Self { body: Some(body), ..self }
    }

    /// Accepts a body: a `T`, as in these examples with their summaries.
    pub(crate) fn optional_body<T: JsonSchema>(self, examples: Vec<(&'static str, Value)>) -> Self {
        let body = Content { schema: T::json_schema, examples, is_required: false };
        Self { body: Some(body), ..self }
    }

    /// Accepts a session token.
    pub(crate) fn optional_session(self) -> Self {
        Self { credentials: Credentials::OptionalSession, ..self }.refuses(&[Code::Unauthorized])
    }

    /// Requires a session token.
    pub(crate) fn session(self) -> Self {
        Self { credentials: Credentials::Session, ..self }.refuses(&[Code::Unauthorized])
    }

    /// Requires a session token and an API key. The request counts against the limits of the key.
    pub(crate) fn session_and_key(self) -> Self {
        Self { credentials: Credentials::Key, ..self }.refuses(&[
            Code::InvalidField,
            Code::Unauthorized,
            Code::KeyInactive,
            Code::KeyNotFound,
            Code::RateLimitExceeded,
        ])
    }

    /// Adds codes of refusals. The codes of each GET or POST request are added when the document is rendered.
    pub(crate) fn refuses(mut self, codes: &[Code]) -> Self {
        self.refusals.extend_from_slice(codes);
        self
    }

    /// Accepts an `Idempotency-Key`.
    pub(crate) fn idempotent(self) -> Self {
        Self { is_idempotent: true, ..self }
    }

    /// Adds OpenAPI links, by name, to the success.
    pub(crate) fn links(self, links: Value) -> Self {
        Self { links: Some(links), ..self }
    }

    /// Sets the content type of the success, if it is not `application/json`.
    pub(crate) fn content_type(self, content_type: &'static str) -> Self {
        Self { content_type, ..self }
    }

    /// Adds the OpenAPI parameter for the variable segment of the path.
    pub(crate) fn path_parameter(self, parameter: Value) -> Self {
        Self { path_parameter: Some(parameter), ..self }
    }
}

impl Credentials {
    /// Returns the security requirements. The API key may also be in the body, so the header is optional.
    pub(super) fn security(self) -> Value {
        match self {
            Self::Key => json!([{ "session": [], "apiKey": [] }, { "session": [] }]),
            Self::None => json!([]),
            Self::OptionalSession => json!([{}, { "session": [] }]),
            Self::Session => json!([{ "session": [] }]),
        }
    }

    pub(super) fn has_key(self) -> bool {
        self == Self::Key
    }
}

impl Content {
    /// Renders the media type object with the schema and named examples.
    pub(super) fn render(&self, schema: &Value) -> Value {
        let named = |(index, (summary, value)): (usize, &(&str, Value))| {
            let example = if summary.is_empty() {
                json!({ "value": value })
            } else {
                json!({ "summary": summary, "value": value })
            };
            (format!("example{}", index.saturating_add(1)), example)
        };
        let examples: Map<_, _> = self.examples.iter().enumerate().map(named).collect();
        json!({ "schema": schema, "examples": examples })
    }
}
