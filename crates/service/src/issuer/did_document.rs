//! The DID document of the service (W3C Decentralized Identifiers 1.0). It lists each public key as a JSON Web Key and
//! in the format of Standard Webhooks.

use schemars::JsonSchema;
use sealpost_domain::Did;
use sealpost_wallet::IssuerPublicKey;
use serde::Serialize;

/// The DID document of the service, which publishes its public keys.
#[derive(Debug, Clone, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DidDocument {
    #[serde(rename = "@context")]
    context: [&'static str; 2],
    id: Did,
    verification_method: Vec<VerificationMethod>,
    assertion_method: Vec<String>,
}

#[derive(Debug, Clone, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
struct VerificationMethod {
    id: String,
    r#type: &'static str,
    controller: Did,
    public_key_jwk: Jwk,
    /// The same key in the format of Standard Webhooks libraries. This is an extension, which other readers ignore.
    standard_webhooks_key: String,
}

/// A public key as a JSON Web Key (RFC 8037).
#[derive(Debug, Clone, JsonSchema, Serialize)]
struct Jwk {
    kty: &'static str,
    crv: &'static str,
    x: String,
    kid: String,
}

impl DidDocument {
    pub(super) fn new(did: &Did, keys: impl Iterator<Item = IssuerPublicKey>) -> Self {
        let methods: Vec<_> = keys.map(|key| VerificationMethod::new(did, key)).collect();
        Self {
            context: CONTEXT,
            id: did.clone(),
            assertion_method: methods.iter().map(|method| method.id.clone()).collect(),
            verification_method: methods,
        }
    }
}

impl VerificationMethod {
    fn new(did: &Did, key: IssuerPublicKey) -> Self {
        Self {
            id: key_id(did, key),
            r#type: "JsonWebKey",
            controller: did.clone(),
            public_key_jwk: Jwk { kty: "OKP", crv: "Ed25519", x: key.x(), kid: key.thumbprint() },
            standard_webhooks_key: key.whpk(),
        }
    }
}

/// Returns the DID URL of a key. Its fragment is the thumbprint of the key, as DID Core recommends.
pub(super) fn key_id(did: &Did, key: IssuerPublicKey) -> String {
    format!("{}#{}", did.as_str(), key.thumbprint())
}

const CONTEXT: [&str; 2] = ["https://www.w3.org/ns/did/v1", "https://w3id.org/security/jwk/v1"];
