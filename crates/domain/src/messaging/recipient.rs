//! Recipients of messages, in the `to` field of a request. A recipient is an API key id or a handle, never a DID.

use crate::{ApiKeyId, Handle};

/// The recipient of a message, as the sender wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Recipient {
    /// The handle of an API key. The server looks up the key when it stores the envelope.
    Handle(Handle),
    /// The id of an API key.
    Key(ApiKeyId),
}

/// The reason why a text cannot be a recipient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RecipientFault {
    /// The text is a DID.
    #[error("a raw DID cannot be a recipient: use an API key or a handle")]
    RawDid,
    /// The text is neither an API key id nor a valid handle.
    #[error("no key or handle can have this name")]
    Unknown,
}

impl Recipient {
    /// Parses the `to` field. Recognises a DID in upper and lower case, with surrounding white space, and with a
    /// percent-encoded colon.
    pub fn parse(text: &str) -> Result<Self, RecipientFault> {
        let bare = text.trim().to_ascii_lowercase();
        if bare.starts_with("did:") || bare.starts_with("did%3a") {
            return Err(RecipientFault::RawDid);
        }
        if let Ok(id) = text.parse() {
            return Ok(Self::Key(id));
        }
        let name = text.strip_prefix('@').unwrap_or(text);
        // A text with an invalid form cannot be the handle of a key, so the recipient cannot exist.
        Handle::parse(name).map(Self::Handle).or(Err(RecipientFault::Unknown))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_dids_are_recognised_in_every_spelling() {
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
    fn keys_and_handles_are_distinguished() {
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
