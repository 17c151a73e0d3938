//! The public keys of logs and witnesses, in the form `NAME+ID+KEY` (signed-note).

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};
use sha2::{Digest, Sha256};
use thiserror::Error;

/// The kind of signatures of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignatureType {
    /// An Ed25519 signature with a time, by a witness.
    Cosignature,
    /// An Ed25519 signature over the text of the note, by a log.
    Ed25519,
}

/// The name, the type and the public key of a log or a witness. `Display` is the form `NAME+ID+KEY`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifierKey {
    name: String,
    signature_type: SignatureType,
    public_key: [u8; 32],
}

/// The reason why a text is no verifier key.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum KeyFault {
    /// The text has another form, or the key another type.
    #[error("'{0}' is no Ed25519 key of the form NAME+ID+KEY")]
    Form(String),
    /// The id does not belong to the name and the key.
    #[error(
        "the id of the key '{0}' does not belong to its name and key: check for a typing error"
    )]
    Id(String),
    /// The name is empty, or contains a space, a control character or a plus sign.
    #[error("'{0}' cannot be the name of a key: it is empty, or has a space or '+'")]
    Name(String),
}

impl VerifierKey {
    /// Creates a key. The name is an URL without its scheme, such as `example.org/log`.
    pub fn new(
        name: &str,
        signature_type: SignatureType,
        public_key: [u8; 32],
    ) -> Result<Self, KeyFault> {
        if !is_name(name) {
            return Err(KeyFault::Name(name.to_owned()));
        }
        Ok(Self { name: name.to_owned(), signature_type, public_key })
    }

    /// Reads the form `NAME+ID+KEY`.
    pub fn parse(text: &str) -> Result<Self, KeyFault> {
        let fault = || KeyFault::Form(text.to_owned());
        let mut parts = text.splitn(3, '+');
        let (Some(name), Some(id), Some(key)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(fault());
        };
        let bytes = STANDARD.decode(key).ok().ok_or_else(fault)?;
        let (kind, public_key) = bytes.split_first().ok_or_else(fault)?;
        let signature_type = SignatureType::of_byte(*kind).ok_or_else(fault)?;
        let public_key = public_key.try_into().ok().ok_or_else(fault)?;
        let key = Self::new(name, signature_type, public_key)?;
        if hex(key.id()) == id { Ok(key) } else { Err(KeyFault::Id(name.to_owned())) }
    }

    /// Returns the name, for a log its origin.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the kind of signatures.
    pub fn signature_type(&self) -> SignatureType {
        self.signature_type
    }

    /// Returns the public key.
    pub fn public_key(&self) -> &[u8; 32] {
        &self.public_key
    }

    /// Returns the id by which a note names the key of a signature.
    pub fn id(&self) -> [u8; 4] {
        let hash = Sha256::new()
            .chain_update(&self.name)
            .chain_update([b'\n', self.signature_type.byte()])
            .chain_update(self.public_key)
            .finalize();
        let [a, b, c, d, ..]: [u8; 32] = hash.into();
        [a, b, c, d]
    }
}

impl fmt::Display for VerifierKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = [&[self.signature_type.byte()], self.public_key.as_slice()].concat();
        write!(f, "{}+{}+{}", self.name, hex(self.id()), STANDARD.encode(key))
    }
}

impl SignatureType {
    fn byte(self) -> u8 {
        match self {
            Self::Cosignature => 4,
            Self::Ed25519 => 1,
        }
    }

    fn of_byte(byte: u8) -> Option<Self> {
        [Self::Cosignature, Self::Ed25519].into_iter().find(|kind| kind.byte() == byte)
    }
}

pub(crate) fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(|c: char| c.is_whitespace() || c.is_control() || c == '+')
}

fn hex(id: [u8; 4]) -> String {
    format!("{:08x}", u32::from_be_bytes(id))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The key of the Go checksum database, which other programs made.
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
