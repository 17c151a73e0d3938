//! Issuer keys: the Ed25519 keys for signatures by the service itself, and their public forms for verifiers (RFC 8037,
//! Standard Webhooks).

use std::fmt;

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use ed25519_dalek::Signer;
use sealpost_domain::{IssuerKeyId, Wrapped};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::{did, signature::SigningKey};
use crate::{
    Keyring, WalletError, entropy,
    keys::{StorageLocation, derivation},
};

/// The private key with which the service signs credentials and events.
pub struct IssuerSecret(SigningKey);

impl IssuerSecret {
    /// Generates a random private key.
    pub fn generate() -> Result<Self, WalletError> {
        let mut seed = Zeroizing::new([0; 32]);
        entropy::fill(seed.as_mut_slice())?;
        Ok(Self(SigningKey::from_bytes(&seed)))
    }

    /// Encrypts the private key under the newest key-encryption key. The result is bound to `id`: it can be decrypted
    /// only with the same id.
    pub fn wrap(&self, keyring: &Keyring, id: &IssuerKeyId) -> Result<Wrapped, WalletError> {
        keyring.wrap(&location(id), self.0.to_bytes().as_slice())
    }

    /// Decrypts a private key. Fails with [`WalletError::NotDecryptable`] unless [`IssuerSecret::wrap`] encrypted the
    /// key with the same `id`.
    pub fn unwrap(
        keyring: &Keyring,
        id: &IssuerKeyId,
        wrapped: &Wrapped,
    ) -> Result<Self, WalletError> {
        let bytes = keyring.unwrap(&location(id), wrapped)?;
        let seed = bytes.as_slice().try_into().ok().ok_or(WalletError::NotDecryptable)?;
        Ok(Self(SigningKey::from_bytes(seed)))
    }

    /// Derives the private key with which the service signs checkpoints of its transparency log.
    pub fn log_secret(&self) -> Result<Self, WalletError> {
        Ok(Self(SigningKey::from_bytes(&*derivation::log_seed(&self.0.to_bytes())?)))
    }

    /// Returns the public key.
    pub fn public_key(&self) -> IssuerPublicKey {
        IssuerPublicKey(self.0.verifying_key().to_bytes())
    }

    /// Returns the Ed25519 signature over `content`.
    pub fn sign(&self, content: &[u8]) -> [u8; 64] {
        self.0.sign(content).to_bytes()
    }
}

impl fmt::Debug for IssuerSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IssuerSecret(..)")
    }
}

/// The public key with which clients verify signatures of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IssuerPublicKey(pub [u8; 32]);

impl IssuerPublicKey {
    /// Returns member `x` of the JSON Web Key with `kty` `OKP` and `crv` `Ed25519` (RFC 8037,
    /// section 2).
    pub fn x(&self) -> String {
        URL_SAFE_NO_PAD.encode(self.0)
    }

    /// Returns the thumbprint of the JSON Web Key (RFC 7638), by which verifiers find the key.
    pub fn thumbprint(&self) -> String {
        // Required members in alphabetical order, without white space (RFC 7638, section 3).
        let members = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{}"}}"#, self.x());
        URL_SAFE_NO_PAD.encode(Sha256::digest(members))
    }

    /// Returns the public key in the form of `publicKeyMultibase`, `z6Mk…` (W3C Controlled Identifiers 1.0, section
    /// 2.2.2).
    pub fn multibase(&self) -> String {
        did::multibase(&self.0)
    }

    /// Returns the public key in the Standard Webhooks form `whpk_…`. Receivers verify events with this form.
    pub fn whpk(&self) -> String {
        format!("whpk_{}", STANDARD.encode(self.0))
    }
}

fn location(id: &IssuerKeyId) -> StorageLocation<'_> {
    StorageLocation { table: "issuer_keys", row: id.as_bytes(), column: "secret" }
}

#[cfg(test)]
mod tests {
    use sealpost_domain::Timestamp;

    use super::*;

    fn keyring() -> Keyring {
        Keyring::parse(&Keyring::fresh_line(1).unwrap()).unwrap()
    }

    fn id(byte: u8) -> IssuerKeyId {
        IssuerKeyId::new(Timestamp::from_millis(1), [byte; 10])
    }

    /// Tests RFC 8037, appendix A.1 to A.4: the key, its thumbprint, and a signature over a compact JWS.
    #[test]
    fn the_rfc_8037_vectors_hold() {
        let seed = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
        let seed = hex::decode(seed).unwrap().try_into().unwrap();
        let secret = IssuerSecret(SigningKey::from_bytes(&seed));
        let public = secret.public_key();
        assert_eq!(public.x(), "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo");
        assert_eq!(public.whpk(), "whpk_11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=");
        assert_eq!(public.thumbprint(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
        let signature = secret.sign(b"eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc");
        assert_eq!(
            URL_SAFE_NO_PAD.encode(signature),
            "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
        );
    }

    #[test]
    fn a_wrapped_secret_unwraps_only_in_its_own_row() {
        let (keyring, secret) = (keyring(), IssuerSecret::generate().unwrap());
        let wrapped = secret.wrap(&keyring, &id(1)).unwrap();
        let back = IssuerSecret::unwrap(&keyring, &id(1), &wrapped).unwrap();
        assert_eq!(back.public_key(), secret.public_key());
        assert_ne!(back.public_key(), IssuerSecret::generate().unwrap().public_key());
        let elsewhere = IssuerSecret::unwrap(&keyring, &id(2), &wrapped).map(drop);
        assert_eq!(elsewhere, Err(WalletError::NotDecryptable));
    }
}
