//! Converts a JSON schema into rows of a table, with the path, type and description of each field.

use sealpost_domain::Code;
use serde_json::{Map, Value};

use super::markup;

/// One of the alternative schemas of a request or response body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BodyVariant {
    /// The heading of the alternative as HTML. Empty if the body has only one schema.
    pub(super) heading: String,
    /// The description of the alternative as HTML. Empty if the heading contains the whole description.
    pub(super) about: String,
    pub(super) fields: Vec<FieldRow>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct FieldRow {
    pub(super) name: String,
    /// The type as HTML.
    pub(super) kind: String,
    pub(super) is_required: bool,
    /// The description as HTML. The values of an enumeration and their meanings follow as a list.
    pub(super) about: String,
}

/// Returns the alternatives of a body with this schema. References in the schema are resolved in `document`.
pub(super) fn body_variants(document: &Value, schema: &Value) -> Vec<BodyVariant> {
    let schema = resolved(document, schema);
    let fields = |schemas: &[&Value]| {
        let mut fields = Vec::new();
        for schema in schemas {
            collect(document, "", schema, &mut fields);
        }
        fields
    };
    let variants = variants(schema);
    if variants.is_empty() {
        let [heading, about] = [const { String::new() }; 2];
        return vec![BodyVariant { heading, about, fields: fields(&[schema]) }];
    }
    let bodies = variants.iter().map(|variant| {
        let variant = resolved(document, variant);
        let about = about(variant);
        let (heading, about) = if let Some(action) = action(variant) {
            (format!("<code>{}</code>", escaped(action)), about)
        } else {
            let (first, rest) = about.split_once(". ").unwrap_or((about, ""));
            (markup::html(first.trim_end_matches('.')), rest)
        };
        BodyVariant { heading, about: markup::html(about), fields: fields(&[variant, schema]) }
    });
    bodies.collect()
}

/// Returns the constant of the member `action`, which selects this variant of a request. Returns `None` if the variant
/// has no such constant.
fn action(variant: &Value) -> Option<&Value> {
    variant.pointer("/properties/action/const")
}

fn collect(document: &Value, before: &str, schema: &Value, fields: &mut Vec<FieldRow>) {
    let required = schema.get("required").and_then(Value::as_array);
    for (name, property) in members(schema, "properties").into_iter().flatten() {
        let inner = without_null(document, property);
        let nested = inner.get("items").map_or(inner, |items| resolved(document, items));
        let own = about(property);
        let own = if own.is_empty() { about(inner) } else { own };
        let whole = format!("{before}{name}");
        fields.push(FieldRow {
            kind: kind(document, property, own),
            is_required: required.is_some_and(|names| names.contains(&Value::from(name.as_str()))),
            about: markup::html(own) + &meanings(nested),
            name: whole.clone(),
        });
        let step = if inner.get("items").is_some() { "[]" } else { "" };
        let path = format!("{whole}{step}");
        let forms = variants(nested).iter().map(|variant| resolved(document, variant));
        let forms: Vec<_> = forms.filter(|form| form.get("properties").is_some()).collect();
        if forms.is_empty() {
            collect(document, &format!("{path}."), nested, fields);
        }
        for (number, form) in (1..).zip(&forms) {
            let kind = format!("form {number} of {}", forms.len());
            let about = markup::html(about(form));
            fields.push(FieldRow { name: path.clone(), kind, is_required: false, about });
            collect(document, &format!("{path}."), form, fields);
        }
    }
}

/// Describes the type of a value in words as HTML, such as `string, 1 to 9 characters, or null`.
fn kind(document: &Value, schema: &Value, about: &str) -> String {
    let inner = without_null(document, schema);
    let kind = bare_kind(document, inner, about);
    let is_nullable = !std::ptr::eq(inner, resolved(document, schema)) || allows_null(inner);
    if !is_nullable {
        return kind;
    }
    // After a list, a comma separates the last choice.
    if kind.contains(", ") { format!("{kind}, or null") } else { format!("{kind} or null") }
}

