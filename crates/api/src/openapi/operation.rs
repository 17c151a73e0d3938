//! What the document says of one endpoint.

use actix_web::http::Method;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use sealpost_domain::Code;
use serde_json::{Value, json};

use super::{parts, responses, schemas::Schemas};

/// One endpoint, as callers read of it.
pub(crate) struct Operation {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
    pub(super) id: &'static str,
    pub(super) group: Group,
    pub(super) summary: &'static str,
    pub(super) about: &'static str,
    pub(super) access: Access,
    pub(super) body: Option<Content>,
    pub(super) answer: Content,
    pub(super) refusals: Vec<Code>,
    pub(super) is_idempotent: bool,
    pub(super) link: Option<Value>,
    /// What its answer is, as `Content-Type` says it.
    pub(super) kind: &'static str,
    /// The part of the path that is variable.
    pub(super) part: Option<Value>,
}

/// What operations are about, in the order in which a newcomer meets them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    Identities,
    Sessions,
    Channel,
    Webhooks,
    Badges,
    Service,
}

/// Who may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// Anybody.
    Anybody,
    /// Whoever shows a session token, as one of the account's keys.
    Key,
    /// Anybody; a session token makes a difference.
    Perhaps,
    /// Whoever shows a session token.
    Session,
}

/// A body, asked for or given.
pub(super) struct Content {
    pub(super) schema: fn(&mut SchemaGenerator) -> Schema,
    pub(super) examples: Vec<(&'static str, Value)>,
    pub(super) is_required: bool,
}

impl Group {
    pub(crate) const ALL: [Self; 6] = [
        Self::Identities,
        Self::Sessions,
        Self::Channel,
        Self::Webhooks,
        Self::Badges,
        Self::Service,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Identities => "Identities",
            Self::Sessions => "Sessions",
            Self::Channel => "Channel",
            Self::Webhooks => "Webhooks",
            Self::Badges => "Badges",
            Self::Service => "Service",
        }
    }

    pub(crate) const fn about(self) -> &'static str {
        match self {
            Self::Identities => {
                "An identity is an API key, the DID that it maps to, and perhaps a handle."
            }
            Self::Sessions => "A session token stands for an account and says who calls.",
            Self::Channel => "Sealed envelopes, from one API key to another.",
            Self::Webhooks => "Where the notices of a key go, and what became of them.",
            Self::Badges => {
                "Credentials on what was found about a key, and how it stands to a jurisdiction's checks."
            }
            Self::Service => "The service itself.",
        }
    }
}

impl Operation {
    /// An operation that anybody may call with GET, and that answers with a `T`.
    pub(super) fn get<T: JsonSchema>(path: &'static str, id: &'static str, example: Value) -> Self {
        Self {
            method: Method::GET,
            path,
            id,
            group: Group::Service,
            summary: "",
            about: "",
            access: Access::Anybody,
            body: None,
            answer: Content {
                schema: SchemaGenerator::subschema_for::<T>,
                examples: vec![("", example)],
                is_required: true,
            },
            refusals: vec![Code::MethodNotAllowed],
            is_idempotent: false,
            link: None,
            kind: "application/json",
            part: None,
        }
    }

    /// The same with POST, and so with all that a body can be refused for.
    pub(super) fn post<T: JsonSchema>(
        path: &'static str,
        id: &'static str,
        example: Value,
    ) -> Self {
        let operation = Self { method: Method::POST, ..Self::get::<T>(path, id, example) };
        operation.refuses(&[
            Code::InvalidJson,
            Code::RequestTimeout,
            Code::PayloadTooLarge,
            Code::UnsupportedMediaType,
            Code::InternalError,
            Code::ServiceUnavailable,
        ])
    }

    /// What it is called, and what it means.
    pub(super) fn says(self, group: Group, summary: &'static str, about: &'static str) -> Self {
        Self { group, summary, about, ..self }
    }

