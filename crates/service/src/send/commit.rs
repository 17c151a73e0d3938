//! Passes a command to the committer, the thread that stores sends in batches, and waits for its result.

use std::sync::PoisonError;

use sealpost_domain::Refusal;

use super::command::{Command, Decided, Verdict};
use crate::{caller::limited::Limited, error::Error, sealpost::Sealpost};

impl Sealpost {
    /// Commits a command in the next batch. If the session has ended or a key is inactive, the command is refused, and
    /// the cached session or secrets of the key are removed. A refusal by a rate limit per minute or day is cached.
    pub(super) async fn commit(&self, command: Command) -> Result<Decided, Error> {
        let caller = command.caller;
        let recipient = command.pending.as_ref().map(|pending| pending.envelope.meta.recipient);
        let outcome = {
            let committer = self.committer.read().unwrap_or_else(PoisonError::into_inner);
            committer.as_ref().ok_or(Refusal::Unavailable)?.submit(command)?
        };
        let decided = outcome.await.map_err(|_lost| Error::Lost)??;
        if let Verdict::Refused(refusal) = &decided.verdict {
            self.core.cache_refusal(&caller, recipient.as_ref(), refusal, decided.limits);
        }
        Ok(decided)
    }
}

impl Decided {
    /// Replaces the verdict of an admitted request by `refusal`. If the request was refused already, that refusal
    /// stays.
    pub(super) fn refused_by<T>(self, refusal: Refusal) -> Limited<T> {
        let refusal = match self.verdict {
            Verdict::Refused(earlier) => earlier,
            Verdict::Admitted | Verdict::Replayed(_) | Verdict::Stale | Verdict::Stored(_) => {
                refusal
            }
        };
        Limited { result: Err(refusal.into()), limits: self.limits }
    }
}
