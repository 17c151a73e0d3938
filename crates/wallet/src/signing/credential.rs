//! Credentials as compact JWS (RFC 7515) with Ed25519 (RFC 8037) and type `vc+jwt` (W3C Securing
//! Verifiable Credentials using JOSE and COSE).

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ed25519_dalek::VerifyingKey;
use serde::{Deserialize, Serialize};

use super::{
    issuer::{IssuerPublicKey, IssuerSecret},
    signature,
};
use crate::WalletError;

#[derive(Serialize)]
struct Header<'a> {
    alg: &'static str,
    kid: &'a str,
    typ: &'static str,
    cty: &'static str,
}

/// The members of the JSON header of a received JWS that this module checks. All other members are ignored.
#[derive(Deserialize)]
struct ReceivedHeader {
    alg: String,
    kid: String,
    typ: String,
    crit: Option<serde_json::Value>,
}

impl IssuerSecret {
    /// Signs a credential and returns it as compact JWS. `kid` is the DID URL of this issuer key.
    pub fn sign_credential(
        &self,
        kid: &str,
        credential: &impl Serialize,
    ) -> Result<String, WalletError> {
        let encode = |json: serde_json::Result<Vec<u8>>| {
            json.map(|bytes| URL_SAFE_NO_PAD.encode(bytes)).ok().ok_or(WalletError::NotEncodable)
        };
        let header = Header { alg: ALG, kid, typ: TYP, cty: "vc" };
        let header = encode(serde_json::to_vec(&header))?;
        let signed = format!("{header}.{}", encode(serde_json::to_vec(credential))?);
        let signature = URL_SAFE_NO_PAD.encode(self.sign(signed.as_bytes()));
        Ok(format!("{signed}.{signature}"))
    }
}

/// Verifies the header and the signature of a credential, and returns its JSON bytes. `key_of` finds the issuer's
/// public key by `kid`. Returns `None` if the header, key or signature is invalid, or if `token` has more than 16 KiB.
/// Does not check dates or the revocation status.
pub fn verify_credential(
    token: &str,
    key_of: impl FnOnce(&str) -> Option<IssuerPublicKey>,
) -> Option<Vec<u8>> {
    if token.len() > TOKEN_LEN_MAX {
        return None;
    }
    let (signed, signature) = token.rsplit_once('.')?;
    let (header, payload) = signed.split_once('.')?;
    let header: ReceivedHeader =
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(header).ok()?).ok()?;
    if header.alg != ALG || header.typ != TYP || header.crit.is_some() {
        return None;
    }
    let key = VerifyingKey::from_bytes(&key_of(&header.kid)?.0).ok()?;
    let signature = URL_SAFE_NO_PAD.decode(signature).ok()?.try_into().ok()?;
    if !signature::is_valid(&key, signed.as_bytes(), &signature) {
        return None;
    }
    URL_SAFE_NO_PAD.decode(payload).ok()
}

const ALG: &str = "EdDSA";
const TYP: &str = "vc+jwt";
const TOKEN_LEN_MAX: usize = 16 * 1024;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    const KID: &str = "did:web:example.org#key";

    fn verify(token: &str, secret: &IssuerSecret) -> Option<Vec<u8>> {
        verify_credential(token, |kid| (kid == KID).then(|| secret.public_key()))
    }

    #[test]
    fn a_credential_verifies_only_under_its_key() {
        let (secret, other) =
            (IssuerSecret::generate().unwrap(), IssuerSecret::generate().unwrap());
        let credential = json!({"id": "urn:x", "süß": [1, 2]});
        let token = secret.sign_credential(KID, &credential).unwrap();
        let read: Value = serde_json::from_slice(&verify(&token, &secret).unwrap()).unwrap();
        assert_eq!(read, credential);
        let header = URL_SAFE_NO_PAD.decode(token.split('.').next().unwrap()).unwrap();
        assert_eq!(
            serde_json::from_slice::<Value>(&header).unwrap(),
            json!({"alg": "EdDSA", "typ": "vc+jwt", "cty": "vc", "kid": KID})
        );
        assert_eq!(verify(&token, &other), None);
        assert_eq!(verify_credential(&token, |_| None), None);
    }

    #[test]
    fn other_headers_are_rejected() {
        let secret = IssuerSecret::generate().unwrap();
        let token_of = |header: Value| {
            let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
            let signed = format!("{}.{}", encode(&header), encode(&json!({})));
            let signature = URL_SAFE_NO_PAD.encode(secret.sign(signed.as_bytes()));
            format!("{signed}.{signature}")
        };
        let good = json!({"alg": "EdDSA", "kid": KID, "typ": "vc+jwt", "more": 1});
        assert!(verify(&token_of(good.clone()), &secret).is_some());
        for (member, value) in [
            ("alg", json!("none")),
            ("alg", json!("HS256")),
            ("kid", json!("did:web:example.org#another")),
            ("typ", json!("JWT")),
            ("crit", json!(["exp"])),
        ] {
            let mut header = good.clone();
            header[member] = value;
            assert_eq!(verify(&token_of(header.clone()), &secret), None, "{header}");
        }
    }

    #[test]
    fn texts_other_than_tokens_are_rejected() {
        let secret = IssuerSecret::generate().unwrap();
        let good = secret.sign_credential(KID, &json!({})).unwrap();
        let long = format!("{}.a.b", "a".repeat(TOKEN_LEN_MAX));
        for text in [
            "",
            ".",
            "..",
            "a.b.c",
            good.get(1..).unwrap(),
            &format!("{good}="),
            &format!(" {good}"),
            &long,
        ] {
            assert_eq!(verify(text, &secret), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_changed_character_is_rejected(place in any::<prop::sample::Index>(), to in "[A-Za-z0-9_.-]") {
            let secret = IssuerSecret::generate().unwrap();
            let good = secret.sign_credential(KID, &json!({"a": "b"})).unwrap();
            let place = place.index(good.len());
            let changed = format!("{}{to}{}", good.get(..place).unwrap(), good.get(place + 1..).unwrap());
            prop_assume!(changed != good);
            prop_assert_eq!(verify(&changed, &secret), None);
        }
    }
}
