use std::collections::BTreeMap;

use sealpost_domain::{EnvelopeId, Timestamp};
use sealpost_wallet::WebhookSecret;
use sealpost_webhooks::{SignedHeaders, verify};

use super::*;

fn whole() -> Value {
    openapi("http://127.0.0.1:8080")
}

#[test]
fn every_action_on_webhooks_has_an_example() {
    let document = whole();
    let body =
        &document["paths"]["/v1/webhooks"]["post"]["requestBody"]["content"]["application/json"];
    let actions: Vec<_> = body["schema"]["oneOf"].as_array().unwrap().iter().collect();
    let examples = body["examples"].as_object().unwrap();
    for action in &actions {
        let name = &action["properties"]["action"]["const"];
        assert!(
            examples.values().any(|example| example["value"]["action"] == *name),
            "the action {name} has no example: add one in crates/api/src/openapi/operations/manage_webhooks.rs"
        );
    }
    assert_eq!(examples.len(), actions.len());
}

/// Doc comments become descriptions, and callers know nothing of the types' names.
#[test]
fn no_description_speaks_of_rust() {
    let text = whole().to_string();
    for trace in ["](crate", "](Self", "](super", "[`", "`]", "crate::"] {
        let before = text.split(trace).next().unwrap_or_default();
        let end: String = before.chars().rev().take(120).collect();
        let end: String = end.chars().rev().collect();
        assert!(before.len() == text.len(), "{trace} in a description, after {end}");
    }
}

/// What is asked for and what is answered share their names in the document.
#[test]
fn a_type_that_goes_both_ways_has_one_schema() {
    let mut both = Schemas::new();
    for operation in operations::all() {
        operation.render(&mut both);
    }
    let asked: BTreeMap<_, _> = both.asked_types().clone().into_iter().collect();
    for (name, answered) in both.answered_types() {
        let other = asked.get(name).unwrap_or(answered);
        assert_eq!(other, answered, "{name} looks different when it is asked for");
    }
}

#[test]
fn the_notice_of_the_example_verifies_with_the_secret_of_the_example() {
    let document = whole();
    let event = &document["webhooks"]["envelope.received"]["post"];
    let body =
        &event["requestBody"]["content"]["application/json"]["examples"]["example1"]["value"];
    let header = |name: &str| {
        let parameters = event["parameters"].as_array().unwrap();
        let found = parameters.iter().find(|parameter| parameter["name"] == name).unwrap();
        found["example"].as_str().map_or_else(|| found["example"].to_string(), str::to_owned)
    };
    let answers = &document["paths"]["/v1/webhooks/register"]["post"]["responses"]["200"];
    let registered = &answers["content"]["application/json"]["examples"]["example1"]["value"];
    let secret = WebhookSecret::parse(registered["secret"].as_str().unwrap()).unwrap();
    let (id, timestamp, signature) =
        (header("webhook-id"), header("webhook-timestamp"), header("webhook-signature"));
    assert!(id.parse::<EnvelopeId>().is_ok());
    let now = Timestamp::from_millis(timestamp.parse::<i64>().unwrap() * 1000);
    let headers = SignedHeaders { id: &id, timestamp: &timestamp, signature: &signature };
    verify(&secret, &headers, body.to_string().as_bytes(), now).unwrap();
}
