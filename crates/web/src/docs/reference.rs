//! The API reference page. It is rendered only from the OpenAPI document, so both always agree.

use askama::Template;
use serde_json::Value;

use super::{
    curl,
    layout::layout,
    markup,
    schema_fields::{BodyVariant, body_variants, resolved},
};
use crate::html::SiteAddress;

/// Renders the API reference as HTML.
pub(super) fn page(site: &SiteAddress, document: &Value) -> String {
    let reference = ReferencePage {
        base: &site.base_path,
        base_url: &site.base_url,
        about: markup::html(text(document, "/info/description")),
        sections: sections(document),
    };
    layout(site, "API reference", "/docs").render(&reference)
}

#[derive(Template)]
#[template(path = "docs/reference.html")]
struct ReferencePage<'a> {
    base: &'a str,
    base_url: &'a str,
    about: String,
    sections: Vec<TagSection>,
}

struct TagSection {
    name: String,
    about: String,
    cards: Vec<OperationCard>,
}

/// The entry of one operation of the API, or of one event that the service sends.
struct OperationCard {
    anchor: String,
    method: String,
    path: String,
    summary: String,
    about: String,
    access: &'static str,
    request_bodies: Vec<BodyVariant>,
    headers: Vec<HeaderRow>,
    request_examples: Vec<Example>,
    response_bodies: Vec<BodyVariant>,
    response_examples: Vec<Example>,
    errors: Vec<ErrorRow>,
}

struct HeaderRow {
    name: String,
    about: String,
}

struct Example {
    title: String,
    text: String,
}

struct ErrorRow {
    status: String,
    code: String,
    title: String,
}

fn sections(document: &Value) -> Vec<TagSection> {
    let operations = || operations(document, "paths").chain(operations(document, "webhooks"));
    let section = |tag: &Value| {
        let name = text(tag, "/name");
        let tagged = operations()
            .filter(|operation| operation.object.pointer("/tags/0").is_some_and(|tag| tag == name));
        TagSection {
            name: name.to_owned(),
            about: markup::html(text(tag, "/description")),
            cards: tagged.map(|operation| operation.card(document)).collect(),
        }
    };
    list(document, "/tags").iter().map(section).collect()
}

struct Operation<'a> {
    path: &'a str,
    method: String,
    /// The OpenAPI operation object.
    object: &'a Value,
}

/// Returns the operations in a member of the document. The member is `paths` or `webhooks`.
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
    fn card(&self, document: &Value) -> OperationCard {
        let object = self.object;
        let request = object.pointer("/requestBody/content/application~1json");
        let response = object.pointer("/responses/200/content/application~1json");
        let bodies = |content: Option<&Value>| {
            let schema = content.and_then(|content| content.get("schema"));
            schema.map(|schema| body_variants(document, schema)).unwrap_or_default()
        };
        OperationCard {
            anchor: text(object, "/operationId").to_owned(),
            method: self.method.clone(),
            path: self.path.to_owned(),
            summary: text(object, "/summary").to_owned(),
            about: markup::html(text(object, "/description")),
            access: if self.is_event() { "sent by the service" } else { access(object) },
            request_bodies: bodies(request),
            headers: self.headers(document),
            request_examples: self.request_examples(document, request),
            response_bodies: bodies(response),
            response_examples: response.map(examples).unwrap_or_default(),
            errors: errors(document, object),
        }
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

    fn request_examples(&self, document: &Value, request: Option<&Value>) -> Vec<Example> {
        if self.is_event() {
            return request.map(examples).unwrap_or_default();
        }
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
    match (curl::requires_session(object), curl::accepts_key(object)) {
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

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

const COMMON_HEADERS: [&str; 2] = ["X-DID-API-Key", "X-Request-Id"];
