//! The DID document of the service (W3C Decentralized Identifiers 1.0). It lists each public key twice, because some
//! verifiers know only one of the two forms: as a JSON Web Key and as a Multikey (W3C Controlled Identifiers 1.0,
//! section 2.2).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use sealpost_domain::Did;
use sealpost_wallet::IssuerPublicKey;
use serde::Serialize;

/// The DID document of the service, which publishes its public keys.
#[derive(Debug, Clone, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DidDocument {
    /// The vocabularies that define the members of the document.
    #[serde(rename = "@context")]
    context: [Context; 4],
    /// The DID of the service.
    id: Did,
    /// The public keys of the service: each one as a JSON Web Key, and again as a Multikey.
    verification_method: Vec<VerificationMethod>,
    /// Ids of the keys that verify badges and events.
    assertion_method: Vec<String>,
    /// The transparency log. Absent if the service has none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    service: Vec<LogService>,
}

/// An entry of `@context`, which gives each member of the document its meaning (JSON-LD 1.1, section 3.1).
#[derive(Debug, Clone, JsonSchema, Serialize)]
#[serde(untagged)]
enum Context {
    Url(&'static str),
    /// The names that this service defines, each with its URI.
    Terms(BTreeMap<&'static str, &'static str>),
}

/// A public key, either as a JSON Web Key or as a Multikey (DID Core 1.0, section 5.2.1).
#[derive(Debug, Clone, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
struct VerificationMethod {
    /// Id of the key: the DID, `#` and the fragment of the key.
    id: String,
    /// The form of the key: `JsonWebKey` or `Multikey`.
    r#type: &'static str,
    /// The DID of the service.
    controller: Did,
    /// The key as a JSON Web Key. Absent in a Multikey.
    #[serde(skip_serializing_if = "Option::is_none")]
    public_key_jwk: Option<Jwk>,
    /// The key as a multibase text. Absent in a JSON Web Key.
    #[serde(skip_serializing_if = "Option::is_none")]
    public_key_multibase: Option<String>,
    /// The same key in the format of Standard Webhooks libraries. This is an extension, which other readers ignore.
    standard_webhooks_key: String,
}

/// The transparency log of the service (DID Core 1.0, section 5.4).
#[derive(Debug, Clone, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
struct LogService {
    /// Id of the log in this document.
    id: String,
    /// Always `TransparencyLog`.
    r#type: &'static str,
    /// The URL of the log.
    service_endpoint: String,
    /// The public key of the log in the form `NAME+ID+KEY`.
    log_key: String,
}

/// A public key as a JSON Web Key (RFC 8037).
#[derive(Debug, Clone, JsonSchema, Serialize)]
struct Jwk {
    /// The type of the key, always `OKP`.
    kty: &'static str,
    /// The curve of the key, always `Ed25519`.
    crv: &'static str,
    /// The public key in base64url.
    x: String,
    /// Id of the key: its thumbprint.
    kid: String,
}

impl DidDocument {
    pub(super) fn new(did: &Did, keys: &[IssuerPublicKey]) -> Self {
        let jwks = keys.iter().map(|key| VerificationMethod::jwk(did, *key));
        let multikeys = keys.iter().map(|key| VerificationMethod::multikey(did, *key));
        let methods: Vec<_> = jwks.chain(multikeys).collect();
        let terms = BTreeMap::from([
            ("TransparencyLog", "urn:sealpost:TransparencyLog"),
            ("logKey", "urn:sealpost:logKey"),
            ("standardWebhooksKey", "urn:sealpost:standardWebhooksKey"),
        ]);
        Self {
            context: [
                Context::Url("https://www.w3.org/ns/did/v1"),
                Context::Url("https://w3id.org/security/jwk/v1"),
                Context::Url("https://w3id.org/security/multikey/v1"),
                Context::Terms(terms),
            ],
            id: did.clone(),
            assertion_method: methods.iter().map(|method| method.id.clone()).collect(),
            verification_method: methods,
            service: Vec::new(),
        }
    }

    /// Adds the URL and the public key of the transparency log.
    #[must_use]
    pub fn with_log(mut self, url: String, key: String) -> Self {
        self.service.push(LogService {
            id: format!("{}#log", self.id.as_str()),
            r#type: "TransparencyLog",
            service_endpoint: url,
            log_key: key,
        });
        self
    }
}

impl VerificationMethod {
    fn jwk(did: &Did, key: IssuerPublicKey) -> Self {
        let jwk = Jwk { kty: "OKP", crv: "Ed25519", x: key.x(), kid: key.thumbprint() };
        Self {
            id: key_id(did, key),
            r#type: "JsonWebKey",
            controller: did.clone(),
            public_key_jwk: Some(jwk),
            public_key_multibase: None,
            standard_webhooks_key: key.whpk(),
        }
    }

    fn multikey(did: &Did, key: IssuerPublicKey) -> Self {
        let multibase = key.multibase();
        Self {
            id: format!("{}#{multibase}", did.as_str()),
            r#type: "Multikey",
            controller: did.clone(),
            public_key_jwk: None,
            public_key_multibase: Some(multibase),
            standard_webhooks_key: key.whpk(),
        }
    }
}

/// Returns the DID URL of a key. Its fragment is the thumbprint of the key, as DID Core recommends.
pub(super) fn key_id(did: &Did, key: IssuerPublicKey) -> String {
    format!("{}#{}", did.as_str(), key.thumbprint())
}
