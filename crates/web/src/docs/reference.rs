//! The reference page, read from the OpenAPI document alone: what that does not say, the page cannot either.

use askama::Template;
use serde_json::Value;

use super::{
    curl,
    fields::{Shape, resolved, shapes},
    layout, prose,
};
use crate::pages::Place;

/// The whole page.
pub(super) fn page(place: &Place, document: &Value) -> String {
    let reference = Reference {
        base: &place.base_path,
        base_url: &place.base_url,
        about: prose::html(text(document, "/info/description")),
        groups: groups(document),
    };
    layout(place, "API reference", "/docs").around(&reference)
}

#[derive(Template)]
#[template(path = "reference.html")]
struct Reference<'a> {
    base: &'a str,
    base_url: &'a str,
    about: String,
    groups: Vec<Group>,
}

struct Group {
    name: String,
    about: String,
    entries: Vec<Entry>,
}

/// One operation, or the event.
struct Entry {
    anchor: String,
    method: String,
    path: String,
    summary: String,
    about: String,
    access: &'static str,
    asked: Vec<Shape>,
    headers: Vec<Header>,
    requests: Vec<Sample>,
    given: Vec<Shape>,
    answers: Vec<Sample>,
    refusals: Vec<Refused>,
}

struct Header {
    name: String,
    about: String,
}

struct Sample {
    title: String,
    text: String,
}

struct Refused {
    status: String,
    code: String,
    title: String,
}

fn groups(document: &Value) -> Vec<Group> {
    let entries = || operations(document, "paths").chain(operations(document, "webhooks"));
    let group = |tag: &Value| {
        let name = text(tag, "/name");
        let own = entries()
            .filter(|found| found.operation.pointer("/tags/0").is_some_and(|tag| tag == name));
        Group {
            name: name.to_owned(),
            about: prose::html(text(tag, "/description")),
            entries: own.map(|found| found.entry(document)).collect(),
        }
    };
    list(document, "/tags").iter().map(group).collect()
}

struct Found<'a> {
    path: &'a str,
    method: String,
    operation: &'a Value,
}

fn operations<'a>(document: &'a Value, whose: &str) -> impl Iterator<Item = Found<'a>> {
    let paths = document.get(whose).and_then(Value::as_object);
    paths.into_iter().flatten().flat_map(|(path, item)| {
        let methods = item.as_object().into_iter().flatten();
        methods.map(move |(method, operation)| Found {
            path,
            method: method.to_ascii_uppercase(),
            operation,
        })
    })
}

impl Found<'_> {
    fn entry(&self, document: &Value) -> Entry {
        let operation = self.operation;
        let given = operation.pointer("/responses/200/content/application~1json");
        let asked = operation.pointer("/requestBody/content/application~1json");
        let forms = |content: Option<&Value>| {
            let schema = content.and_then(|content| content.get("schema"));
            schema.map(|schema| shapes(document, schema)).unwrap_or_default()
        };
        Entry {
            anchor: text(operation, "/operationId").to_owned(),
            method: self.method.clone(),
            path: self.path.to_owned(),
            summary: text(operation, "/summary").to_owned(),
            about: prose::html(text(operation, "/description")),
            access: if self.is_event() { "the service calls you" } else { access(operation) },
            asked: forms(asked),
            headers: self.headers(document),
            requests: self.requests(document, asked),
            given: forms(given),
            answers: given.map(samples).unwrap_or_default(),
            refusals: refusals(document, operation),
        }
    }

    fn is_event(&self) -> bool {
        !self.path.starts_with('/')
    }

    /// The path with the examples of its variable parts.
    fn example_path(&self) -> String {
        let parameters = self.operation.get("parameters").and_then(Value::as_array);
        let parts = parameters.into_iter().flatten().filter(|it| text(it, "/in") == "path");
        parts.fold(self.path.to_owned(), |path, part| {
            path.replace(&format!("{{{}}}", text(part, "/name")), text(part, "/example"))
        })
    }

    fn requests(&self, document: &Value, asked: Option<&Value>) -> Vec<Sample> {
        if self.is_event() {
            return asked.map(samples).unwrap_or_default();
        }
        let url = format!("{}{}", text(document, "/servers/0/url"), self.example_path());
        let command =
            |body: Option<&Value>| curl::command(&self.method, &url, self.operation, body);
        let examples = asked.and_then(|content| content.get("examples")).and_then(Value::as_object);
        let Some(examples) = examples else {
            return vec![Sample { title: String::new(), text: command(None) }];
        };
        let sample = |example: &Value| Sample {
            title: text(example, "/summary").to_owned(),
            text: command(example.get("value")),
        };
        examples.values().map(sample).collect()
    }

    fn headers(&self, document: &Value) -> Vec<Header> {
        // Every request may carry this one, so the page tells of it once.
        let is_own = |parameter: &&Value| text(parameter, "/name") != "X-Request-Id";
        let parameters = list(self.operation, "/parameters").iter();
        let parameters = parameters.map(|parameter| resolved(document, parameter)).filter(is_own);
        let header = |parameter: &Value| Header {
            name: text(parameter, "/name").to_owned(),
            about: prose::html(text(parameter, "/description")),
        };
        parameters.map(header).collect()
    }
}

fn access(operation: &Value) -> &'static str {
    let has = |place: &str| operation.pointer(place).is_some();
    match (has("/security/0/apiKey"), has("/security/0/session"), has("/security/1/session")) {
        (true, ..) => "session token and API key",
        (false, true, _) => "session token",
        (false, false, true) => "open to all; a session token is optional",
        (false, false, false) => "open to all",
    }
}

fn samples(content: &Value) -> Vec<Sample> {
    let examples = content.get("examples").and_then(Value::as_object).into_iter().flatten();
    let sample = |example: &Value| Sample {
        title: text(example, "/summary").to_owned(),
        text: example.get("value").map(|value| format!("{value:#}")).unwrap_or_default(),
    };
    examples.map(|(_, example)| sample(example)).collect()
}

fn refusals(document: &Value, operation: &Value) -> Vec<Refused> {
    let responses = operation.get("responses").and_then(Value::as_object);
    let mut refused = Vec::new();
    for (status, response) in responses.into_iter().flatten() {
        let examples = response.pointer("/content/application~1problem+json/examples");
        for (code, example) in examples.and_then(Value::as_object).into_iter().flatten() {
            let title = text(resolved(document, example), "/summary");
            let (status, code) = (status.to_owned(), code.to_owned());
            refused.push(Refused { status, code, title: title.to_owned() });
        }
    }
    refused
}

fn text<'a>(value: &'a Value, place: &str) -> &'a str {
    value.pointer(place).and_then(Value::as_str).unwrap_or_default()
}

fn list<'a>(value: &'a Value, place: &str) -> &'a [Value] {
    value.pointer(place).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}
