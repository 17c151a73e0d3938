//! What a channel is bound to: to its pair, its id and its encapsulation, by the key schedule, by the sender's signature
//! and by the associated data of every envelope.

use sealpost_domain::{ApiKeyId, Suite};
use sha2::{Digest, Sha256};

use super::ChannelDraft;
use crate::{EnvelopeDraft, binding::length_prefixed, sealing::VERSION};

/// What both sides agree on. The digest stands for everything that is stored of the channel but its signature.
pub(super) struct Bond {
    pub(super) draft: ChannelDraft,
    pub(super) sealing_version: u32,
    digest: [u8; 32],
}

impl Bond {
    pub(super) fn of(draft: &ChannelDraft, sealing_version: u32, encapsulation: &[u8]) -> Self {
        let parts = [terms(draft, sealing_version), length_prefixed(&[encapsulation])];
        Self { draft: *draft, sealing_version, digest: Sha256::digest(parts.concat()).into() }
    }

    /// What the sender signs when the channel begins.
    pub(super) fn statement(&self) -> Vec<u8> {
        [STATEMENT_PREFIX, &self.digest].concat()
    }

    pub(super) fn is_between(&self, sender: &ApiKeyId, recipient: &ApiKeyId) -> bool {
        (&self.draft.sender, &self.draft.recipient) == (sender, recipient)
    }

    /// That of every envelope, and the digest. The cipher alone would not tie a ciphertext to one key, and so to one
    /// encapsulation; the envelope's signature, which covers this, does.
    pub(super) fn associated_data(&self, draft: &EnvelopeDraft) -> Vec<u8> {
        [draft.associated_data(), length_prefixed(&[&self.digest])].concat()
    }
}

/// Shapes the channel's secret.
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
