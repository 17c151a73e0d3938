//! Generates the schemas of requests and responses from the types.

use schemars::{
    JsonSchema as _, Schema, SchemaGenerator,
    generate::{Contract, SchemaSettings},
};
use sealpost_domain::ApiKeyId;
use serde_json::{Map, Value};

/// Generates schemas, and collects the types that they refer to.
pub(super) struct Schemas {
    requests: SchemaGenerator,
    responses: SchemaGenerator,
}

impl Schemas {
    pub(super) fn new() -> Self {
        Self {
            requests: generator(Contract::Deserialize),
            responses: generator(Contract::Serialize),
        }
    }

    /// Returns the schema of a request body, which allows no other members. If the endpoint needs an API key, the body
    /// may name the key.
    pub(super) fn request(
        &mut self,
        of: fn(&mut SchemaGenerator) -> Schema,
        has_key: bool,
    ) -> Value {
        let mut schema = of(&mut self.requests).to_value();
        let key = has_key.then(|| {
            let mut key = ApiKeyId::json_schema(&mut self.requests);
            key.insert("description".to_owned(), API_KEY_ID.into());
            key.to_value()
        });
        match schema.get_mut("oneOf").and_then(Value::as_array_mut) {
            Some(variants) => variants.iter_mut().for_each(|variant| close(variant, key.as_ref())),
            None => close(&mut schema, key.as_ref()),
        }
        schema
    }

    /// Returns the schema of a response or an event.
    pub(super) fn response(&mut self, of: fn(&mut SchemaGenerator) -> Schema) -> Value {
        of(&mut self.responses).to_value()
    }

    /// Returns the types that requests refer to, by name.
    #[cfg(test)]
    pub(super) fn request_types(&self) -> &Map<String, Value> {
        self.requests.definitions()
    }

    /// Returns the types that responses refer to, by name.
    #[cfg(test)]
    pub(super) fn response_types(&self) -> &Map<String, Value> {
        self.responses.definitions()
    }

    /// Returns all types that were referred to, by name.
    pub(super) fn into_components(mut self) -> Map<String, Value> {
        let mut all = self.requests.take_definitions(true);
        all.extend(self.responses.take_definitions(true));
        all.sort_keys();
        all
    }
}

/// Adds the API key to an object schema, and forbids other members.
fn close(schema: &mut Value, key: Option<&Value>) {
    let Some(object) = schema.as_object_mut() else { return };
    let properties = object.entry("properties").or_insert_with(|| Map::new().into());
    if let (Some(properties), Some(key)) = (properties.as_object_mut(), key) {
        properties.insert("api_key_id".to_owned(), key.clone());
    }
    object.insert("additionalProperties".to_owned(), false.into());
}

fn generator(contract: Contract) -> SchemaGenerator {
    SchemaSettings::draft2020_12()
        .with(|settings| {
            settings.definitions_path = "/components/schemas".into();
            settings.meta_schema = None;
            settings.contract = contract;
        })
        .into_generator()
}

const API_KEY_ID: &str = "The API key to act as, if the header `X-DID-API-Key` is absent.";
