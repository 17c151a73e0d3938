//! Send: admit cheaply, seal in parallel, commit together.

use std::sync::{Arc, PoisonError};

use sealpost_domain::{
    AccountId, ApiKeyId, Encryption, EnvelopeHash, EnvelopeId, EnvelopeMeta, Handle, KeyStatus,
    Metadata, Recipient, RecipientFault, Refusal, TokenHash,
};
use sealpost_wallet::{Draft, random, seal};
use serde::Serialize;

use crate::{
    Body, Credentials, Error, Sealpost,
    batch::{Command, Outgoing, Verdict},
    credentials::{Caller, FOREIGN_KEY, NO_SESSION},
    known::{KnownKey, Material},
    sealpost::Core,
};

/// What to send to whom.
pub struct Send {
    /// An API key or a handle.
    pub to: String,
    /// The message.
    pub message: String,
}

/// The answer to a send: the envelope is stored, and so are its deliveries.
#[derive(Debug, Serialize)]
pub struct Sent {
    /// The envelope's id.
    pub envelope_id: EnvelopeId,
    /// Over the sealed bytes.
    pub envelope_hash: EnvelopeHash,
    /// Always `delivered`.
    pub status: &'static str,
    /// The caller's key.
    pub sender: ApiKeyId,
    /// The key that `to` resolved to.
    pub recipient: ApiKeyId,
    /// How it is sealed.
    pub encryption: Encryption,
    /// Size and time.
    pub metadata: Metadata,
}

impl Sealpost {
    /// Seals the message and stores the envelope with its deliveries. Once this returns `Ok`, a crash loses
    /// nothing of it; a refusal has stored nothing.
    pub async fn send(&self, credentials: &Credentials, body: Body<Send>) -> Result<Sent, Error> {
        let (caller, sender) = self.sender(credentials).await?;
        let Some(from) = &sender.material else {
            let refusal = Refusal::KeyInactive { status: KeyStatus::Revoked, field: None };
            return Err(self.count_and_refuse(caller, refusal).await);
        };
        let sent = match body.and_then(|send| self.read(send)) {
            Ok((to, message)) => self.seal_and_commit(caller, from, &to, &message).await,
            Err(refusal) => Err(Undone::Unasked(refusal.into())),
        };
        match sent {
            Ok(sent) => Ok(sent),
            Err(Undone::Asked(error)) => Err(error),
            Err(Undone::Unasked(Error::Refused(refusal))) => {
                Err(self.count_and_refuse(caller, refusal).await)
            }
            Err(Undone::Unasked(fault)) => Err(fault),
        }
    }

    async fn seal_and_commit(
        &self,
        caller: Caller,
        from: &Material,
        to: &Recipient,
        message: &str,
    ) -> Result<Sent, Undone> {
        for _ in 0..SEAL_TRIES_MAX {
            let addressee = self.recipient(to).await.map_err(Undone::Unasked)?;
            let outgoing =
                self.seal(caller.key, from, &addressee, message).map_err(Undone::Unasked)?;
            let envelope = Arc::clone(&outgoing.envelope);
            let command = Command { caller, outgoing: Some(outgoing) };
            match self.commit(command).await.map_err(Undone::Asked)? {
                Verdict::Stored => return Ok(Sent::from(&envelope.meta)),
                Verdict::Refused(refusal) => return Err(Undone::Asked(refusal.into())),
                Verdict::Stale | Verdict::Admitted => {
                    self.core.known.forget_recipient(&addressee.id, addressee.handle.as_ref());
                }
            }
        }
        // The recipient changed under every try; nothing is stored, and trying again is right.
        Err(Undone::Asked(Refusal::Unavailable.into()))
    }

    fn read(&self, send: Send) -> Result<(Recipient, String), Refusal> {
        let limit_bytes = self.core.settings.message_bytes_max;
        if send.message.len() > limit_bytes {
            return Err(Refusal::MessageTooLarge { limit_bytes });
        }
        match Recipient::parse(&send.to) {
            Ok(to) => Ok((to, send.message)),
            Err(RecipientFault::RawDid) => Err(Refusal::RawDidRejected),
            Err(RecipientFault::Unknown) => Err(UNKNOWN_RECIPIENT),
        }
    }

