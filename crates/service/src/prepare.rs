//! What a send does before its transaction: find the recipient and seal.

use std::sync::Arc;

use sealpost_domain::{ApiKeyId, EnvelopeId, Handle, KeyStatus, Recipient, Refusal, Suite};
use sealpost_wallet::{EnvelopeDraft, random, seal};

use crate::{
    Error, Sealpost,
    batch::Outgoing,
    channel::Running,
    known::{KnownKey, Material},
    send::{Request, UNKNOWN_RECIPIENT},
};

/// A send that is ready for its transaction.
pub(crate) struct Prepared {
    pub(crate) addressee: Addressee,
    pub(crate) outgoing: Outgoing,
    /// The channel that it is sealed under, where it is.
    pub(crate) running: Option<Arc<Running>>,
}

/// A recipient that exists.
pub(crate) struct Addressee {
    pub(crate) id: ApiKeyId,
    /// The name that it was found by, where that was a handle.
    pub(crate) handle: Option<Handle>,
    key: Arc<KnownKey>,
}

impl Sealpost {
    pub(crate) async fn prepare(
        &self,
        sender: ApiKeyId,
        from: &Material,
        request: &Request,
    ) -> Result<Prepared, Error> {
        let addressee = self.recipient(request.to.as_ref().map_err(Clone::clone)?).await?;
        self.seal(sender, from, addressee, request.message.as_bytes())
    }

    async fn recipient(&self, to: &Recipient) -> Result<Addressee, Error> {
        let (id, handle) = match to {
            Recipient::Key(id) => (*id, None),
            Recipient::Handle(handle) => (self.handle_owner(handle).await?, Some(handle.clone())),
        };
        let key = self.key(id).await?.ok_or(UNKNOWN_RECIPIENT)?;
        Ok(Addressee { id, handle, key })
    }

    /// Whom the handle leads to. A remembered owner that is gone is asked for again: the handle may have moved on.
    async fn handle_owner(&self, handle: &Handle) -> Result<ApiKeyId, Error> {
        let known = &self.core.known;
        let is_alive = |id: &ApiKeyId| known.key(id).is_some_and(|key| key.material.is_some());
        if let Some(id) = known.handle(handle).filter(is_alive) {
            return Ok(id);
        }
        let handle = handle.clone();
        let owner = self.look_up(move |core| Ok(core.learn_handle(&handle)?)).await?;
        Ok(owner.ok_or(UNKNOWN_RECIPIENT)?)
    }

    fn seal(
        &self,
        sender: ApiKeyId,
        from: &Material,
        addressee: Addressee,
        message: &[u8],
    ) -> Result<Prepared, Error> {
        let to = addressee.key.material.as_ref().ok_or(REVOKED_RECIPIENT)?;
        let timestamp = self.core.clock.now();
        let id = EnvelopeId::new(timestamp, random()?);
        let draft = EnvelopeDraft { id, sender, recipient: addressee.id, timestamp };
        let key = &to.sealing_key;
        let (envelope, running) = match self.core.settings.suite {
            Suite::Channel => {
                let sealed = self.core.channels.seal(&draft, message, from, key)?;
                (sealed.0, Some(sealed.1))
            }
            Suite::Classic | Suite::Hybrid => (seal(&draft, message, &from.identity, key)?, None),
        };
        let outgoing = Outgoing {
            envelope: Arc::new(envelope),
            channel: running.as_deref().and_then(Running::unstored),
            handle: addressee.handle.clone(),
            sealing_version: to.sealing_version,
        };
        Ok(Prepared { addressee, outgoing, running })
    }
}

const REVOKED_RECIPIENT: Refusal =
    Refusal::KeyInactive { status: KeyStatus::Revoked, field: Some("to") };
