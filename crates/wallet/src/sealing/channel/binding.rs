//! Binds a channel to its sender, recipient, id and encapsulation. The binding is part of three inputs: HPKE's key
//! schedule, the sender's signature, and the associated data of every envelope.

use sealpost_domain::{ApiKeyId, ChannelId, Suite};
use sha2::{Digest, Sha256};

use crate::{
    part_list::length_prefixed,
    sealing::envelope::{EnvelopeDraft, VERSION},
};

/// The id, sender and recipient of a new channel. The sender's signature of the channel covers these fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelDraft {
    /// Id of the channel.
    pub id: ChannelId,
    /// Id of the API key that sends the envelopes of the channel.
    pub sender: ApiKeyId,
    /// Id of the API key that can open the envelopes of the channel.
    pub recipient: ApiKeyId,
}

/// The parameters of a channel that sender and recipient must agree on, and their digest. The digest covers all stored
/// fields of the channel except the signature.
pub(super) struct ChannelBinding {
    pub(super) draft: ChannelDraft,
    pub(super) sealing_version: u32,
    digest: [u8; 32],
}

impl ChannelBinding {
    pub(super) fn new(draft: &ChannelDraft, sealing_version: u32, encapsulation: &[u8]) -> Self {
        let parts = [terms(draft, sealing_version), length_prefixed(&[encapsulation])];
        Self { draft: *draft, sealing_version, digest: Sha256::digest(parts.concat()).into() }
    }

    /// Returns the bytes that the sender signs when the channel begins.
    pub(super) fn statement(&self) -> Vec<u8> {
        [STATEMENT_PREFIX, &self.digest].concat()
    }

    pub(super) fn is_between(&self, sender: &ApiKeyId, recipient: &ApiKeyId) -> bool {
        (&self.draft.sender, &self.draft.recipient) == (sender, recipient)
    }

    /// Returns the associated data of an envelope: the fields of its draft, then the channel's digest.
    ///
    /// The envelope's signature covers the associated data, and so the encapsulation in the digest. Therefore the
    /// signature binds the envelope to one encapsulation. AES-GCM alone does not: one ciphertext can decrypt under
    /// several keys.
    pub(super) fn associated_data(&self, draft: &EnvelopeDraft) -> Vec<u8> {
        [draft.associated_data(), length_prefixed(&[&self.digest])].concat()
    }
}

/// Returns the `info` input of HPKE's key schedule (RFC 9180, section 5.1).
pub(super) fn info(draft: &ChannelDraft, sealing_version: u32) -> Vec<u8> {
    let suite = [VERSION, Suite::Channel.byte()];
    [INFO_PREFIX, &suite, &terms(draft, sealing_version)].concat()
}

fn terms(draft: &ChannelDraft, sealing_version: u32) -> Vec<u8> {
    length_prefixed(&[
        draft.id.as_bytes(),
        draft.sender.as_bytes(),
        draft.recipient.as_bytes(),
        &sealing_version.to_be_bytes(),
    ])
}

const INFO_PREFIX: &[u8] = b"sealpost/v1/channel";
const STATEMENT_PREFIX: &[u8] = b"sealpost/v1/channel-signature";
