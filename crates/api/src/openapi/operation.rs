//! A builder that describes one endpoint for the OpenAPI document.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use sealpost_domain::Code;
use sealpost_service::Access;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The description of one endpoint. Parts that are common to all endpoints are added when the document is rendered.
pub(crate) struct Operation {
    /// The operation id, which is unique in the document.
    pub(crate) id: &'static str,
    pub(super) tag: Tag,
    pub(super) summary: &'static str,
    pub(super) description: &'static str,
    pub(super) credentials: Credentials,
    pub(super) body: Option<RequestContent>,
    pub(super) success: Content,
    pub(super) refusals: Vec<Code>,
    pub(super) is_idempotent: bool,
    pub(super) is_repeatable: bool,
    pub(super) links: Option<Value>,
    /// The content types of a successful response. The client selects one of them with `Accept`.
    pub(super) content_types: &'static [&'static str],
    /// The parameter in the path or the query.
    pub(super) parameter: Option<Value>,
    /// Whether the document leaves out this operation.
    pub(crate) is_left_out: bool,
}

/// The tags that group the endpoints, in the order of the document. Serialized as their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) enum Tag {
    Identities,
    Sessions,
    Tokens,
    Channel,
    Webhooks,
    Events,
    Badges,
    Service,
    Accounts,
    Keys,
    Governance,
    Evidence,
    Operations,
}

/// The credentials that an endpoint requires or accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Credentials {
    /// A session token and one of the account's API keys, or an API token.
    Key(Access),
    /// No credentials.
    None,
    /// A session token, or no credentials.
    OptionalSession,
    /// The name and the password of an operator.
    Operator,
    /// A session token.
    Session,
}

/// The body of a successful response: its schema and examples.
pub(super) struct Content {
    pub(super) schema: fn(&mut SchemaGenerator) -> Schema,
    pub(super) examples: Examples,
}

/// The body of a request: its schema and examples.
pub(super) struct RequestContent {
    pub(super) schema: RequestSchema,
    pub(super) examples: Examples,
    pub(super) is_required: bool,
}