fn bare_kind(document: &Value, schema: &Value, about: &str) -> String {
    let choices = choices(schema);
    match choices.as_slice() {
        [] => {}
        // The description already names the value.
        [_] if about.starts_with("Always") => return type_name(schema).to_owned(),
        [only] => return format!("always <code>{}</code>", escaped(only)),
        codes if codes.len() > 9 && codes.iter().all(|code| is_error_code(code)) => {
            return "string, an <a href=\"../errors\">error code</a>".to_owned();
        }
        _ if !meanings(schema).is_empty() => return type_name(schema).to_owned(),
        _ => {
            let names = choices.iter().map(|name| format!("<code>{}</code>", escaped(name)));
            return format!("one of {}", names.collect::<Vec<_>>().join(", "));
        }
    }
    if let Some(items) = schema.get("items") {
        return format!("array of {}", kind(document, items, ""));
    }
    let mut forms: Vec<_> =
        variants(schema).iter().map(|variant| kind(document, variant, "")).collect();
    forms.dedup();
    if !forms.is_empty() {
        return forms.join(" or ");
    }
    if schema.get("format").is_some_and(|format| format == "date-time") {
        return "time".to_owned();
    }
    let name = type_name(schema);
    match (number(schema, "minLength"), number(schema, "maxLength")) {
        (Some(min), Some(max)) => format!("{name}, {min} to {max} characters"),
        _ => name.to_owned(),
    }
}

fn is_error_code(value: &Value) -> bool {
    Code::ALL.into_iter().any(|code| value == code.as_str())
}

/// Returns the values of an enumeration with their meanings, as an HTML list. The meanings are in the schema's
/// description: "Kinds. `a`: The first. `b`: The second." Empty if a value has no meaning there.
fn meanings(schema: &Value) -> String {
    let (about, choices) = (about(schema), choices(schema));
    let start =
        |choice: &Value| about.find(&format!("`{}`: ", choice.as_str().unwrap_or_default()));
    let starts: Option<Vec<_>> = choices.iter().map(|choice| start(choice)).collect();
    let Some(mut starts) = starts.filter(|starts| starts.len() > 1) else { return String::new() };
    starts.sort_unstable();
    let ends = starts.iter().skip(1).copied().chain([about.len()]);
    let meaning = |(start, end): (&usize, usize)| {
        let meaning = about.get(*start..end).unwrap_or_default().trim();
        format!("<li>{}</li>", markup::html(meaning))
    };
    format!("<ul>{}</ul>", starts.iter().zip(ends).map(meaning).collect::<String>())
}

fn type_name(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::String(name)) => name,
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).find(|name| *name != "null").unwrap_or("any")
        }
        _ if schema.get("properties").is_some() => "object",
        _ => "any",
    }
}

/// Returns the values of an enumeration except null, or the only value of a constant. Empty for other schemas.
fn choices(schema: &Value) -> Vec<&Value> {
    if let Some(only) = schema.get("const") {
        return vec![only];
    }
    if let Some(names) = schema.get("enum").and_then(Value::as_array) {
        return names.iter().filter(|name| !name.is_null()).collect();
    }
    let variants = variants(schema);
    let constants: Vec<_> = variants.iter().filter_map(|variant| variant.get("const")).collect();
    if constants.len() == variants.len() { constants } else { Vec::new() }
}

fn variants(schema: &Value) -> &[Value] {
    let list = schema.get("oneOf").or_else(|| schema.get("anyOf"));
    list.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Returns the schema that applies to values other than null.
fn without_null<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let schema = resolved(document, schema);
    match variants(schema) {
        [inner, null] if null.get("type").is_some_and(|name| name == "null") => {
            without_null(document, inner)
        }
        _ => schema,
    }
}

fn allows_null(schema: &Value) -> bool {
    let names = schema.get("type").and_then(Value::as_array);
    names.is_some_and(|names| names.iter().any(|name| name == "null"))
}

/// Follows a reference within the document. Returns a schema without a reference unchanged.
pub(super) fn resolved<'a>(document: &'a Value, schema: &'a Value) -> &'a Value {
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|path| path.strip_prefix('#'));
    target.and_then(|path| document.pointer(path)).unwrap_or(schema)
}

fn members<'a>(schema: &'a Value, name: &str) -> Option<&'a Map<String, Value>> {
    schema.get(name)?.as_object()
}

