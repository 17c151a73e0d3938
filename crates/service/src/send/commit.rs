//! Passes a command to the committer, the thread that stores messages in batches, and waits for its result.

use sealpost_domain::Refusal;

use super::{
    Sending,
    command::{Command, CommandGroup, Decided, Verdict},
};
use crate::{
    caller::{
        admission::{Limited, Purpose},
        credentials::Caller,
    },
    error::Error,
};

impl Sending {
    /// Commits a command in the next batch. If the session has ended or a key is inactive, the command is refused, and
    /// the cached session or secrets of the key are removed. A refusal by a rate limit per minute or day is cached.
    pub(super) async fn commit(&self, command: Command) -> Result<Decided, Error> {
        self.commit_group(command.into()).await?.pop().ok_or(Error::Lost)
    }

    /// Commits commands together, like [`commit`](Self::commit). Returns the decisions in the order of the commands.
    pub(super) async fn commit_group(&self, group: CommandGroup) -> Result<Vec<Decided>, Error> {
        let recipient = |command: &Command| Some(command.pending.as_ref()?.envelope.meta.recipient);
        let parties = group.commands.iter().map(|command| (command.caller, recipient(command)));
        let parties: Vec<_> = parties.collect();
        let outcome = self.with_committer(|committer| {
            committer.ok_or(Refusal::Unavailable).and_then(|committer| committer.submit(group))
        })?;
        let decided = outcome.await.map_err(|_lost| Error::Lost)??;
        for (decided, (caller, recipient)) in decided.iter().zip(parties) {
            if let Verdict::Refused(refusal) = &decided.verdict {
                self.core.cache_refusal(&caller, recipient.as_ref(), refusal, decided.limits);
            }
        }
        Ok(decided)
    }
}

impl Decided {
    /// Returns the result of a request that is refused with `refusal`. If the decision is already a refusal, returns
    /// that refusal instead.
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

impl Sending {
    /// Rejects a request because its body has an error.
    ///
    /// The API contract requires that the session, the key and the limits of a request are checked, and that the
    /// request is counted, before its body is checked. Therefore the request joins the next batch of the committer,
    /// which runs these checks and counts the request. Returns `refusal` if the request passes the checks, and
    /// otherwise the refusal by the checks. All requests of a batch share a transaction, so a faulty request needs none
    /// of its own.
    pub async fn reject<T>(
        &self,
        caller: &Caller,
        purpose: Purpose,
        refusal: Refusal,
    ) -> Limited<T> {
        if let Some(limited) = self.core.cached_rate_limit(&caller.id) {
            return limited;
        }
        let (idempotency, pending) = (None, None);
        let command = Command { caller: caller.id, purpose, idempotency, pending, refusal: None };
        match self.commit(command).await {
            Ok(decided) => decided.refused_by(refusal),
            Err(fault) => Limited::before_rate_check(fault),
        }
    }
}
