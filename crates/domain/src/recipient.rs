//! Whom a caller names in `to`: a key or a handle, never a raw DID.

use crate::{ApiKeyId, Handle};

/// A recipient as a caller may name one.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Recipient {
    /// By handle: whoever holds it when the envelope is stored.
    Handle(Handle),
    /// By API key.
    Key(ApiKeyId),
}

/// Why a text names no recipient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RecipientFault {
    /// A raw DID stands where a key or a handle is required.
    #[error("a raw DID is no recipient")]
    RawDid,
    /// Neither a key nor a handle; nobody can have this name.
    #[error("no key or handle can have this name")]
    Unknown,
}

impl Recipient {
    /// Reads `to`. A raw DID is known by its scheme in any case, with surrounding white space, and with the
    /// colon percent-encoded.
    pub fn parse(text: &str) -> Result<Self, RecipientFault> {
        let bare = text.trim().to_ascii_lowercase();
        if bare.starts_with("did:") || bare.starts_with("did%3a") {
            return Err(RecipientFault::RawDid);
        }
        if let Ok(id) = text.parse() {
            return Ok(Self::Key(id));
        }
        let name = text.strip_prefix('@').unwrap_or(text);
        // A fault inside the handle's rules means that nobody can hold it.
        Handle::parse(name).map(Self::Handle).or(Err(RecipientFault::Unknown))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_dids_are_known_in_every_spelling() {
        for text in [
            "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
            "DID:web:example.com",
            "  did:key:z6Mk\n",
            "did%3Akey%3Az6Mk",
            "DiD%3akey",
            "did:",
        ] {
            assert_eq!(Recipient::parse(text), Err(RecipientFault::RawDid), "{text}");
        }
    }

    #[test]
    fn keys_and_handles_are_told_apart() {
        let key = "ak_01h455vb4pex5vsknk084sn02q";
        assert_eq!(Recipient::parse(key), Ok(Recipient::Key(key.parse().unwrap())));
        let bob = Recipient::Handle(Handle::parse("bob").unwrap());
        assert_eq!(Recipient::parse("bob").as_ref(), Ok(&bob));
        assert_eq!(Recipient::parse("@BOB").as_ref(), Ok(&bob));
        for text in ["ak_short", "@@bob", "bo b", "@", "wh_01h455vb4pex5vsknk084sn02q"] {
            assert_eq!(Recipient::parse(text), Err(RecipientFault::Unknown), "{text}");
        }
    }
}
