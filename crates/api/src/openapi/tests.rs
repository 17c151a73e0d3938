use std::collections::BTreeMap;

use sealpost_domain::{EnvelopeId, Timestamp};
use sealpost_wallet::WebhookSecret;
use sealpost_webhooks::{SignedHeaders, verify};
use serde_json::Value;

use super::{document::render, schemas::Schemas};
use crate::{endpoints::table, openapi};

fn document() -> Value {
    openapi("http://127.0.0.1:8080")
}

#[test]
fn every_action_on_webhooks_has_an_example() {
    let document = document();
    let body =
        &document["paths"]["/v1/webhooks"]["post"]["requestBody"]["content"]["application/json"];
    let actions: Vec<_> = body["schema"]["oneOf"].as_array().unwrap().iter().collect();
    let examples = body["examples"].as_object().unwrap();
    for action in &actions {
        let name = &action["properties"]["action"]["const"];
        assert!(
            examples.values().any(|example| example["value"]["action"] == *name),
            "the action {name} has no example: add one in crates/api/src/endpoints/webhooks/manage.rs"
        );
    }
    assert_eq!(examples.len(), actions.len());
}

/// Doc comments become descriptions, but callers do not know the Rust types.
#[test]
fn no_description_links_to_rust_types() {
    let text = document().to_string();
    for trace in ["](crate", "](Self", "](super", "[`", "`]", "crate::"] {
        let before = text.split(trace).next().unwrap_or_default();
        let end: String = before.chars().rev().take(120).collect();
        let end: String = end.chars().rev().collect();
        assert!(before.len() == text.len(), "{trace} in a description, after {end}");
    }
}

/// Types of requests and types of responses share their names in the document.
#[test]
fn a_type_of_requests_and_responses_has_one_schema() {
    let mut schemas = Schemas::new();
    for row in table() {
        render(&row.endpoint.operation, &row.method, &mut schemas);
    }
    let requests: BTreeMap<_, _> = schemas.request_types().clone().into_iter().collect();
    for (name, of_responses) in schemas.response_types() {
        let of_requests = requests.get(name).unwrap_or(of_responses);
        assert_eq!(of_requests, of_responses, "{name} differs between requests and responses");
    }
}

#[test]
fn the_example_event_verifies_with_the_example_secret() {
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
}
