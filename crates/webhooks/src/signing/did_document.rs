//! Reads the public keys for webhook signatures from the DID document of the service.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::Value;

use super::verifying_key::VerifyingKey;

/// Returns the Ed25519 keys of a DID document such as `/.well-known/did.json`, without duplicates.
///
/// Accepts keys in the forms Multikey and JSON Web Key, and ignores other forms. Fails if the document has no such key.
pub fn verifying_keys(document: &[u8]) -> Result<Vec<VerifyingKey>, NoVerifyingKey> {
    let document: Value = serde_json::from_slice(document).map_err(|_no_json| NoVerifyingKey)?;
    let methods = document.get("verificationMethod").and_then(Value::as_array);
    let mut keys = Vec::new();
    for key in methods.into_iter().flatten().filter_map(key_of) {
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    if keys.is_empty() { Err(NoVerifyingKey) } else { Ok(keys) }
}

/// The error for a document without a key for the verification of `v1a` signatures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no DID document with an Ed25519 key")]
pub struct NoVerifyingKey;

fn key_of(method: &Value) -> Option<VerifyingKey> {
    if let Some(text) = method.get("publicKeyMultibase").and_then(Value::as_str) {
        return VerifyingKey::from_multibase(text).ok();
    }
    let jwk = method.get("publicKeyJwk")?;
    if jwk.get("kty")? != "OKP" || jwk.get("crv")? != "Ed25519" {
        return None;
    }
    let bytes = URL_SAFE_NO_PAD.decode(jwk.get("x")?.as_str()?).ok()?;
    VerifyingKey::from_bytes(bytes.try_into().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_key_forms_are_read_and_other_entries_are_ignored() {
        let document = json!({
            "id": "did:web:sealpost.example",
            "verificationMethod": [
                {"type": "Multikey", "publicKeyMultibase": ONE_MULTIBASE},
                {"type": "JsonWebKey", "publicKeyJwk": {"kty": "OKP", "crv": "Ed25519", "x": ONE_JWK}},
                {"type": "JsonWebKey", "publicKeyJwk": {"kty": "OKP", "crv": "Ed25519", "x": OTHER_JWK}},
                {"type": "JsonWebKey", "publicKeyJwk": {"kty": "OKP", "crv": "X25519", "x": ONE_JWK}},
                {"type": "JsonWebKey", "publicKeyJwk": {"kty": "OKP", "crv": "Ed25519", "x": "AAAA"}},
                {"type": "Multikey", "publicKeyMultibase": "z6LSj72tK8brWgZja8NLRwPigth2T9QRiG1uH9oKZuKjdh9p"},
                "nonsense",
            ],
        });
        let keys = verifying_keys(document.to_string().as_bytes()).unwrap();
        let texts: Vec<_> = keys.iter().map(ToString::to_string).collect();
        assert_eq!(texts, [ONE, OTHER]);
    }

    #[test]
    fn a_document_without_a_key_is_refused() {
        for document in
            ["", "[]", "{}", r#"{"verificationMethod":{}}"#, r#"{"verificationMethod":[]}"#]
        {
            assert_eq!(verifying_keys(document.as_bytes()), Err(NoVerifyingKey), "{document}");
        }
    }

    /// The public key of RFC 8032, section 7.1, test 1. The same key as a JSON Web Key is in RFC 8037, appendix A.2.
    const ONE: &str = "whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=";
    const ONE_MULTIBASE: &str = "z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw";
    const ONE_JWK: &str = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
    /// The public key of RFC 8032, section 7.1, test 2.
    const OTHER: &str = "whpk_PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=";
    const OTHER_JWK: &str = "PUAXw-hDiVqStwqnTRt-vJyYLM8uxJaMwM1V8Sr0Zgw";
}