/// The schema of a request body: either one schema, or one for each action.
pub(super) enum RequestSchema {
    /// One schema for each value of the member `action`, which selects the action.
    ByAction(Vec<(&'static str, NamedSchema)>),
    /// The same schema for all requests.
    One(NamedSchema),
}

/// A schema, and the name under which the document lists it.
#[derive(Clone)]
pub(super) struct NamedSchema {
    pub(super) name: Cow<'static, str>,
    pub(super) schema: fn(&mut SchemaGenerator) -> Schema,
}

/// Pairs of a summary and an example value. An empty summary is omitted from the document.
type Examples = Vec<(&'static str, Value)>;

impl Tag {
    /// The tags of the public API.
    pub(super) const PUBLIC: [Self; 8] = [
        Self::Identities,
        Self::Sessions,
        Self::Tokens,
        Self::Channel,
        Self::Webhooks,
        Self::Events,
        Self::Badges,
        Self::Service,
    ];
    /// The tags of the API for operators.
    pub(crate) const ADMIN: [Self; 6] = [
        Self::Accounts,
        Self::Keys,
        Self::Governance,
        Self::Evidence,
        Self::Webhooks,
        Self::Operations,
    ];

    pub(super) const fn description(self) -> &'static str {
        match self {
            Self::Identities => "An identity is an API key with its DID and, optionally, a handle.",
            Self::Sessions => "A session token authenticates an account.",
            Self::Channel => "Sealed envelopes, from one API key to another.",
            Self::Webhooks => "Webhooks of an API key, and the deliveries of events to them.",
            Self::Events => "The requests that the service sends to webhooks.",
            Self::Badges => {
                "Credentials on the assessment of an API key, and compliance checks of jurisdictions."
            }
            Self::Service => "The service itself.",
            Self::Tokens => {
                "An API token authenticates one API key, and allows the requests of its scopes only."
            }
            Self::Accounts => "Accounts, with their keys and sessions.",
            Self::Keys => "API keys, with their state, plan and usage.",
            Self::Governance => "Council actions on keys and accounts, and partners.",
            Self::Evidence => "Assessments, attestations and badges.",
            Self::Operations => "The audit trail, and numbers about the whole service.",
        }
    }
}

impl Operation {
    /// Starts an operation without credentials and without a request body. A successful response has a body of type
    /// `T`, and `example` is an example of it.
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
            },
            refusals: Vec::new(),
            is_idempotent: false,
            is_repeatable: false,
            links: None,
            content_types: &["application/json"],
            parameter: None,
            is_left_out: false,
        }
    }

    /// Starts an operation that combines several actions; the member `action` of the body selects one of them. The
    /// operation has the request bodies, the examples and the errors of all actions. A successful response has a body
    /// of type `T`.
    pub(crate) fn by_action<T: JsonSchema>(
        id: &'static str,
        actions: Vec<(&'static str, Self)>,
    ) -> Self {
        let mut whole = Self::new::<T>(id, Value::Null);
        whole.success.examples.clear();
        let (mut schemas, mut bodies) = (Vec::new(), Vec::new());
        for (name, action) in actions {
            let responses = action.success.examples.into_iter();
            whole.success.examples.extend(responses.map(|(_, example)| (name, example)));
            whole.refusals.extend(action.refusals);
            let Some(RequestContent { schema: RequestSchema::One(schema), examples, .. }) =
                action.body
            else {
                continue;
            };
            schemas.push((name, schema));
            bodies.extend(examples.into_iter().map(|(_, body)| (name, with_action(name, &body))));
        }
        let schema = RequestSchema::ByAction(schemas);
        whole.body = Some(RequestContent { schema, examples: bodies, is_required: true });
        whole
    }

    /// Sets the tag, the summary and the description.
    pub(crate) fn describe(
        self,
        tag: Tag,
        summary: &'static str,
        description: &'static str,
    ) -> Self {
        Self { tag, summary, description, ..self }
    }

    /// Adds a further example of a successful response.
    pub(crate) fn or_responds(mut self, summary: &'static str, example: Value) -> Self {
        self.success.examples.push((summary, example));
        self
    }

    /// Requires a request body of type `T`, and adds examples.
    pub(crate) fn body<T: JsonSchema>(self, examples: Examples) -> Self {
        self.with_body::<T>(examples, true)
    }

    /// Accepts an optional request body of type `T`, and adds examples.
    pub(crate) fn optional_body<T: JsonSchema>(self, examples: Examples) -> Self {
        self.with_body::<T>(examples, false)
    }

    fn with_body<T: JsonSchema>(self, examples: Examples, is_required: bool) -> Self {
        let schema = NamedSchema { name: T::schema_name(), schema: T::json_schema };
        let body = RequestContent { schema: RequestSchema::One(schema), examples, is_required };
        Self { body: Some(body), ..self }
    }

    /// Accepts an optional session token. An invalid token is refused.
    pub(crate) fn optional_session(self) -> Self {
        Self { credentials: Credentials::OptionalSession, ..self }
            .refuses(&[Code::Unauthorized, Code::InsufficientScope])
    }

    /// Requires a session token.
    pub(crate) fn session(self) -> Self {
        Self { credentials: Credentials::Session, ..self }
            .refuses(&[Code::Unauthorized, Code::InsufficientScope])
    }

    /// Requires the credentials of an operator, in any role.
    pub(crate) fn operator(self) -> Self {
        Self { credentials: Credentials::Operator, ..self }
            .refuses(&[Code::Unauthorized, Code::RateLimitExceeded])
    }

    /// Requires the credentials of an operator whose role allows changes.
    pub(crate) fn acting_operator(self) -> Self {
        self.operator().refuses(&[
            Code::MissingField,
            Code::InvalidField,
            Code::InsufficientRole,
            Code::SubjectNotFound,
        ])
    }

    /// Requires a session token and an API key, or an API token that `access` allows. The request counts against the
    /// limits of the key.
    pub(crate) fn session_and_key(self, access: Access) -> Self {
        Self { credentials: Credentials::Key(access), ..self }.refuses(&[
            Code::InvalidField,
            Code::Unauthorized,
            Code::InsufficientScope,
            Code::KeyInactive,
            Code::KeyNotFound,
            Code::RateLimitExceeded,
        ])
    }

    /// Adds error codes that the endpoint can return. Codes that all GET or all POST endpoints have in common are added
    /// when the document is rendered.
    pub(crate) fn refuses(mut self, codes: &[Code]) -> Self {
        self.refusals.extend_from_slice(codes);
        self
    }

    /// Accepts the header `Idempotency-Key`.
    pub(crate) fn idempotent(self) -> Self {
        Self { is_idempotent: true, ..self }
    }

    /// Marks a POST request as repeatable: a client that lost the response may repeat the request without harm. The
    /// repetition may create one more object, such as another session.
    pub(crate) fn repeatable(self) -> Self {
        Self { is_repeatable: true, ..self }
    }

    /// Adds OpenAPI links to the successful response. The keys of `links` are the names of the links.
    pub(crate) fn links(self, links: Value) -> Self {
        Self { links: Some(links), ..self }
    }

    /// Replaces `application/json` as the content type of a successful response.
    pub(crate) fn content_types(self, content_types: &'static [&'static str]) -> Self {
        Self { content_types, ..self }
    }

    /// Adds the OpenAPI parameter for the variable part of the path, or in the query.
    pub(crate) fn parameter(self, parameter: Value) -> Self {
        Self { parameter: Some(parameter), ..self }
    }

    /// Leaves this operation out of the document.
    pub(crate) fn leave_out(self) -> Self {
        Self { is_left_out: true, ..self }
    }
}

