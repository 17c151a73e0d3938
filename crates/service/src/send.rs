//! Send: admit cheaply, seal in parallel, commit together.

use std::sync::{Arc, PoisonError};

use schemars::JsonSchema;
use sealpost_domain::{
    AccountId, ApiKeyId, Encryption, EnvelopeHash, EnvelopeId, EnvelopeMeta, IdempotencyKey,
    KeyStatus, Metadata, Recipient, RecipientFault, Refusal, Session, TokenHash,
};
use sealpost_wallet::WalletError;
use serde::Serialize;

use crate::{
    Body, Credentials, Error, Limited, Sealpost,
    batch::{Command, Decided, Idempotency, Verdict},
    credentials::{Caller, FOREIGN_KEY, NO_SESSION},
    known::{KnownKey, Material},
    prepare::Prepared,
    sealpost::Core,
};

/// What to send to whom.
#[derive(JsonSchema)]
pub struct Send {
    /// An API key or a handle.
    #[schemars(length(min = 1))]
    pub to: String,
    /// The message.
    #[schemars(length(min = 1))]
    pub message: String,
    /// The caller's own name for the request: the same request again stores nothing and gets the same answer.
    #[schemars(skip)]
    pub idempotency_key: Option<IdempotencyKey>,
}

/// The answer to a send: the envelope is stored, and so are its deliveries.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Sent {
    /// The envelope's id.
    pub envelope_id: EnvelopeId,
    /// Over the sealed bytes.
    pub envelope_hash: EnvelopeHash,
    /// Always `delivered`.
    #[schemars(extend("const" = "delivered"))]
    pub status: &'static str,
    /// The caller's key.
    pub sender: ApiKeyId,
    /// The key that `to` resolved to.
    pub recipient: ApiKeyId,
    /// How it is sealed.
    pub encryption: Encryption,
    /// Size and time.
    pub metadata: Metadata,
    /// Whether this is the answer to an earlier, the same request.
    #[serde(skip)]
    pub replayed: bool,
}

impl Sealpost {
    /// Seals the message and stores the envelope with its deliveries. Once this returns `Ok`, a crash loses
    /// nothing of it; a refusal has stored nothing.
    pub async fn send(&self, credentials: &Credentials, body: Body<Send>) -> Limited<Sent> {
        let (caller, sender) = match self.sender(credentials).await {
            Ok(sender) => sender,
            Err(error) => return Limited::unasked(error),
        };
        if let Some(refused) = self.core.known_refusal(&caller) {
            return refused;
        }
        let Some(from) = &sender.material else {
            let refusal = Refusal::KeyInactive { status: KeyStatus::Revoked, field: None };
            return self.count_and_refuse(caller, None, refusal).await;
        };
        match body.and_then(|send| self.check_size(send)) {
            Ok(send) => match Request::read(send, from) {
                Ok(request) => self.seal_and_commit(caller, from, &request).await,
                Err(fault) => Limited::unasked(fault),
            },
            Err(refusal) => self.count_and_refuse(caller, None, refusal).await,
        }
    }

    async fn seal_and_commit(
        &self,
        caller: Caller,
        from: &Material,
        request: &Request,
    ) -> Limited<Sent> {
        for _ in 0..SEAL_TRIES_MAX {
            let Prepared { addressee, outgoing, running } =
                match self.prepare(caller.key, from, request).await {
                    Ok(prepared) => prepared,
                    Err(Error::Refused(refusal)) => {
                        let idempotency = request.idempotency.clone();
                        return self.count_and_refuse(caller, idempotency, refusal).await;
                    }
                    Err(fault) => return Limited::unasked(fault),
                };
            let envelope = Arc::clone(&outgoing.envelope);
            let brought_along = running.filter(|_| outgoing.channel.is_some());
            let idempotency = request.idempotency.clone();
            let command = Command { caller, idempotency, outgoing: Some(outgoing) };
            let Decided { verdict, limits } = match self.commit(command).await {
                Ok(decided) => decided,
                Err(fault) => return Limited::unasked(fault),
            };
            let result = match verdict {
                Verdict::Stored => {
                    if let Some(channel) = brought_along {
                        channel.note_stored();
                    }
                    Ok(Sent::from(&envelope.meta))
                }
                Verdict::Replayed(meta) => Ok(Sent { replayed: true, ..Sent::from(&meta) }),
                Verdict::Refused(refusal) => Err(refusal.into()),
                Verdict::Stale | Verdict::Admitted => {
                    self.core.known.forget_recipient(&addressee.id, addressee.handle.as_ref());
                    continue;
                }
            };
            return Limited { result, limits };
        }
        // The recipient changed under every try; nothing is stored, and trying again is right.
        Limited::unasked(Refusal::Unavailable)
    }

    fn check_size(&self, send: Send) -> Result<Send, Refusal> {
        let limit_bytes = self.core.settings.message_bytes_max;
        if send.message.len() > limit_bytes {
            return Err(Refusal::MessageTooLarge { limit_bytes });
        }
        Ok(send)
    }

