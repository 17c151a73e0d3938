//! Generates the JSON schemas of requests and responses from the Rust types.

use schemars::{
    JsonSchema as _, Schema, SchemaGenerator,
    generate::{Contract, SchemaSettings},
    transform::{Transform, transform_subschemas},
};
use sealpost_domain::ApiKeyId;
use serde_json::{Map, Value, json};

use super::operation::{NamedSchema, RequestSchema};

/// Generates schemas, and collects the named components that the schemas refer to.
pub(super) struct Schemas {
    requests: SchemaGenerator,
    responses: SchemaGenerator,
    /// The schemas of request bodies by component name.
    bodies: Map<String, Value>,
}

impl Schemas {
    pub(super) fn new() -> Self {
        Self {
            requests: generator(Contract::Deserialize),
            responses: generator(Contract::Serialize),
            bodies: Map::new(),
        }
    }

    /// Returns the schema of a request body, which forbids unknown members. If `has_key` is true, the schema also
    /// allows the member `api_key_id`.
    pub(super) fn request(&mut self, of: &RequestSchema, has_key: bool) -> Value {
        match of {
            RequestSchema::ByAction(actions) => self.request_by_action(actions, has_key),
            RequestSchema::One(of) => {
                let schema = self.body(of, has_key);
                json!({ "$ref": self.component(&of.name, schema) })
            }
        }
    }

    /// Returns a schema with one variant for each action. Each variant is a named component, because OpenAPI
    /// discriminators require this.
    fn request_by_action(
        &mut self,
        actions: &[(&'static str, NamedSchema)],
        has_key: bool,
    ) -> Value {
        let (mut variants, mut mapping) = (Vec::new(), Map::new());
        for (action, of) in actions {
            let mut schema = self.body(of, has_key);
            require_action(&mut schema, action);
            let address = self.component(&format!("{}Action", of.name), schema);
            variants.push(json!({ "$ref": address }));
            mapping.insert((*action).to_owned(), address.into());
        }
        let discriminator = json!({ "propertyName": "action", "mapping": mapping });
        json!({ "oneOf": variants, "discriminator": discriminator })
    }

    fn body(&mut self, of: &NamedSchema, has_key: bool) -> Value {
        let mut schema = (of.schema)(&mut self.requests);
        ForClients.transform(&mut schema);
        let key = has_key.then(|| {
            let mut key = ApiKeyId::json_schema(&mut self.requests);
            key.insert("description".to_owned(), API_KEY_ID.into());
            key.to_value()
        });
        let mut schema = schema.to_value();
        close(&mut schema, key);
        schema
    }

    /// Adds a named component and returns its reference within the document.
    fn component(&mut self, name: &str, schema: Value) -> String {
        self.bodies.insert(name.to_owned(), schema);
        format!("#/components/schemas/{name}")
    }

    /// Returns the schema of the body of a response or an event.
    pub(super) fn response(&mut self, of: fn(&mut SchemaGenerator) -> Schema) -> Value {
        of(&mut self.responses).to_value()
    }

    /// Returns the schema of the body of an event. Its member `event` has no other value than `kind`.
    pub(super) fn event(&mut self, kind: &str, of: fn(&mut SchemaGenerator) -> Schema) -> Value {
        let reference = self.response(of);
        let name = reference.pointer("/$ref").and_then(Value::as_str).unwrap_or_default();
        let name = name.rsplit('/').next().unwrap_or_default();
        let schema = self.responses.definitions_mut().get_mut(name);
        if let Some(event) = schema.and_then(|schema| schema.pointer_mut("/properties/event")) {
            *event =
                json!({ "type": "string", "const": kind, "description": "Name of the event." });
        }
        reference
    }

    /// Returns the schemas of all types in requests, by component name.
    #[cfg(test)]
    pub(super) fn request_types(&self) -> Map<String, Value> {
        self.requests.definitions().clone().into_iter().chain(self.bodies.clone()).collect()
    }

    /// Returns the schemas of all types in responses, by component name.
    #[cfg(test)]
    pub(super) fn response_types(&self) -> &Map<String, Value> {
        self.responses.definitions()
    }

    /// Returns all collected components by name.
    pub(super) fn into_components(mut self) -> Map<String, Value> {
        let mut all = self.requests.take_definitions(true);
        all.extend(self.responses.take_definitions(true));
        // A type can be the body of one request and a part of the body of another. Its schema in `bodies`, which
        // forbids unknown members, then replaces the schema in `requests`.
        all.extend(self.bodies);
        all.sort_keys();
        all
    }
}

/// Forbids all members that the object schema does not name. Before that, adds the member `api_key_id` with the schema
/// `key`, if there is one.
fn close(schema: &mut Value, key: Option<Value>) {
    let Some(object) = schema.as_object_mut() else { return };
    let properties = object.entry("properties").or_insert_with(|| Map::new().into());
    if let (Some(properties), Some(key)) = (properties.as_object_mut(), key) {
        properties.insert("api_key_id".to_owned(), key);
    }
    object.insert("additionalProperties".to_owned(), false.into());
}

/// Adds the required member `action` to an object schema, before all other members.
fn require_action(schema: &mut Value, action: &str) {
    let Some(object) = schema.as_object_mut() else { return };
    let mut properties = Map::new();
    let about = "The action to perform.";
    let member = json!({ "type": "string", "const": action, "description": about });
    properties.insert("action".to_owned(), member);
    if let Some(Value::Object(others)) = object.remove("properties") {
        properties.extend(others);
    }
    let mut required = vec![Value::from("action")];
    if let Some(Value::Array(others)) = object.remove("required") {
        required.extend(others);
    }
    object.insert("properties".to_owned(), properties.into());
    object.insert("required".to_owned(), required.into());
}

/// Adapts the generated schemas for client generators: descriptions use JSON terms instead of Rust terms, and variants
/// that are constants become an `enum`.
#[derive(Debug, Clone)]
struct ForClients;

impl Transform for ForClients {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        let Some(object) = schema.as_object_mut() else { return };
        if let Some(Value::String(description)) = object.get_mut("description") {
            *description = description.replace("`None`", "`null`").replace('\n', " ");
        }
        merge_constants(object);
    }
}

/// If all variants of a schema are constants, replaces them by an `enum`, because client generators support only
/// `enum`. Appends the descriptions of the variants to the description of the schema.
fn merge_constants(schema: &mut Map<String, Value>) {
    let Some(variants) = schema.get("oneOf").and_then(Value::as_array) else { return };
    let constants: Option<Vec<_>> =
        variants.iter().map(|variant| variant.get("const").cloned()).collect();
    let Some(constants) = constants else { return };
    let meaning = |variant: &Value| {
        let (name, about) =
            (variant.get("const")?.as_str()?, variant.get("description")?.as_str()?);
        Some(format!(" `{name}`: {about}"))
    };
    let meanings: String = variants.iter().filter_map(meaning).collect();
    let about = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let description = format!("{about}{meanings}").trim().to_owned();
    schema.remove("oneOf");
    schema.insert("type".to_owned(), "string".into());
    schema.insert("enum".to_owned(), constants.into());
    schema.insert("description".to_owned(), description.into());
}

fn generator(contract: Contract) -> SchemaGenerator {
    SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
            settings.contract = contract;
            settings.transforms.push(Box::new(ForClients));
        })
        .into_generator()
}

const API_KEY_ID: &str = "The API key to act as, if the header `X-DID-API-Key` is absent.";
