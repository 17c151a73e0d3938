//! Schemas of what is asked for and of what is answered, from the types.

use schemars::{
    JsonSchema as _, Schema, SchemaGenerator,
    generate::{Contract, SchemaSettings},
};
use sealpost_domain::ApiKeyId;
use serde_json::{Map, Value};

/// Collects the types that schemas refer to.
pub(super) struct Schemas {
    asked: SchemaGenerator,
    answered: SchemaGenerator,
}

impl Schemas {
    pub(super) fn new() -> Self {
        Self { asked: generator(Contract::Deserialize), answered: generator(Contract::Serialize) }
    }

    /// The schema of a body that callers send; where it acts as a key, the key may stand in it.
    pub(super) fn asked(&mut self, of: fn(&mut SchemaGenerator) -> Schema, as_key: bool) -> Value {
        let mut schema = of(&mut self.asked);
        if as_key {
            let mut key = ApiKeyId::json_schema(&mut self.asked);
            key.insert("description".to_owned(), API_KEY_ID.into());
            let properties = schema.ensure_object().entry("properties");
            let properties = properties.or_insert_with(|| Map::new().into());
            if let Some(properties) = properties.as_object_mut() {
                properties.insert("api_key_id".to_owned(), key.to_value());
            }
        }
        schema.to_value()
    }

    /// The schema of what the service gives.
    pub(super) fn answered(&mut self, of: fn(&mut SchemaGenerator) -> Schema) -> Value {
        of(&mut self.answered).to_value()
    }

    /// The types that what is asked for refers to, by name.
    #[cfg(test)]
    pub(super) fn asked_types(&self) -> &Map<String, Value> {
        self.asked.definitions()
    }

    /// The types that answers refer to, by name.
    #[cfg(test)]
    pub(super) fn answered_types(&self) -> &Map<String, Value> {
        self.answered.definitions()
    }

    /// Every type that was referred to, by name.
    pub(super) fn into_components(mut self) -> Map<String, Value> {
        let mut all = self.asked.take_definitions(true);
        all.extend(self.answered.take_definitions(true));
        all.sort_keys();
        all
    }
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

const API_KEY_ID: &str = "The API key to act as, where the header `X-DID-API-Key` is absent.";