    /// The caller and its key, as far as memory and look-ups can tell; the transaction has the last word.
    async fn sender(&self, credentials: &Credentials) -> Result<(Caller, Arc<KnownKey>), Error> {
        let caller = match credentials.read()? {
            Ok(caller) => caller,
            Err(unkeyed) => {
                self.stored_session(unkeyed.session).await?;
                return Err(unkeyed.refusal.into());
            }
        };
        let account = self.session_account(caller.session).await?;
        let Some(key) = self.key(caller.key).await? else {
            self.stored_session(caller.session).await?;
            return Err(Refusal::KeyNotFound { field: None }.into());
        };
        if key.account_id != account {
            return Err(FOREIGN_KEY.into());
        }
        Ok((caller, key))
    }

    /// The account of a session that is live as far as memory can tell: enough where the transaction looks again.
    pub(crate) async fn session_account(&self, token: TokenHash) -> Result<AccountId, Error> {
        match self.core.known.session(&token) {
            Some(session) => self.live_account(Some(session)),
            None => self.stored_session(token).await,
        }
    }

    /// The account of a session that is live in the store: for what is refused without a transaction.
    async fn stored_session(&self, token: TokenHash) -> Result<AccountId, Error> {
        self.live_account(self.find_session(token).await?)
    }

    pub(crate) fn live_account(&self, session: Option<Session>) -> Result<AccountId, Error> {
        let now = self.core.clock.now();
        let live = session.filter(|session| session.is_live(now)).ok_or(NO_SESSION)?;
        Ok(live.account_id)
    }

    pub(crate) async fn key(&self, id: ApiKeyId) -> Result<Option<Arc<KnownKey>>, Error> {
        match self.core.known.key(&id) {
            Some(key) => Ok(Some(key)),
            None => self.look_up(move |core| core.learn_key(&id)).await,
        }
    }

    /// Lets the transaction say whether the caller is admitted at all, and counts the request; only then is what
    /// was wrong with it said. A request that came before and was stored then gets its answer even so.
    async fn count_and_refuse(
        &self,
        caller: Caller,
        idempotency: Option<Idempotency>,
        refusal: Refusal,
    ) -> Limited<Sent> {
        let command = Command { caller, idempotency, outgoing: None };
        match self.commit(command).await {
            Ok(Decided { verdict, limits }) => {
                let result = match verdict {
                    Verdict::Refused(earlier) => Err(earlier.into()),
                    Verdict::Replayed(meta) => Ok(Sent { replayed: true, ..Sent::from(&meta) }),
                    Verdict::Admitted | Verdict::Stale | Verdict::Stored => Err(refusal.into()),
                };
                Limited { result, limits }
            }
            Err(fault) => Limited::unasked(fault),
        }
    }

    async fn commit(&self, command: Command) -> Result<Decided, Error> {
        let caller = command.caller;
        let recipient = command.outgoing.as_ref().map(|out| out.envelope.meta.recipient);
        let outcome = {
            let committer = self.committer.read().unwrap_or_else(PoisonError::into_inner);
            committer.as_ref().ok_or(Refusal::Unavailable)?.submit(command)?
        };
        let decided = outcome.await.map_err(|_lost| Error::Lost)??;
        self.core.channels.heed(&caller.key, recipient.as_ref(), &decided.verdict);
        if let Verdict::Refused(refusal) = &decided.verdict {
            self.core.known.heed(&caller, recipient.as_ref(), refusal);
            if let Some(limits) = decided.limits {
                self.core.remember_refusal(&caller, refusal, limits);
            }
        }
        Ok(decided)
    }

    /// Runs a look-up that blocks where it may.
    pub(crate) async fn look_up<T: std::marker::Send + 'static>(
        &self,
        look: impl FnOnce(&Core) -> Result<T, Error> + std::marker::Send + 'static,
    ) -> Result<T, Error> {
        let core = Arc::clone(&self.core);
        tokio::task::spawn_blocking(move || look(&core)).await.map_err(|_panicked| Error::Lost)?
    }
}

/// A send whose body is sound. Its recipient is judged after its idempotency key, so a fault of it waits here.
pub(crate) struct Request {
    pub(crate) to: Result<Recipient, Refusal>,
    pub(crate) message: String,
    idempotency: Option<Idempotency>,
}

impl Request {
    fn read(send: Send, from: &Material) -> Result<Self, WalletError> {
        let parts = [send.to.as_bytes(), send.message.as_bytes()];
        let idempotency = match send.idempotency_key {
            None => None,
            Some(key) => Some(Idempotency { key, fingerprint: from.identity.fingerprint(&parts)? }),
        };
        let to = Recipient::parse(&send.to).map_err(|fault| match fault {
            RecipientFault::RawDid => Refusal::RawDidRejected,
            RecipientFault::Unknown => UNKNOWN_RECIPIENT,
        });
        Ok(Self { to, message: send.message, idempotency })
    }
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
            replayed: false,
        }
    }
}

pub(crate) const UNKNOWN_RECIPIENT: Refusal = Refusal::KeyNotFound { field: Some("to") };
/// How often a message is sealed anew because its recipient changed in the meantime.
const SEAL_TRIES_MAX: u32 = 3;
