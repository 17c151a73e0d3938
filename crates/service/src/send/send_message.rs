//! Sends a message. Concurrent requests seal in parallel, and share commits in batches.

use sealpost_domain::{Code, KeyStatus, Refusal};

use super::{
    Sending,
    command::{Command, Decided, Idempotency, Verdict},
    message::{NewMessage, Sent},
    prepare::{Prepared, Request},
};
use crate::{
    cache::{cached_key::KeyMaterial, key_cache::CacheEvent},
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
        if let Some(limited) = self.core.cached_rate_limit(&caller.id) {
            return limited;
        }
        let from = match self.core.material(&caller.key) {
            Ok(Some(from)) => from,
            Ok(None) => return self.refuse(caller.id, None, REVOKED_SENDER).await,
            Err(fault) => return Limited::before_rate_check(fault),
        };
        let limit_bytes = self.core.settings.message_bytes_max;
        if send.message.len() > limit_bytes {
            let refusal = Refusal::MessageTooLarge { limit_bytes };
            return self.refuse(caller.id, None, refusal).await;
        }
        match Request::read(send, from) {
            Ok(request) => self.seal_and_commit(caller.id, from, &request).await,
            Err(fault) => Limited::before_rate_check(fault),
        }
    }

    /// Seals and commits a message. Repeats both steps if the recipient has changed in between.
    async fn seal_and_commit(
        &self,
        caller: CallerId,
        from: &KeyMaterial,
        request: &Request,
    ) -> Limited<Sent> {
        for _ in 0..SEAL_TRIES_MAX {
            let prepared = match self.prepare(caller.key, from, request).await {
                Ok(prepared) => prepared,
                Err(Error::Refused(refusal)) if refusal.code() != Code::ServiceUnavailable => {
                    return self.refuse(caller, request.idempotency.clone(), refusal).await;
                }
                Err(fault) => return Limited::before_rate_check(fault),
            };
            if let Some(limited) = self.commit_prepared(caller, request, &prepared).await {
                return limited;
            }
        }
        // The recipient has changed during every try. Nothing is stored, so the caller can retry.
        Limited::before_rate_check(Refusal::Unavailable)
    }

    /// Commits a sealed message. Returns `None` if the cached data of the recipient was out of date, so that the
    /// message must be sealed again.
    async fn commit_prepared(
        &self,
        caller: CallerId,
        request: &Request,
        prepared: &Prepared,
    ) -> Option<Limited<Sent>> {
        let Prepared { recipient, pending } = prepared;
        let command = Command {
            caller,
            purpose: Purpose::Send,
            idempotency: request.idempotency.clone(),
            pending: Some(pending.clone()),
            refusal: None,
        };
        let Decided { verdict, limits, .. } = match self.commit(command).await {
            Ok(decided) => decided,
            Err(fault) => return Some(Limited::before_rate_check(fault)),
        };
        let result = match verdict {
            Verdict::Stored(state) => Ok(Sent::new(&pending.envelope.meta, state)),
            Verdict::Replayed(earlier) => {
                Sent::replayed(&earlier).ok_or_else(|| Refusal::IdempotencyKeyReused.into())
            }
            Verdict::Refused(refusal) => Err(refusal.into()),
            Verdict::Stale | Verdict::Admitted => {
                let (key, handle) = (&recipient.id, recipient.handle.as_ref());
                self.core.cache.invalidate_on(CacheEvent::RecipientStale { key, handle });
                return None;
            }
        };
        Some(Limited { result, limits })
    }

    /// Refuses a request with `refusal` after the checks of session, key and limits, so that the request counts against
    /// the rate limits.
    ///
    /// If one of these checks refuses the request, that refusal is returned instead. A repeated request with an
    /// idempotency key gets its first response.
    async fn refuse(
        &self,
        caller: CallerId,
        idempotency: Option<Idempotency>,
        refusal: Refusal,
    ) -> Limited<Sent> {
        let command =
            Command { caller, purpose: Purpose::Send, idempotency, pending: None, refusal: None };
        match self.commit(command).await {
            Ok(Decided { verdict: Verdict::Replayed(earlier), limits, .. }) => {
                let sent = Sent::replayed(&earlier).ok_or(Refusal::IdempotencyKeyReused.into());
                Limited { result: sent, limits }
            }
            Ok(decided) => decided.refused_by(refusal),
            Err(fault) => Limited::before_rate_check(fault),
        }
    }
}

pub(super) const REVOKED_SENDER: Refusal =
    Refusal::KeyInactive { status: KeyStatus::Revoked, field: None };
/// Maximum number of times that a message is sealed while its recipient keeps changing.
pub(super) const SEAL_TRIES_MAX: u32 = 3;
