//! The steps of a send before its transaction: read the request, find the recipient, seal the message.

use std::{collections::HashMap, mem, sync::Arc};

use sealpost_domain::{
    ApiKeyId, EnvelopeId, Handle, KeyStatus, MessageContext, MessageType, Recipient,
    RecipientRefusal, Refusal, Suite, ThreadId, Timestamp, TraceParent,
};
use sealpost_wallet::{EnvelopeDraft, WalletError, random, seal};
use zeroize::Zeroizing;

use super::{
    Sending,
    command::{Idempotency, PendingEnvelope},
    message::{NewMessage, SendContext},
};
use crate::{
    cache::cached_key::{CachedKey, KeyMaterial},
    error::Error,
    sealpost::core::Core,
    transparency::proof::envelope_leaf,
};

/// A send whose fields are parsed. The error of an invalid recipient is kept in `to` and reported later, because the
/// idempotency key must be checked first.
pub(super) struct Request {
    to: Result<Recipient, Refusal>,
    message: Zeroizing<String>,
    context: SendContext,
    trace: Option<TraceParent>,
    pub(super) idempotency: Option<Idempotency>,
}

/// The envelopes that messages reply to, each with its thread.
pub(super) type Threads = HashMap<EnvelopeId, Option<ThreadId>>;

impl NewMessage {
    /// Returns the parts of the message that the fingerprint covers. A repeated request must have the same parts. A
    /// message without a context has the same parts as in older versions, so that stored fingerprints still match.
    fn parts(&self) -> Vec<&[u8]> {
        let SendContext { thread, reply_to, message_type } = &self.context;
        let context = [
            ("thread", thread.as_ref().map(ThreadId::as_str)),
            ("reply_to", reply_to.as_deref()),
            ("type", message_type.as_ref().map(MessageType::as_str)),
        ];
        let mut parts = vec![self.to.as_bytes(), self.message.as_bytes()];
        for (name, value) in context {
            parts.extend(value.into_iter().flat_map(|value| [name.as_bytes(), value.as_bytes()]));
        }
        parts
    }
}

impl Request {
    pub(super) fn read(mut send: NewMessage, from: &KeyMaterial) -> Result<Self, WalletError> {
        let idempotency = match send.idempotency_key.take() {
            None => None,
            Some(key) => {
                let fingerprint = from.identity.fingerprint(&send.parts())?;
                Some(Idempotency { key, fingerprint })
            }
        };
        let to = Recipient::parse(&send.to).map_err(|fault| match fault {
            RecipientRefusal::RawDid => Refusal::RawDidRejected { field: "to" },
            RecipientRefusal::Unknown => Refusal::for_id(&send.to, UNKNOWN_RECIPIENT),
        });
        let message = Zeroizing::new(mem::take(&mut send.message));
        let context = mem::take(&mut send.context);
        Ok(Self { to, message, context, trace: send.trace, idempotency })
    }

    /// Returns the id of the envelope that the message replies to. `None` if the message is no reply, or if no envelope
    /// can have the id.
    fn reply_to(&self) -> Option<EnvelopeId> {
        self.context.reply_to.as_ref()?.parse().ok()
    }

    /// Returns the context of the message. `threads` contains the envelopes that the message may reply to. Refuses a
    /// reply to any other envelope.
    fn context(&self, threads: &Threads) -> Result<MessageContext, Refusal> {
        let SendContext { thread, reply_to, message_type } = self.context.clone();
        let reply_to = match reply_to {
            None => None,
            Some(text) => {
                let unknown = || Refusal::for_id(&text, Refusal::ReplyNotFound);
                Some(self.reply_to().ok_or_else(unknown)?)
            }
        };
        let inherited = match &reply_to {
            None => None,
            Some(id) => threads.get(id).ok_or(Refusal::ReplyNotFound)?.clone(),
        };
        Ok(MessageContext { thread: thread.or(inherited), reply_to, message_type })
    }
}