fn number(schema: &Value, name: &str) -> Option<u64> {
    schema.get(name)?.as_u64()
}

fn about(schema: &Value) -> &str {
    schema.get("description").and_then(Value::as_str).unwrap_or_default()
}

fn escaped(value: &Value) -> String {
    markup::html(&value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rows(schema: &Value) -> Vec<(String, String, bool)> {
        let document = json!({ "components": { "schemas": {
            "Span": { "type": "object", "properties": { "ends": { "type": "string", "format": "date-time" } } },
        } } });
        let bodies = body_variants(&document, schema);
        let row = |field: FieldRow| (field.name, field.kind, field.is_required);
        bodies.into_iter().flat_map(|body| body.fields).map(row).collect()
    }

    #[test]
    fn nested_fields_are_named_by_their_path() {
        let span = json!({ "$ref": "#/components/schemas/Span" });
        let form = |name: &str| json!({ "description": name, "properties": { name: { "type": "integer" } } });
        let schema = json!({
            "type": "object",
            "required": ["first"],
            "properties": {
                "first": span,
                "all": { "type": "array", "items": span },
                "last": { "anyOf": [{ "anyOf": [span, { "type": "null" }] }, { "type": "null" }] },
                "name": { "type": ["string", "null"], "minLength": 1, "maxLength": 9 },
                "kind": { "type": ["string", "null"], "enum": ["a", "b", null] },
                "value": { "anyOf": [{ "type": "string" }, { "type": "object" }] },
                "done": { "const": true, "type": "boolean", "description": "Always `true`." },
                "results": { "type": "array", "items": { "anyOf": [form("good"), form("bad")] } },
            },
        });
        let expected = [
            ("first", "object", true),
            ("first.ends", "time", false),
            ("all", "array of object", false),
            ("all[].ends", "time", false),
            ("last", "object or null", false),
            ("last.ends", "time", false),
            ("name", "string, 1 to 9 characters, or null", false),
            ("kind", "one of <code>a</code>, <code>b</code>, or null", false),
            ("value", "string or object", false),
            ("done", "boolean", false),
            ("results", "array of object", false),
            ("results[]", "form 1 of 2", false),
            ("results[].good", "integer", false),
            ("results[]", "form 2 of 2", false),
            ("results[].bad", "integer", false),
        ];
        let expected = expected.map(|(name, kind, must)| (name.to_owned(), kind.to_owned(), must));
        assert_eq!(rows(&schema), expected);
    }

    #[test]
    fn values_with_meanings_are_a_list() {
        let kinds = json!({ "enum": ["a", "b"], "type": "string", "description": "Kinds. `a`: One. `b`: Two." });
        let codes: Vec<_> = Code::ALL.into_iter().map(Code::as_str).collect();
        let schema = json!({ "properties": {
            "kinds": { "type": "array", "items": kinds, "description": "Which." },
            "code": { "type": "string", "enum": codes },
        } });
        let bodies = body_variants(&json!({}), &schema);
        let [kinds, code] = bodies[0].fields.as_slice() else { panic!("{bodies:?}") };
        assert_eq!(kinds.kind, "array of string");
        assert_eq!(
            kinds.about,
            "Which.<ul><li><code>a</code>: One.</li><li><code>b</code>: Two.</li></ul>"
        );
        assert!(code.kind.ends_with(">error code</a>"), "{}", code.kind);
    }

    #[test]
    fn each_schema_variant_is_a_body_variant() {
        let variant = |action: &str| json!({ "description": "Acts.", "properties": { "action": { "const": action } } });
        let schema = json!({
            "oneOf": [variant("list"), { "description": "A result. It may be empty." }],
            "properties": { "api_key_id": { "type": "string" } },
        });
        let bodies = body_variants(&json!({}), &schema);
        let texts = bodies.iter().map(|body| (body.heading.as_str(), body.about.as_str()));
        let expected = [("<code>list</code>", "Acts."), ("A result", "It may be empty.")];
        assert_eq!(texts.collect::<Vec<_>>(), expected);
        assert_eq!(bodies.iter().map(|body| body.fields.len()).collect::<Vec<_>>(), [2, 1]);
    }
}
