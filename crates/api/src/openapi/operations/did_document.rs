//! `GET /.well-known/did.json`, and `GET /did.json` for a service whose address has a path.

use sealpost_service::DidDocument;
use serde_json::json;

use super::{Group, Operation};

pub(super) fn operation() -> Operation {
    at("/.well-known/did.json", "didDocument", ABOUT)
}

pub(super) fn below_a_path() -> Operation {
    at("/did.json", "didDocumentBelowPath", BELOW_A_PATH)
}

fn at(path: &'static str, id: &'static str, about: &'static str) -> Operation {
    let key = "did:web:seal.example.org#zI8mJB4QkC3Y1hE4Gx0Xq8PpZ4Y5v1n3o9m2l0k7j6c";
    let example = json!({
        "@context": ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/jwk/v1"],
        "id": "did:web:seal.example.org",
        "verificationMethod": [{
            "id": key,
            "type": "JsonWebKey",
            "controller": "did:web:seal.example.org",
            "publicKeyJwk": {
                "kty": "OKP",
                "crv": "Ed25519",
                "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
                "kid": "zI8mJB4QkC3Y1hE4Gx0Xq8PpZ4Y5v1n3o9m2l0k7j6c",
            },
            "standardWebhooksKey": "whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
        }],
        "assertionMethod": [key],
    });
    Operation::get::<DidDocument>(path, id, example)
        .says(Group::Badges, "Get the service's keys", about)
        .of_kind("application/did+json")
}

const ABOUT: &str = "\
The DID document (`did:web`) of the service itself: by these keys it signs badges, status lists and the `v1a` entry of \
notices. `standardWebhooksKey` is the key as libraries of Standard Webhooks take it. Keys of the past stay in it.";
const BELOW_A_PATH: &str =
    "The same document, where `did:web` looks for it if the service's address has a path.";
