//! Converts a JSON schema into rows of a table, with the path, type and description of each field.

use serde_json::{Map, Value};

use super::markup;

/// One of the alternative schemas of a request or response body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BodyVariant {
    /// The description of the alternative as HTML. Empty if the body has only one schema.
    pub(super) title: String,
    pub(super) fields: Vec<FieldRow>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct FieldRow {
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) is_required: bool,
    pub(super) about: String,
}

/// Returns the alternatives of a body with this schema. References in the schema are resolved in `document`.
pub(super) fn body_variants(document: &Value, schema: &Value) -> Vec<BodyVariant> {
    let schema = resolved(document, schema);
    let variants = variants(schema);
    if variants.is_empty() {
        return vec![body_variant(document, String::new(), &[schema])];
    }
    let bodies = variants.iter().map(|variant| {
        let variant = resolved(document, variant);
        body_variant(document, markup::html(about(variant)), &[variant, schema])
    });
    bodies.collect()
}

fn body_variant(document: &Value, title: String, schemas: &[&Value]) -> BodyVariant {
    let mut fields = Vec::new();
    for schema in schemas {
        collect(document, "", schema, &mut fields);
    }
    BodyVariant { title, fields }
}

fn collect(document: &Value, before: &str, schema: &Value, fields: &mut Vec<FieldRow>) {
    let required = schema.get("required").and_then(Value::as_array);
    for (name, property) in members(schema, "properties").into_iter().flatten() {
        let inner = without_null(document, property);
        let own = about(property);
        let whole = format!("{before}{name}");
        fields.push(FieldRow {
            kind: kind(document, property),
            is_required: required.is_some_and(|names| names.contains(&Value::from(name.as_str()))),
            about: markup::html(if own.is_empty() { about(inner) } else { own }),
            name: whole.clone(),
        });
        let is_list = inner.get("items").is_some();
        let nested = inner.get("items").map_or(inner, |items| resolved(document, items));
        let step = if is_list { "[]." } else { "." };
        if variants(nested).is_empty() {
            collect(document, &format!("{whole}{step}"), nested, fields);
        }
    }
}

/// Describes the type of a value in words, such as `string, 1 to 9 characters or null`.
fn kind(document: &Value, schema: &Value) -> String {
    let inner = without_null(document, schema);
    let mut kind = bare_kind(document, inner);
    let is_nullable = !std::ptr::eq(inner, resolved(document, schema)) || allows_null(inner);
    if is_nullable {
        kind.push_str(" or null");
    }
    kind
}

fn bare_kind(document: &Value, schema: &Value) -> String {
    let choices = choices(schema);
    if let [only] = choices.as_slice() {
        return format!("always <code>{}</code>", escaped(only));
    }
    if !choices.is_empty() {
        let names: Vec<_> =
            choices.iter().map(|name| format!("<code>{}</code>", escaped(name))).collect();
        return format!("one of {}", names.join(", "));
    }
    if let Some(items) = schema.get("items") {
        return format!("array of {}", kind(document, items));
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

fn type_name(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::String(name)) => name,
        Some(Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).find(|name| *name != "null").unwrap_or("any")
        }
        _ => "any",
    }
}

/// Returns the values of an enumeration. Returns an empty list for other schemas.
fn choices(schema: &Value) -> Vec<&Value> {
    if let Some(only) = schema.get("const") {
        return vec![only];
    }
    if let Some(names) = schema.get("enum").and_then(Value::as_array) {
        return names.iter().collect();
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
            resolved(document, inner)
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
        let schema = json!({
            "type": "object",
            "required": ["first"],
            "properties": {
                "first": span,
                "all": { "type": "array", "items": span },
                "last": { "anyOf": [span, { "type": "null" }] },
                "name": { "type": ["string", "null"], "minLength": 1, "maxLength": 9 },
                "kind": { "oneOf": [{ "const": "a" }, { "const": "b" }] },
            },
        });
        let expected = [
            ("first", "object", true),
            ("first.ends", "time", false),
            ("all", "array of object", false),
            ("all[].ends", "time", false),
            ("last", "object or null", false),
            ("last.ends", "time", false),
            ("name", "string, 1 to 9 characters or null", false),
            ("kind", "one of <code>a</code>, <code>b</code>", false),
        ];
        let expected = expected.map(|(name, kind, must)| (name.to_owned(), kind.to_owned(), must));
        assert_eq!(rows(&schema), expected);
    }

    #[test]
    fn each_schema_variant_is_a_body_variant() {
        let variant = |action: &str| json!({ "description": action, "properties": { "action": { "const": action } } });
        let schema = json!({
            "oneOf": [variant("list"), variant("delete")],
            "properties": { "api_key_id": { "type": "string" } },
        });
        let bodies = body_variants(&json!({}), &schema);
        assert_eq!(
            bodies.iter().map(|body| body.title.as_str()).collect::<Vec<_>>(),
            ["list", "delete"]
        );
        assert!(bodies.iter().all(|body| body.fields.len() == 2), "{bodies:?}");
    }
}
