//! The steps of a send before its transaction: read the request, find the recipient, seal the message.

use std::{mem, sync::Arc};

use sealpost_domain::{
    ApiKeyId, EnvelopeId, Handle, KeyStatus, Recipient, RecipientFault, Refusal, Suite,
};
use sealpost_wallet::{EnvelopeDraft, WalletError, random, seal};
use zeroize::Zeroizing;

use super::{
    command::{Idempotency, PendingEnvelope},
    message::Send,
};
use crate::{
    cache::{
        cached_key::{CachedKey, KeyMaterial},
        channel_cache::OpenChannel,
    },
    error::Error,
    sealpost::Sealpost,
};

/// The input of a send after its fields are read. An error in the recipient is kept here and returned later, because
/// the idempotency key must be checked first.
pub(super) struct Request {
    to: Result<Recipient, Refusal>,
    message: Zeroizing<String>,
    pub(super) idempotency: Option<Idempotency>,
}

/// A sealed message that is ready to be committed.
pub(super) struct Prepared {
    pub(super) recipient: ResolvedRecipient,
    pub(super) pending: PendingEnvelope,
    /// The channel (shared key encapsulation) that sealed the envelope. `None` for suites without channels.
    pub(super) channel: Option<Arc<OpenChannel>>,
}

/// The recipient of a send, whose key was found.
pub(super) struct ResolvedRecipient {
    pub(super) id: ApiKeyId,
    /// The handle (readable name) by which the request named the recipient. `None` if the request named a key.
    pub(super) handle: Option<Handle>,
    key: Arc<CachedKey>,
}

impl Request {
    pub(super) fn read(mut send: Send, from: &KeyMaterial) -> Result<Self, WalletError> {
        let parts = [send.to.as_bytes(), send.message.as_bytes()];
        let idempotency = match send.idempotency_key.take() {
            None => None,
            Some(key) => Some(Idempotency { key, fingerprint: from.identity.fingerprint(&parts)? }),
        };
        let to = Recipient::parse(&send.to).map_err(|fault| match fault {
            RecipientFault::RawDid => Refusal::RawDidRejected { field: "to" },
            RecipientFault::Unknown => UNKNOWN_RECIPIENT,
        });
        Ok(Self { to, message: Zeroizing::new(mem::take(&mut send.message)), idempotency })
    }
}

impl Sealpost {
    /// Finds the recipient and seals the message.
    pub(super) async fn prepare(
        &self,
        sender: ApiKeyId,
        from: &KeyMaterial,
        request: &Request,
    ) -> Result<Prepared, Error> {
        let recipient = self.resolve(request.to.as_ref().map_err(Clone::clone)?).await?;
        self.seal(sender, from, recipient, request.message.as_bytes())
    }

    async fn resolve(&self, to: &Recipient) -> Result<ResolvedRecipient, Error> {
        let (id, handle) = match to {
            Recipient::Key(id) => (*id, None),
            Recipient::Handle(handle) => (self.handle_owner(handle).await?, Some(handle.clone())),
        };
        let key = self.cached_key(id).await?.ok_or(UNKNOWN_RECIPIENT)?;
        Ok(ResolvedRecipient { id, handle, key })
    }

    /// Returns the key that owns a handle. A cached owner is used only if its key is cached and not revoked, because
    /// the handle of a revoked key may have a new owner.
    async fn handle_owner(&self, handle: &Handle) -> Result<ApiKeyId, Error> {
        let cache = &self.core.cache;
        let is_usable = |id: &ApiKeyId| cache.key(id).is_some_and(|key| key.has_root());
        if let Some(id) = cache.handle(handle).filter(is_usable) {
            return Ok(id);
        }
        let handle = handle.clone();
        let owner = self.block(move |core| Ok(core.load_handle_owner(&handle)?)).await?;
        Ok(owner.ok_or(UNKNOWN_RECIPIENT)?)
    }

    fn seal(
        &self,
        sender: ApiKeyId,
        from: &KeyMaterial,
        recipient: ResolvedRecipient,
        message: &[u8],
    ) -> Result<Prepared, Error> {
        let to = self.core.material(&recipient.key)?.ok_or(REVOKED_RECIPIENT)?;
        let timestamp = self.core.clock.now();
        let id = EnvelopeId::new(timestamp, random()?);
        let draft = EnvelopeDraft { id, sender, recipient: recipient.id, timestamp };
        let key = &to.sealing_key;
        let (envelope, channel) = match self.core.settings.suite {
            Suite::Channel => {
                let channels = &self.core.cache.channels;
                let (envelope, channel) = channels.seal(&draft, message, from, key)?;
                (envelope, Some(channel))
            }
            Suite::Classic | Suite::Hybrid => (seal(&draft, message, &from.identity, key)?, None),
        };
        let pending = PendingEnvelope {
            envelope: Arc::new(envelope),
            unstored_channel: channel.as_deref().and_then(OpenChannel::unstored),
            handle: recipient.handle.clone(),
            sealing_version: to.sealing_version,
        };
        Ok(Prepared { recipient, pending, channel })
    }
}

const UNKNOWN_RECIPIENT: Refusal = Refusal::KeyNotFound { field: Some("to") };
const REVOKED_RECIPIENT: Refusal =
    Refusal::KeyInactive { status: KeyStatus::Revoked, field: Some("to") };
