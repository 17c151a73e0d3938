//! `GET /.well-known/did.json` publishes the public keys of the service as a DID document. `GET /did.json` serves the
//! same document, because `did:web` resolves to this path if the base URL has a path.

use actix_web::{HttpResponse, http::header, web};
use sealpost_service::DidDocument;
use serde_json::json;

use crate::{
    endpoint::Endpoint,
    openapi::{Operation, Tag},
    state::ApiState,
};

async fn did_document(app: web::Data<ApiState>) -> HttpResponse {
    let mut document = app.issuer.did_document();
    // The key of the log is in the database, and the signing keys are in memory. If the database is unavailable, serves
    // the document without the key of the log.
    if let Ok(Some(key)) = app.sealpost.transparency_log.key().await {
        document = document.with_log(format!("{}/log", app.settings.base_url), key);
    }
    HttpResponse::Ok()
        .insert_header((header::CACHE_CONTROL, format!("public, max-age={MAX_AGE_S}")))
        // Lets verifiers in a browser read the document from pages of any origin.
        .insert_header((header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"))
        .insert_header((header::CONTENT_TYPE, "application/did+json"))
        .body(serde_json::to_string(&document).unwrap_or_default())
}

pub(in crate::endpoints) fn endpoint() -> Endpoint {
    let operation = operation("getDidDocument", "Get the service's keys", DESCRIPTION);
    Endpoint { operation, route: web::route().to(did_document) }
}

pub(in crate::endpoints) fn endpoint_below_path() -> Endpoint {
    let summary = "Get the service's keys below a path";
    let operation = operation("getDidDocumentBelowPath", summary, DESCRIPTION_BELOW_PATH);
    Endpoint { operation, route: web::route().to(did_document) }
}

fn operation(id: &'static str, summary: &'static str, description: &'static str) -> Operation {
    let key = "did:web:seal.example.org#zI8mJB4QkC3Y1hE4Gx0Xq8PpZ4Y5v1n3o9m2l0k7j6c";
    let multikey = "z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw";
    let multikey_id = format!("did:web:seal.example.org#{multikey}");
    let document = json!({
        "@context": [
            "https://www.w3.org/ns/did/v1",
            "https://w3id.org/security/jwk/v1",
            "https://w3id.org/security/multikey/v1",
            {
                "TransparencyLog": "urn:sealpost:TransparencyLog",
                "logKey": "urn:sealpost:logKey",
                "standardWebhooksKey": "urn:sealpost:standardWebhooksKey",
            },
        ],
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
        }, {
            "id": multikey_id,
            "type": "Multikey",
            "controller": "did:web:seal.example.org",
            "publicKeyMultibase": multikey,
            "standardWebhooksKey": "whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
        }],
        "assertionMethod": [key, multikey_id],
        "service": [{
            "id": "did:web:seal.example.org#log",
            "type": "TransparencyLog",
            "serviceEndpoint": "https://seal.example.org/log",
            "logKey": "seal.example.org/log+6def6816+AddamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea",
        }],
    });
    Operation::new::<DidDocument>(id, document)
        .describe(Tag::Badges, summary, description)
        .content_types(&["application/did+json"])
}

const DESCRIPTION: &str = "\
The DID document (`did:web`) of the service. Its keys verify badges, status lists, and the `v1a` signatures of \
events.\n\n\
- The document has each key twice, as `JsonWebKey` and as `Multikey`, because some verifiers know only one of \
the forms. `kid` of a signature is the id of the `JsonWebKey`.\n\
- `standardWebhooksKey` is the key in the form of Standard Webhooks libraries.\n\
- Former keys stay in the document.\n\
- `service` has the URL and the public key of the transparency log.";
const DESCRIPTION_BELOW_PATH: &str =
    "The same document, at the address of `did:web` for a base URL with a path.";

/// Cache lifetime of the document in seconds. The service first publishes a new key, and waits longer than this time
/// before it signs with the key. A cached document therefore never lacks a key that signs.
const MAX_AGE_S: u32 = 3;
