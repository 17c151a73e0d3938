//! The public keys of logs and witnesses, in the form `NAME+ID+KEY` (signed-note).

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};
use ed25519_dalek::{Signature, VerifyingKey};
use ml_dsa::{KeyInit as _, MlDsa44, Verifier as _};
use sha2::{Digest, Sha256};
use thiserror::Error;

/// The kind of signature that a key makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignatureType {
    /// An Ed25519 signature with a time, by a witness.
    Cosignature,
    /// An Ed25519 signature over the text of the note, by a log.
    Ed25519,
    /// An ML-DSA-44 signature with a time, by a witness. Safe against quantum computers.
    MlDsa44Cosignature,
}

/// The name, the type and the public key of a log or a witness. `Display` is the form `NAME+ID+KEY`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifierKey {
    name: String,
    signature_type: SignatureType,
    public_key: Vec<u8>,
}

/// The reason why a text is no verifier key.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum KeyError {
    /// The text does not have the form `NAME+ID+KEY`, or the key is neither Ed25519 nor ML-DSA-44.
    #[error("'{0}' is no Ed25519 or ML-DSA-44 key of the form NAME+ID+KEY")]
    Form(String),
    /// The id does not belong to the name and the key.
    #[error(
        "the id of the key '{0}' does not belong to its name and key: check for a typing error"
    )]
    Id(String),
    /// The name is empty, contains a space, a control character or a plus sign, or is too long for the type.
    #[error(
        "'{0}' cannot be the name of a key: it is empty, has a space or '+', or has more than 255 bytes"
    )]
    Name(String),
}

impl VerifierKey {
    /// Creates a key. The name is a URL without its scheme, such as `example.org/log`. Fails if the name or the length
    /// of `public_key` is not valid for the type.
    pub fn new(
        name: &str,
        signature_type: SignatureType,
        public_key: &[u8],
    ) -> Result<Self, KeyError> {
        let is_too_long = signature_type == SignatureType::MlDsa44Cosignature
            && name.len() > SIGNED_NAME_BYTES_MAX;
        if !is_name(name) || is_too_long {
            return Err(KeyError::Name(name.to_owned()));
        }
        if public_key.len() != signature_type.key_length() {
            return Err(KeyError::Form(name.to_owned()));
        }
        Ok(Self { name: name.to_owned(), signature_type, public_key: public_key.to_vec() })
    }

    /// Reads the form `NAME+ID+KEY`.
    pub fn parse(text: &str) -> Result<Self, KeyError> {
        let fault = || KeyError::Form(text.to_owned());
        let mut parts = text.splitn(3, '+');
        let (Some(name), Some(id), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(fault());
        };
        let bytes = STANDARD.decode(key).ok().ok_or_else(fault)?;
        let (kind, public_key) = bytes.split_first().ok_or_else(fault)?;
        let signature_type = SignatureType::from_byte(*kind).ok_or_else(fault)?;
        let key = Self::new(name, signature_type, public_key)?;
        if hex(key.id()) == id { Ok(key) } else { Err(KeyError::Id(name.to_owned())) }
    }

    /// Returns the name. The name of a log's key is also the origin in the checkpoints of the log.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the kind of signatures.
    pub fn signature_type(&self) -> SignatureType {
        self.signature_type
    }

    /// Returns the public key.
    pub fn public_key(&self) -> &[u8] {
        &self.public_key
    }

    /// Returns the id of the key: the first four bytes of a hash of the name, the type and the public key. Each
    /// signature of a note names its key by this id.
    pub fn id(&self) -> [u8; 4] {
        let hash = Sha256::new()
            .chain_update(&self.name)
            .chain_update([b'\n', self.signature_type.byte()])
            .chain_update(&self.public_key)
            .finalize();
        let [a, b, c, d, ..]: [u8; 32] = hash.into();
        [a, b, c, d]
    }

    /// Returns true if the key has signed the message.
    pub(crate) fn has_signed(&self, message: &[u8], signature: &[u8]) -> bool {
        let verified = match self.signature_type {
            SignatureType::Cosignature | SignatureType::Ed25519 => self.ed25519(message, signature),
            SignatureType::MlDsa44Cosignature => self.ml_dsa_44(message, signature),
        };
        verified.is_some()
    }

    fn ed25519(&self, message: &[u8], signature: &[u8]) -> Option<()> {
        let key = VerifyingKey::try_from(self.public_key.as_slice()).ok()?;
        key.verify_strict(message, &Signature::from_slice(signature).ok()?).ok()
    }

    fn ml_dsa_44(&self, message: &[u8], signature: &[u8]) -> Option<()> {
        let key = ml_dsa::VerifyingKey::<MlDsa44>::new_from_slice(&self.public_key).ok()?;
        key.verify(message, &ml_dsa::Signature::try_from(signature).ok()?).ok()
    }
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = [&[self.signature_type.byte()], &*self.public_key].concat();
        write!(f, "{}+{}+{}", self.name, hex(self.id()), STANDARD.encode(key))
    }
}

impl SignatureType {
    /// Returns true for the signatures of a witness, false for those of a log.
    pub fn is_of_witness(self) -> bool {
        match self {
            Self::Cosignature | Self::MlDsa44Cosignature => true,
            Self::Ed25519 => false,
        }
    }

    fn byte(self) -> u8 {
        match self {
            Self::Cosignature => 4,
            Self::Ed25519 => 1,
            Self::MlDsa44Cosignature => 6,
        }
    }

    fn from_byte(byte: u8) -> Option<Self> {
        let all = [Self::Cosignature, Self::Ed25519, Self::MlDsa44Cosignature];
        all.into_iter().find(|kind| kind.byte() == byte)
    }

    /// Returns the length of a public key in bytes.
    fn key_length(self) -> usize {
        match self {
            Self::Cosignature | Self::Ed25519 => 32,
            Self::MlDsa44Cosignature => 1312,
        }
    }
}

pub(crate) fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c.is_control() || c == '+')
}

fn hex(id: [u8; 4]) -> String {
    format!("{:08x}", u32::from_be_bytes(id))
}

/// Maximum length in bytes of a name that is part of the message of an ML-DSA-44 cosignature.
pub(crate) const SIGNED_NAME_BYTES_MAX: usize = 255;

#[cfg(test)]
mod tests {
    use super::*;

    /// The public key of the Go checksum database, which another program has created.
    #[test]
    fn the_key_of_the_go_checksum_database_is_read() {
        let text = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8";
        let key = VerifierKey::parse(text).unwrap();
        assert_eq!((key.name(), key.signature_type()), ("sum.golang.org", SignatureType::Ed25519));
        assert_eq!(key.to_string(), text);
    }

    #[test]
    fn other_texts_are_no_keys() {
        let text = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8";
        for (from, to) in [
            ("033de0ae", "033de0af"),
            ("033de0ae", "033DE0AE"),
            ("sum.", "sum "),
            ("sum.golang.org", ""),
            ("sum.", "Sum."),
            ("+Ac4", "+Bc4"),
            ("OuAn8", "OuA"),
            ("+033de0ae", ""),
        ] {
            assert!(VerifierKey::parse(&text.replace(from, to)).is_err(), "{from} {to}");
        }
    }
}
