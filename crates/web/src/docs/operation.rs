//! One operation of the API, or one event that the service sends, as the OpenAPI document describes it.

use std::iter;

use serde_json::Value;

use super::{
    curl, markup,
    schema_fields::{BodyVariant, body_variants, resolved},
    snippets::{self, Snippet},
};

/// An operation of the OpenAPI document.
pub(super) struct Operation<'a> {
    path: &'a str,
    method: String,
    /// The OpenAPI operation object.
    object: &'a Value,
}

/// The content of the page of an operation.
pub(super) struct OperationDetails {
    pub(super) id: String,
    pub(super) method: String,
    pub(super) path: String,
    pub(super) summary: String,
    pub(super) about: String,
    pub(super) access: &'static str,
    pub(super) request_bodies: Vec<BodyVariant>,
    pub(super) headers: Vec<HeaderRow>,
    /// The example requests, by language.
    pub(super) request_tabs: Vec<Tab>,
    pub(super) response_bodies: Vec<BodyVariant>,
    pub(super) response_examples: Vec<Example>,
    pub(super) errors: Vec<ErrorRow>,
}

pub(super) struct HeaderRow {
    pub(super) name: String,
    pub(super) about: String,
}

/// The examples in one language.
pub(super) struct Tab {
    pub(super) name: &'static str,
    pub(super) examples: Vec<Example>,
}

pub(super) struct Example {
    pub(super) title: String,
    pub(super) text: String,
}

pub(super) struct ErrorRow {
    pub(super) status: String,
    pub(super) code: String,
    pub(super) title: String,
}

/// Returns the operations with this tag: first the operations of the API, then the events.
pub(super) fn tagged<'a>(document: &'a Value, tag: &'a str) -> impl Iterator<Item = Operation<'a>> {
    let operations = operations(document, "paths").chain(operations(document, "webhooks"));
    operations.filter(move |operation| text(operation.object, "/tags/0") == tag)
}

/// Returns the operations in one member of the OpenAPI document: `paths` (endpoints) or `webhooks` (events).
fn operations<'a>(document: &'a Value, member: &str) -> impl Iterator<Item = Operation<'a>> {
    let paths = document.get(member).and_then(Value::as_object);
    paths.into_iter().flatten().flat_map(|(path, item)| {
        let methods = item.as_object().into_iter().flatten();
        methods.map(move |(method, object)| Operation {
            path,
            method: method.to_ascii_uppercase(),
            object,
        })
    })
}

