use std::collections::BTreeMap;

use sealpost_domain::{EnvelopeId, Timestamp};
use sealpost_wallet::WebhookSecret;
use sealpost_webhooks::{SignedHeaders, VerifyingKey, verify, verify_asymmetric};
use serde_json::Value;

use super::{document::render, schemas::Schemas};
use crate::{admin::admin_openapi, endpoints::table, openapi};

fn document() -> Value {
    openapi("http://127.0.0.1:8080")
}

#[test]
fn every_action_on_webhooks_has_a_path_with_the_same_members() {
    let document = document();
    let paths = document["paths"].as_object().unwrap();
    let body = &paths["/v1/webhooks"]["post"]["requestBody"]["content"]["application/json"];
    let mapping = body["schema"]["discriminator"]["mapping"].as_object().unwrap();
    let examples = body["examples"].as_object().unwrap();
    assert_eq!(examples.len(), mapping.len());
    let paths_of_actions = paths.keys().filter(|path| path.starts_with("/v1/webhooks/")).count();
    assert_eq!(paths_of_actions, mapping.len() + 1, "all but /v1/webhooks/register");
    for (action, variant) in mapping {
        let path = format!("/v1/webhooks/{}", action.replace('_', "-"));
        let own = &paths[&path]["post"]["requestBody"]["content"]["application/json"];
        let members = |schema: &Value| {
            let pointer = schema.as_str().unwrap().strip_prefix('#').unwrap();
            document.pointer(pointer).unwrap()["properties"].as_object().unwrap().clone()
        };
        let mut members_with_action = members(variant);
        assert_eq!(members_with_action.remove("action").unwrap()["const"], **action);
        assert_eq!(members_with_action, members(&own["schema"]["$ref"]), "{path}");
        let mut example = own["examples"]["example1"]["value"].clone();
        example["action"] = action.as_str().into();
        assert!(examples.values().any(|named| named["value"] == example), "{action}: {example}");
    }
}

/// Checks that no description contains Rust links or paths. Doc comments become descriptions, and the readers of the
/// document do not know the Rust types.
#[test]
fn no_description_links_to_rust_types() {
    let text = document().to_string();
    for trace in ["](crate", "](Self", "](super", "[`", "`]", "crate::", "`None`"] {
        let before = text.split(trace).next().unwrap_or_default();
        let end: String = before.chars().rev().take(120).collect();
        let end: String = end.chars().rev().collect();
        assert!(before.len() == text.len(), "{trace} in a description, after {end}");
    }
}

/// Checks that a description begins with a short paragraph, so that its reader learns the purpose first. More facts follow
/// as a list.
#[test]
fn each_description_begins_with_a_short_paragraph() {
    let document = document();
    let items = ["paths", "webhooks"].map(|member| document[member].as_object().unwrap());
    for item in items.iter().flat_map(|items| items.values()) {
        for operation in item.as_object().unwrap().values() {
            let (id, description) = (&operation["operationId"], &operation["description"]);
            let first = description.as_str().unwrap().split("\n\n").next().unwrap();
            assert!(first.len() <= 320, "{id}: {first}");
        }
    }
}

/// Checks each schema of both documents, so that the reference describes each member of a request, response and event.
#[test]
fn each_member_of_a_body_has_a_description() {
    let mut schemas =
        vec![document(), admin_openapi("http://127.0.0.1:8080", "http://127.0.0.1:9090")];
    let mut members = 0;
    while let Some(schema) = schemas.pop() {
        for (name, member) in schema["properties"].as_object().into_iter().flatten() {
            members += 1;
            let about = member["description"].as_str().unwrap_or_default();
            assert!(!about.is_empty(), "{name} has no description: {schema:#}");
        }
        match schema {
            Value::Array(parts) => schemas.extend(parts),
            Value::Object(parts) => {
                schemas.extend(
                    parts.into_iter().filter(|(name, _)| name != "examples").map(|it| it.1),
                );
            }
            _ => {}
        }
    }
    assert!(members > 300, "{members}");
}

/// Checks that the body of an event names its own kind only.
#[test]
fn each_event_has_one_kind() {
    let document = document();
    for (kind, item) in document["webhooks"].as_object().unwrap() {
        let schema = &item["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"];
        let schema = document.pointer(schema.as_str().unwrap().strip_prefix('#').unwrap()).unwrap();
        assert_eq!(schema["properties"]["event"]["const"], **kind);
    }
}

/// Checks that each schema with constants uses `enum`, because client generators create enumerations only from `enum`.
#[test]
fn no_schema_lists_constants_as_variants() {
    let document = document();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        let variants = schema["oneOf"].as_array().into_iter().flatten();
        assert_eq!(variants.filter(|variant| variant.get("const").is_some()).count(), 0, "{name}");
    }
}

/// Checks that a type has the same schema in requests and in responses, because both share one map of component names.
#[test]
fn a_type_of_requests_and_responses_has_one_schema() {
    let mut schemas = Schemas::new();
    for row in table() {
        render(&row.endpoint.operation, &row.method, &mut schemas);
    }
    let requests: BTreeMap<_, _> = schemas.request_types().into_iter().collect();
    for (name, of_responses) in schemas.response_types() {
        let of_requests = requests.get(name).unwrap_or(of_responses);
        assert_eq!(of_requests, of_responses, "{name} differs between requests and responses");
    }
}

#[test]
fn the_example_event_verifies_with_the_example_keys() {
    let document = document();
    let event = &document["webhooks"]["envelope.received"]["post"];
    let body =
        &event["requestBody"]["content"]["application/json"]["examples"]["example1"]["value"];
    let header = |name: &str| {
        let parameters = event["parameters"].as_array().unwrap();
        let found = parameters.iter().find(|parameter| parameter["name"] == name).unwrap();
        found["example"].as_str().map_or_else(|| found["example"].to_string(), str::to_owned)
    };
    let success = &document["paths"]["/v1/webhooks/register"]["post"]["responses"]["200"];
    let registered = &success["content"]["application/json"]["examples"]["example1"]["value"];
    let secret = WebhookSecret::parse(registered["secret"].as_str().unwrap()).unwrap();
    let (id, timestamp, signature) =
        (header("webhook-id"), header("webhook-timestamp"), header("webhook-signature"));
    assert!(id.parse::<EnvelopeId>().is_ok());
    let now = Timestamp::from_millis(timestamp.parse::<i64>().unwrap() * 1000);
    let headers = SignedHeaders { id: &id, timestamp: &timestamp, signature: &signature };
    verify(&secret, &headers, body.to_string().as_bytes(), now).unwrap();
    let success = &document["paths"]["/.well-known/did.json"]["get"]["responses"]["200"];
    let keys = &success["content"]["application/did+json"]["examples"]["example1"]["value"];
    let key = keys["verificationMethod"][0]["standardWebhooksKey"].as_str().unwrap();
    let key: VerifyingKey = key.parse().unwrap();
    verify_asymmetric(&key, &headers, body.to_string().as_bytes(), now).unwrap();
}