    /// The caller and its key, as far as memory and look-ups can tell; the transaction has the last word.
    async fn sender(&self, credentials: &Credentials) -> Result<(Caller, Arc<KnownKey>), Error> {
        let caller = match credentials.read()? {
            Ok(caller) => caller,
            Err(unkeyed) => {
                self.session_account(unkeyed.session).await?;
                return Err(unkeyed.refusal.into());
            }
        };
        let account = self.session_account(caller.session).await?;
        let key = self.key(caller.key).await?;
        let key = key.ok_or(Refusal::KeyNotFound { field: None })?;
        if key.account_id != account {
            return Err(FOREIGN_KEY.into());
        }
        Ok((caller, key))
    }

    /// The account of a live session.
    async fn session_account(&self, token: TokenHash) -> Result<AccountId, Error> {
        let session = match self.core.known.session(&token) {
            Some(session) => Some(session),
            None => self.look_up(move |core| core.learn_session(&token)).await?,
        };
        let now = self.core.clock.now();
        let live = session.filter(|session| session.is_live(now)).ok_or(NO_SESSION)?;
        Ok(live.account_id)
    }

    async fn key(&self, id: ApiKeyId) -> Result<Option<Arc<KnownKey>>, Error> {
        match self.core.known.key(&id) {
            Some(key) => Ok(Some(key)),
            None => self.look_up(move |core| core.learn_key(&id)).await,
        }
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
        addressee: &Addressee,
        message: &str,
    ) -> Result<Outgoing, Error> {
        let to = addressee.key.material.as_ref().ok_or(REVOKED_RECIPIENT)?;
        let timestamp = self.core.clock.now();
        let id = EnvelopeId::new(timestamp, random()?);
        let draft = Draft { id, sender, recipient: addressee.id, timestamp };
        let envelope = seal(&draft, message.as_bytes(), &from.identity, &to.sealing_key)?;
        Ok(Outgoing {
            envelope: Arc::new(envelope),
            handle: addressee.handle.clone(),
            sealing_version: to.sealing_version,
        })
    }

    /// Lets the transaction say whether the caller is admitted at all, and counts the request; only then is what
    /// was wrong with it said.
    async fn count_and_refuse(&self, caller: Caller, refusal: Refusal) -> Error {
        match self.commit(Command { caller, outgoing: None }).await {
            Ok(Verdict::Refused(earlier)) => earlier.into(),
            Ok(Verdict::Admitted | Verdict::Stale | Verdict::Stored) => refusal.into(),
            Err(fault) => fault,
        }
    }

    async fn commit(&self, command: Command) -> Result<Verdict, Error> {
        let outcome = {
            let committer = self.committer.read().unwrap_or_else(PoisonError::into_inner);
            committer.as_ref().ok_or(Refusal::Unavailable)?.submit(command)?
        };
        outcome.await.map_err(|_lost| Error::Lost)?
    }

    /// Runs a look-up that blocks where it may.
    async fn look_up<T: std::marker::Send + 'static>(
        &self,
        look: impl FnOnce(&Core) -> Result<T, Error> + std::marker::Send + 'static,
    ) -> Result<T, Error> {
        let core = Arc::clone(&self.core);
        tokio::task::spawn_blocking(move || look(&core)).await.map_err(|_panicked| Error::Lost)?
    }
}

/// Why a send came to nothing, and whether the transaction has seen it: what it has not seen is still to be
/// counted.
enum Undone {
    Asked(Error),
    Unasked(Error),
}

/// A recipient that exists.
struct Addressee {
    id: ApiKeyId,
    /// The name that it was found by, where that was a handle.
    handle: Option<Handle>,
    key: Arc<KnownKey>,
}

impl From<&EnvelopeMeta> for Sent {
    fn from(meta: &EnvelopeMeta) -> Self {
        Self {
            envelope_id: meta.id,
            envelope_hash: meta.hash,
            status: "delivered",
            sender: meta.sender,
            recipient: meta.recipient,
            encryption: meta.encryption(),
            metadata: meta.metadata(),
        }
    }
}

const UNKNOWN_RECIPIENT: Refusal = Refusal::KeyNotFound { field: Some("to") };
const REVOKED_RECIPIENT: Refusal =
    Refusal::KeyInactive { status: KeyStatus::Revoked, field: Some("to") };

/// How often a message is sealed anew because its recipient changed in the meantime.
const SEAL_TRIES_MAX: u32 = 3;