    /// It wants a body: a `T`.
    pub(super) fn takes<T: JsonSchema>(self, examples: Vec<(&'static str, Value)>) -> Self {
        let body = Content { schema: T::json_schema, examples, is_required: true };
        Self { body: Some(body), ..self }
    }

    /// A body is optional.
    pub(super) fn may_take<T: JsonSchema>(self, examples: Vec<(&'static str, Value)>) -> Self {
        let body = Content { schema: T::json_schema, examples, is_required: false };
        Self { body: Some(body), ..self }
    }

    /// Another answer that it can give.
    pub(super) fn or_gives(mut self, summary: &'static str, example: Value) -> Self {
        self.answer.examples.push((summary, example));
        self
    }

    /// It also takes a session.
    pub(super) fn perhaps_in_session(self) -> Self {
        Self { access: Access::Perhaps, ..self }.refuses(&[Code::Unauthorized])
    }

    /// It wants a session.
    pub(super) fn in_session(self) -> Self {
        Self { access: Access::Session, ..self }.refuses(&[Code::Unauthorized])
    }

    /// It wants a session and a key, whose limits count the request.
    pub(super) fn acting_as_key(self) -> Self {
        Self { access: Access::Key, ..self }.refuses(&[
            Code::InvalidField,
            Code::Unauthorized,
            Code::KeyInactive,
            Code::KeyNotFound,
            Code::RateLimitExceeded,
        ])
    }

    /// What else it can be refused with.
    pub(super) fn refuses(mut self, codes: &[Code]) -> Self {
        self.refusals.extend_from_slice(codes);
        self
    }

    /// It heeds `Idempotency-Key`.
    pub(super) fn heeding_idempotency(self) -> Self {
        Self { is_idempotent: true, ..self }
    }

    /// What its answer leads to: an OpenAPI link by name.
    pub(super) fn leads_to(self, link: Value) -> Self {
        Self { link: Some(link), ..self }
    }

    /// Its answer is of another kind than JSON, or of a special one.
    pub(super) fn of_kind(self, kind: &'static str) -> Self {
        Self { kind, ..self }
    }

    /// A part of its path is variable: an OpenAPI parameter.
    pub(super) fn at(self, part: Value) -> Self {
        Self { part: Some(part), ..self }
    }

    /// The method as the document writes it.
    pub(super) fn verb(&self) -> String {
        self.method.as_str().to_ascii_lowercase()
    }

    /// The operation object.
    pub(super) fn render(&self, schemas: &mut Schemas) -> Value {
        let mut object = json!({
            "operationId": self.id,
            "tags": [self.group.name()],
            "summary": self.summary,
            "description": self.about,
            "security": self.access.security(),
            "parameters": parts::parameters(self.is_idempotent, self.part.as_ref()),
            "requestBody": self.request_body(schemas),
            "responses": responses::render(self, schemas),
        });
        parts::drop_nulls(&mut object);
        object
    }

    fn request_body(&self, schemas: &mut Schemas) -> Option<Value> {
        let body = self.body.as_ref()?;
        let schema = schemas.asked(body.schema, self.access == Access::Key);
        let content = json!({ "application/json": body.render(&schema) });
        Some(json!({ "required": body.is_required, "content": content }))
    }
}

impl Access {
    fn security(self) -> Value {
        match self {
            Self::Anybody => json!([]),
            // The key may stand in the body instead.
            Self::Key => json!([{ "session": [], "apiKey": [] }, { "session": [] }]),
            Self::Perhaps => json!([{}, { "session": [] }]),
            Self::Session => json!([{ "session": [] }]),
        }
    }
}

impl Content {
    /// The media type object: the schema, and examples by name.
    pub(super) fn render(&self, schema: &Value) -> Value {
        let named = |(place, (summary, value)): (usize, &(&str, Value))| {
            let example = if summary.is_empty() {
                json!({ "value": value })
            } else {
                json!({ "summary": summary, "value": value })
            };
            (format!("example{}", place.saturating_add(1)), example)
        };
        let examples: serde_json::Map<_, _> = self.examples.iter().enumerate().map(named).collect();
        json!({ "schema": schema, "examples": examples })
    }
}