impl Operation<'_> {
    /// Reads the content of the operation's page from the document.
    pub(super) fn details(&self, document: &Value) -> OperationDetails {
        let object = self.object;
        let request = object.pointer("/requestBody/content/application~1json");
        let response = object.pointer("/responses/200/content/application~1json");
        let bodies = |content: Option<&Value>| {
            let schema = content.and_then(|content| content.get("schema"));
            schema.map(|schema| body_variants(document, schema)).unwrap_or_default()
        };
        let id = self.id();
        OperationDetails {
            id: id.to_owned(),
            method: self.method.clone(),
            path: self.path.to_owned(),
            summary: self.summary().to_owned(),
            about: markup::html(text(object, "/description")),
            access: if self.is_event() { "sent by the service" } else { access(object) },
            request_bodies: bodies(request),
            headers: self.headers(document),
            request_tabs: self.request_tabs(id, document, request),
            response_bodies: bodies(response),
            response_examples: response.map(examples).unwrap_or_default(),
            errors: errors(document, object),
        }
    }

    pub(super) fn id(&self) -> &str {
        text(self.object, "/operationId")
    }

    pub(super) fn summary(&self) -> &str {
        text(self.object, "/summary")
    }

    /// Returns the method and the path, or the name of the event.
    pub(super) fn endpoint(&self) -> String {
        if self.is_event() {
            return format!("event {}", self.path);
        }
        format!("{} {}", self.method, self.path)
    }

    fn is_event(&self) -> bool {
        !self.path.starts_with('/')
    }

    /// Returns the path with example values for its parameters.
    fn example_path(&self) -> String {
        let parameters = list(self.object, "/parameters").iter();
        parameters.filter(|parameter| text(parameter, "/in") == "path").fold(
            self.path.to_owned(),
            |path, parameter| {
                let name = format!("{{{}}}", text(parameter, "/name"));
                path.replace(&name, text(parameter, "/example"))
            },
        )
    }

    fn request_tabs(&self, id: &str, document: &Value, request: Option<&Value>) -> Vec<Tab> {
        let first = if self.is_event() {
            Tab { name: "Event", examples: request.map(examples).unwrap_or_default() }
        } else {
            Tab { name: "curl", examples: self.commands(document, request) }
        };
        let snippet = |Snippet { language, text }| Tab {
            name: language,
            examples: vec![Example { title: String::new(), text }],
        };
        iter::once(first).chain(snippets::of(id).into_iter().map(snippet)).collect()
    }

    /// Returns a curl command for each example of the request.
    fn commands(&self, document: &Value, request: Option<&Value>) -> Vec<Example> {
        let url = format!("{}{}", text(document, "/servers/0/url"), self.example_path());
        let command = |body: Option<&Value>| curl::command(&self.method, &url, self.object, body);
        let bodies = request.and_then(|content| content.get("examples")).and_then(Value::as_object);
        let Some(bodies) = bodies else {
            return vec![Example { title: String::new(), text: command(None) }];
        };
        let example = |body: &Value| Example {
            title: text(body, "/summary").to_owned(),
            text: command(body.get("value")),
        };
        bodies.values().map(example).collect()
    }

    fn headers(&self, document: &Value) -> Vec<HeaderRow> {
        // Skips common headers, because the introduction of the page describes them.
        let is_own = |parameter: &&Value| !COMMON_HEADERS.contains(&text(parameter, "/name"));
        let parameters = list(self.object, "/parameters").iter();
        let parameters = parameters.map(|parameter| resolved(document, parameter)).filter(is_own);
        let header = |parameter: &Value| HeaderRow {
            name: text(parameter, "/name").to_owned(),
            about: markup::html(text(parameter, "/description")),
        };
        parameters.map(header).collect()
    }
}

fn access(object: &Value) -> &'static str {
    let accepts_session = object.pointer("/security/1/session").is_some();
    let accepts_api_token = object.pointer("/security/1/apiToken").is_some();
    match (curl::requires_session(object), curl::accepts_key(object)) {
        (true, true) if accepts_api_token => "session token and API key, or API token",
        (true, true) => "session token and API key",
        (true, false) => "session token",
        (false, _) if accepts_session => "public; a session token is optional",
        (false, _) => "public",
    }
}

fn examples(content: &Value) -> Vec<Example> {
    let examples = content.get("examples").and_then(Value::as_object).into_iter().flatten();
    let example = |example: &Value| Example {
        title: text(example, "/summary").to_owned(),
        text: example.get("value").map(|value| format!("{value:#}")).unwrap_or_default(),
    };
    examples.map(|(_, value)| example(value)).collect()
}

fn errors(document: &Value, object: &Value) -> Vec<ErrorRow> {
    let responses = object.get("responses").and_then(Value::as_object);
    let mut errors = Vec::new();
    for (status, response) in responses.into_iter().flatten() {
        let examples = response.pointer("/content/application~1problem+json/examples");
        for (code, example) in examples.and_then(Value::as_object).into_iter().flatten() {
            let title = text(resolved(document, example), "/summary");
            let (status, code) = (status.to_owned(), code.to_owned());
            errors.push(ErrorRow { status, code, title: title.to_owned() });
        }
    }
    errors
}

/// Returns the text at a JSON pointer, or an empty text.
pub(super) fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the list at a JSON pointer, or an empty list.
pub(super) fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

const COMMON_HEADERS: [&str; 2] = ["X-DID-API-Key", "X-Request-Id"];