impl Credentials {
    /// Returns the OpenAPI security requirements. Omits the API key, because an API key alone authorizes nothing.
    pub(super) fn security(self) -> Value {
        match self {
            Self::None => json!([]),
            Self::OptionalSession => json!([{}, { "session": [] }]),
            Self::Operator => json!([{ "operator": [] }]),
            Self::Key(Access::Scopes(_)) => json!([{ "session": [] }, { "apiToken": [] }]),
            Self::Key(Access::Session) | Self::Session => json!([{ "session": [] }]),
        }
    }

    pub(super) fn has_key(self) -> bool {
        matches!(self, Self::Key(_))
    }

    /// Returns a sentence that names the scopes of which an API token needs one. The sentence is part of the
    /// operation's description, because OpenAPI defines scopes only for OAuth. Returns `None` if the operation accepts
    /// no API token.
    pub(super) fn about_api_tokens(self) -> Option<String> {
        let Self::Key(Access::Scopes(scopes)) = self else { return None };
        let names: Vec<_> = scopes.iter().map(|scope| format!("`{}`", scope.as_str())).collect();
        Some(format!("An API token needs the scope {}.", names.join(" or ")))
    }
}

/// Renders an OpenAPI media type object with a schema and numbered examples.
pub(super) fn media_type(schema: &Value, examples: &Examples) -> Value {
    let named = |(index, (summary, value)): (usize, &(&str, Value))| {
        let example = if summary.is_empty() {
            json!({ "value": value })
        } else {
            json!({ "summary": summary, "value": value })
        };
        (format!("example{}", index.saturating_add(1)), example)
    };
    let examples: Map<_, _> = examples.iter().enumerate().map(named).collect();
    json!({ "schema": schema, "examples": examples })
}

/// Returns an example body with the member `action` added before all other members.
fn with_action(name: &str, body: &Value) -> Value {
    let action = ("action".to_owned(), name.into());
    let members = body.as_object().into_iter().flatten();
    let members = members.map(|(member, value)| (member.clone(), value.clone()));
    Value::Object(std::iter::once(action).chain(members).collect())
}
