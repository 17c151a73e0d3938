//! Sends a message. Concurrent requests seal in parallel, and share commits in batches.

use sealpost_domain::{Code, KeyStatus, Refusal};

use super::{
    Sending,
    command::{Command, Decided, Idempotency, PendingEnvelope, Verdict},
    message::{NewMessage, Sent},
    prepare::Request,
};
use crate::{
    cache::key_cache::CacheEvent,
    caller::{
        admission::{Limited, Purpose},
        credentials::{Caller, CallerId},
    },
    error::Error,
};

impl Sending {
    /// Seals a message, and stores the envelope with its deliveries. `Ok` means that the envelope and the deliveries
    /// survive a crash. A refused request has stored nothing.
    pub async fn send(&self, caller: &Caller, send: NewMessage) -> Limited<Sent> {
        self.try_send(caller, send).await.unwrap_or_else(Limited::before_rate_check)
    }

    /// Seals and commits a message. Repeats both steps if the recipient has changed in between. An `Err` stands for an
    /// error before the rate limits were checked.
    async fn try_send(&self, caller: &Caller, send: NewMessage) -> Result<Limited<Sent>, Error> {
        if let Some(limited) = self.core.cached_rate_limit(&caller.id) {
            return Ok(limited);
        }
        let Some(from) = self.core.material(&caller.key)? else {
            return self.refuse(caller.id, None, REVOKED_SENDER).await;
        };
        let limit_bytes = self.core.settings.message_bytes_max;
        if send.message.len() > limit_bytes {
            return self.refuse(caller.id, None, Refusal::MessageTooLarge { limit_bytes }).await;
        }
        let request = Request::read(send, from)?;
        for _ in 0..SEAL_TRIES_MAX {
            let pending = match self.prepare(caller.id.key, from, &request).await {
                Err(Error::Refused(refusal)) if refusal.code() != Code::ServiceUnavailable => {
                    return self.refuse(caller.id, request.idempotency.clone(), refusal).await;
                }
                prepared => prepared?,
            };
            if let Some(limited) = self.commit_sealed(caller.id, &request, pending).await? {
                return Ok(limited);
            }
        }
        // The recipient has changed during every try. Nothing is stored, so the caller can retry.
        Err(Refusal::Unavailable.into())
    }

    /// Commits a sealed message. Returns `None` if the cached data of the recipient was out of date, so that the
    /// message must be sealed again.
    async fn commit_sealed(
        &self,
        caller: CallerId,
        request: &Request,
        pending: PendingEnvelope,
    ) -> Result<Option<Limited<Sent>>, Error> {
        let command = Command {
            caller,
            purpose: Purpose::Send,
            idempotency: request.idempotency.clone(),
            pending: Some(pending.clone()),
            refusal: None,
        };
        let Decided { verdict, limits, .. } = self.commit(command).await?;
        let result = match verdict {
            Verdict::Stored(state) => Ok(Sent::new(&pending.envelope.meta, state)),
            Verdict::Replayed(earlier) => {
                Sent::replayed(&earlier).ok_or_else(|| Refusal::IdempotencyKeyReused.into())
            }
            Verdict::Refused(refusal) => Err(refusal.into()),
            Verdict::Stale | Verdict::Admitted => {
                self.invalidate_recipient(&pending);
                return Ok(None);
            }
        };
        Ok(Some(Limited { result, limits }))
    }

    /// Removes outdated data of a recipient from the cache.
    pub(super) fn invalidate_recipient(&self, pending: &PendingEnvelope) {
        let (key, handle) = (&pending.envelope.meta.recipient, pending.handle.as_ref());
        self.core.cache.invalidate_on(CacheEvent::RecipientStale { key, handle });
    }

    /// Refuses a request with `refusal`, but only after the checks of session, key and limits, which also count the
    /// request. If one of these checks refuses the request, returns that refusal instead. A repeated request with an
    /// idempotency key gets its first response.
    async fn refuse(
        &self,
        caller: CallerId,
        idempotency: Option<Idempotency>,
        refusal: Refusal,
    ) -> Result<Limited<Sent>, Error> {
        let command =
            Command { caller, purpose: Purpose::Send, idempotency, pending: None, refusal: None };
        let decided = self.commit(command).await?;
        if let Verdict::Replayed(earlier) = &decided.verdict {
            let result = Sent::replayed(earlier).ok_or(Refusal::IdempotencyKeyReused.into());
            return Ok(Limited { result, limits: decided.limits });
        }
        Ok(decided.refused_by(refusal))
    }
}

pub(super) const REVOKED_SENDER: Refusal =
    Refusal::KeyInactive { status: KeyStatus::Revoked, field: None };
/// Maximum number of times that a message is sealed while its recipient keeps changing.
pub(super) const SEAL_TRIES_MAX: u32 = 3;
