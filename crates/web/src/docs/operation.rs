//! One operation of the API, or one event that the service sends, as the OpenAPI document describes it.

use serde_json::Value;

use super::{
    access::Access,
    curl, highlight, markup,
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
    pub(super) path_parameters: Vec<ParameterRow>,
    pub(super) headers: Vec<ParameterRow>,
    /// The example requests: a tab for each client library, and one for curl.
    pub(super) request_tabs: Vec<Tab>,
    pub(super) response_bodies: Vec<BodyVariant>,
    pub(super) response_examples: Vec<Example>,
    pub(super) errors: Vec<ErrorRow>,
}

/// A parameter in the path or in a header.
pub(super) struct ParameterRow {
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
    /// The code as HTML.
    pub(super) html: String,
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
        let response = object.pointer("/responses/200/content").and_then(Value::as_object);
        // All content types of a response have the same schema and examples.
        let response = response.and_then(|content| content.values().next());
        let bodies = |content: Option<&Value>| {
            let schema = content.and_then(|content| content.get("schema"));
            schema.map(|schema| body_variants(document, schema)).unwrap_or_default()
        };
        let (id, access) = (self.id(), Access::new(object));
        OperationDetails {
            id: id.to_owned(),
            method: self.method.clone(),
            path: self.path.to_owned(),
            summary: self.summary().to_owned(),
            about: markup::blocks(text(object, "/description")),
            access: if self.is_event() { "sent by the service" } else { access.summary() },
            request_bodies: bodies(request),
            path_parameters: self.parameters(document, "path"),
            headers: self.headers(document, access),
            request_tabs: self.request_tabs(document, access, request),
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

    /// Returns the tabs with the examples. An endpoint has the calls of the client libraries, then the requests for
    /// curl. An event has its body, then the programs that receive it.
    fn request_tabs(&self, document: &Value, access: Access, request: Option<&Value>) -> Vec<Tab> {
        let event = self
            .is_event()
            .then(|| Tab { name: "Event", examples: request.map(examples).unwrap_or_default() });
        let snippet = |Snippet { language, text }| Tab {
            name: language,
            examples: vec![Example {
                title: String::new(),
                html: highlight::html(language, &text),
            }],
        };
        let curl = (!self.is_event())
            .then(|| Tab { name: "curl", examples: self.commands(document, access, request) });
        event
            .into_iter()
            .chain(snippets::snippets(self.id()).into_iter().map(snippet))
            .chain(curl)
            .collect()
    }

    /// Returns a curl command with the recommended credentials for each example of the request. For the first example,
    /// also returns the commands with the other allowed credentials.
    fn commands(&self, document: &Value, access: Access, request: Option<&Value>) -> Vec<Example> {
        let url = format!("{}{}", text(document, "/servers/0/url"), self.example_path());
        let bodies = request.and_then(|content| content.get("examples")).and_then(Value::as_object);
        let bodies: Vec<(&str, Option<&Value>)> = match bodies {
            Some(bodies) => {
                bodies.values().map(|body| (text(body, "/summary"), body.get("value"))).collect()
            }
            None => vec![("", None)],
        };
        let command = |title: &str, credentials: &[&str], body| Example {
            title: title.to_owned(),
            html: highlight::html("curl", &curl::command(&self.method, &url, credentials, body)),
        };
        let Some((first, others)) = access.arguments().split_first() else { return Vec::new() };
        let mut commands: Vec<_> =
            bodies.iter().map(|&(title, body)| command(title, first, body)).collect();
        let body = bodies.first().and_then(|(_, body)| *body);
        commands.extend(others.iter().map(|other| command("With a session", other, body)));
        commands
    }

    /// Returns all headers of a request.
    fn headers(&self, document: &Value, access: Access) -> Vec<ParameterRow> {
        let row =
            |name: &str, about| ParameterRow { name: name.to_owned(), about: markup::html(about) };
        let authorization = access.authorization().map(|about| row("Authorization", about));
        let content_type = self.object.get("requestBody").filter(|_| !self.is_event());
        let content_type = content_type.map(|_| row("Content-Type", "`application/json`."));
        let named = self.parameters(document, "header");
        authorization.into_iter().chain(content_type).chain(named).collect()
    }

    /// Returns the parameters with this place (`in` in OpenAPI): `path` or `header`.
    fn parameters(&self, document: &Value, place: &str) -> Vec<ParameterRow> {
        let parameters = list(self.object, "/parameters").iter();
        let parameters = parameters.map(|parameter| resolved(document, parameter));
        let row = |parameter: &Value| ParameterRow {
            name: text(parameter, "/name").to_owned(),
            about: markup::html(text(parameter, "/description")),
        };
        parameters.filter(|parameter| text(parameter, "/in") == place).map(row).collect()
    }
}

fn examples(content: &Value) -> Vec<Example> {
    let examples = content.get("examples").and_then(Value::as_object).into_iter().flatten();
    let example = |example: &Value| {
        let title = text(example, "/summary").to_owned();
        match example.get("value") {
            Some(Value::String(text)) => Example { title, html: markup::escaped(text) },
            value => {
                let json = value.map(|value| format!("{value:#}")).unwrap_or_default();
                Example { title, html: highlight::html("json", &json) }
            }
        }
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