impl Sending {
    /// Finds the recipient and seals the message. Refuses an unknown or revoked recipient, and a reply to an envelope
    /// that the sender neither sent nor received.
    pub(super) async fn prepare(
        &self,
        sender: ApiKeyId,
        from: &KeyMaterial,
        request: &Request,
    ) -> Result<PendingEnvelope, Error> {
        let threads = self.threads(sender, [request]).await?;
        let timestamp = self.core.clock.now();
        let stamp = (EnvelopeId::new(timestamp, random()?), timestamp);
        self.prepare_at((sender, from), request, &threads, stamp).await
    }

    /// Like [`prepare`](Self::prepare), but the calling code gives the id and the time of the envelope, and the
    /// envelopes that the message may reply to.
    pub(super) async fn prepare_at(
        &self,
        (sender, from): (ApiKeyId, &KeyMaterial),
        request: &Request,
        threads: &Threads,
        (id, timestamp): (EnvelopeId, Timestamp),
    ) -> Result<PendingEnvelope, Error> {
        let to = request.to.as_ref().map_err(Clone::clone)?;
        let (recipient, handle) = self.resolve(to).await?;
        let context = request.context(threads)?;
        let draft = EnvelopeDraft { id, sender, recipient: recipient.id, timestamp, context };
        let key = &self.core.material(&recipient)?.ok_or(REVOKED_RECIPIENT)?.sealing_key;
        let message = request.message.as_bytes();
        let (mut envelope, channel) = match self.core.settings.suite {
            Suite::Channel => {
                let channels = &self.core.cache.channels;
                let (envelope, channel) = channels.seal(&draft, message, from, key)?;
                (envelope, Some(channel.row()))
            }
            Suite::Classic | Suite::Hybrid => (seal(&draft, message, &from.identity, key)?, None),
        };
        envelope.meta.trace = request.trace;
        Ok(PendingEnvelope {
            leaf: envelope_leaf(&envelope.meta),
            envelope: Arc::new(envelope),
            channel,
            handle,
            sealing_version: key.version(),
        })
    }

    /// Returns the envelopes that the messages reply to, with their threads. Omits envelopes that have expired, and
    /// those that `sender` neither sent nor received. If no message is a reply, reads nothing.
    pub(super) async fn threads(
        &self,
        sender: ApiKeyId,
        requests: impl IntoIterator<Item = &Request>,
    ) -> Result<Threads, Error> {
        let oldest = self.core.kept_since(self.core.clock.now());
        let replies = requests.into_iter().filter_map(Request::reply_to);
        let ids: Vec<_> = replies.filter(|id| id.timestamp() >= oldest).collect();
        if ids.is_empty() {
            return Ok(Threads::new());
        }
        let find = move |core: &Arc<Core>| {
            Ok(core.store.read(|reader| reader.find_threads(&ids, &sender))?)
        };
        self.core.block(&self.core, find).await
    }

    /// Returns the key of the recipient, and the handle by which the request named it. The handle is `None` if the
    /// request named the key.
    async fn resolve(&self, to: &Recipient) -> Result<(Arc<CachedKey>, Option<Handle>), Error> {
        let (id, handle) = match to {
            Recipient::Key(id) => (*id, None),
            Recipient::Handle(handle) => (self.handle_owner(handle).await?, Some(handle.clone())),
        };
        let key = self.core.cached_key(id).await?.ok_or(UNKNOWN_RECIPIENT)?;
        Ok((key, handle))
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
        let load = move |core: &Arc<Core>| Ok(core.load_handle_owner(&handle)?);
        let owner = self.core.block(&self.core, load).await?;
        Ok(owner.ok_or(UNKNOWN_RECIPIENT)?)
    }
}

const UNKNOWN_RECIPIENT: Refusal = Refusal::KeyNotFound { field: Some("to") };
const REVOKED_RECIPIENT: Refusal =
    Refusal::KeyInactive { status: KeyStatus::Revoked, field: Some("to") };
