//! The policy of an API key as a recipient: the senders that it accepts, the receipts (states of received envelopes)
//! that senders see, and the visibility of its label.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::receipt::ReceiptPolicy;
use crate::{ApiKeyId, Handle, named_enum::named_enum};

named_enum! {
    /// The senders from which a recipient accepts messages.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema, Deserialize, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum AcceptPolicy {
        /// Accepts the keys on the recipient's allowlist.
        Allowlist = "allowlist",
        /// Accepts every key, except keys on the recipient's blocklist.
        #[default]
        Anyone = "anyone",
        /// Accepts the contacts of the recipient and the keys on the allowlist. Contacts are the keys to which the
        /// recipient has sent a message within the retention time of envelopes.
        Contacts = "contacts",
        /// Accepts no key.
        Nobody = "nobody",
    }
}

/// The policy of one API key as a recipient of messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecipientPolicy {
    /// The senders whose messages the key accepts.
    pub accept: AcceptPolicy,
    /// The part of a receipt (the state of a received envelope) that the key shows to the sender.
    pub receipts: ReceiptPolicy,
    /// Whether other keys can see the label, which is the name that the owner gave the key.
    pub is_listed: bool,
    /// The allowlist: keys that [`AcceptPolicy::Allowlist`] and [`AcceptPolicy::Contacts`] accept.
    pub allowed: BTreeSet<ApiKeyId>,
    /// The blocklist: keys that are refused under every [`AcceptPolicy`].
    pub blocked: BTreeSet<ApiKeyId>,
    /// Whether each send of this key stores the recipient as a contact of this key.
    pub records_contacts: bool,
}

impl Default for RecipientPolicy {
    fn default() -> Self {
        Self {
            accept: AcceptPolicy::default(),
            receipts: ReceiptPolicy::default(),
            is_listed: true,
            allowed: BTreeSet::new(),
            blocked: BTreeSet::new(),
            records_contacts: false,
        }
    }
}

impl RecipientPolicy {
    /// Returns whether a message from `sender` is refused. Always searches both the allowlist and the blocklist, so
    /// that the time taken does not reveal the reason for a refusal.
    pub fn refuses(&self, sender: &ApiKeyId, is_contact: bool) -> bool {
        let (is_blocked, is_allowed) =
            (self.blocked.contains(sender), self.allowed.contains(sender));
        let is_accepted = match self.accept {
            AcceptPolicy::Allowlist => is_allowed,
            AcceptPolicy::Anyone => true,
            AcceptPolicy::Contacts => is_contact || is_allowed,
            AcceptPolicy::Nobody => false,
        };
        is_blocked || !is_accepted
    }
}

/// The recipient of a message, as the sender wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Recipient {
    /// The handle of an API key. The server looks up the key when the message is sent.
    Handle(Handle),
    /// The id of an API key.
    Key(ApiKeyId),
}

/// The reason why a text cannot be a recipient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RecipientRefusal {
    /// The text is a DID.
    #[error("a raw DID cannot be a recipient: use an API key or a handle")]
    RawDid,
    /// The text is neither an API key id nor a valid handle.
    #[error("no key or handle can have this name")]
    Unknown,
}

impl Recipient {
    /// Parses the `to` field. Refuses a DID with [`RecipientRefusal::RawDid`], also in upper case, with surrounding
    /// white space, or with a percent-encoded colon.
    pub fn parse(text: &str) -> Result<Self, RecipientRefusal> {
        let bare = text.trim().to_ascii_lowercase();
        if bare.starts_with("did:") || bare.starts_with("did%3a") {
            return Err(RecipientRefusal::RawDid);
        }
        if let Ok(id) = text.parse() {
            return Ok(Self::Key(id));
        }
        let name = text.strip_prefix('@').unwrap_or(text);
        // A text with an invalid form cannot be the handle of a key, so the recipient cannot exist.
        Handle::parse(name).map(Self::Handle).or(Err(RecipientRefusal::Unknown))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;

    fn key(n: u8) -> ApiKeyId {
        ApiKeyId::new(Timestamp::from_millis(1), [n; 10])
    }

    #[test]
    fn a_block_beats_everything_and_nobody_beats_the_allowlist() {
        let [stranger, allowed, blocked, both] = [1, 2, 3, 4].map(key);
        let policy = |accept| RecipientPolicy {
            accept,
            allowed: BTreeSet::from([allowed, both]),
            blocked: BTreeSet::from([blocked, both]),
            ..RecipientPolicy::default()
        };
        for (accept, accepted) in [
            (AcceptPolicy::Anyone, [true, true, true]),
            (AcceptPolicy::Contacts, [false, true, true]),
            (AcceptPolicy::Allowlist, [false, false, true]),
            (AcceptPolicy::Nobody, [false, false, false]),
        ] {
            let policy = policy(accept);
            let cases = [(stranger, false), (stranger, true), (allowed, false)];
            assert_eq!(cases.map(|(key, is_contact)| !policy.refuses(&key, is_contact)), accepted);
            for key in [blocked, both] {
                assert!(policy.refuses(&key, true), "{accept:?}");
            }
        }
    }

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
            assert_eq!(Recipient::parse(text), Err(RecipientRefusal::RawDid), "{text}");
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
            assert_eq!(Recipient::parse(text), Err(RecipientRefusal::Unknown), "{text}");
        }
    }
}
