//! The send path: reads the request, seals the message, and commits envelopes in batches.

pub(crate) mod batch;
pub(crate) mod command;
mod commit_metrics;
mod committer;
pub(crate) mod message;
mod prepare;
pub(crate) mod send_batch;
mod send_message;
mod storage_room;

use std::{io, sync::Arc};

use parking_lot::RwLock;
use sealpost_domain::Refusal;

use self::{
    command::{Command, CommandGroup, Decided, Verdict},
    committer::Committer,
};
use crate::{
    caller::{
        admission::{Limited, Purpose},
        credentials::Caller,
    },
    error::Error,
    sealpost::core::Core,
};

/// Sends messages: seals them, and passes them to the committer, the thread that stores messages in batches.
pub struct Sending {
    core: Arc<Core>,
    /// `None` after the service has stopped.
    committer: RwLock<Option<Committer>>,
}

impl Sending {
    /// Starts the [committer](Committer), the thread that stores messages in batches.
    pub(crate) fn start(core: Arc<Core>) -> Result<Self, io::Error> {
        let committer = RwLock::new(Some(Committer::start(Arc::clone(&core))?));
        Ok(Self { core, committer })
    }

    /// Returns the number of requests that wait for a commit.
    pub fn queue_depth(&self) -> usize {
        self.with_committer(|committer| committer.map_or(0, Committer::depth))
    }

    /// Returns the bytes of sealed messages that wait for a commit or are being committed.
    pub fn queue_bytes(&self) -> usize {
        self.with_committer(|committer| committer.map_or(0, Committer::bytes))
    }

    /// Refuses a request because its body has an error.
    ///
    /// By the API contract, the session, the key and the limits are checked, and the request is counted, before its
    /// body is checked. The committer does this with its next batch, so that a faulty request needs no transaction of
    /// its own. If these checks refuse the request, returns their refusal instead of `refusal`.
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

    /// Returns true if the committer runs.
    pub(crate) fn is_running(&self) -> bool {
        self.with_committer(|committer| committer.is_some_and(Committer::is_alive))
    }

    /// Returns true if the committer runs, or if it was stopped. False means that its thread has crashed.
    pub(crate) fn is_alive(&self) -> bool {
        self.with_committer(|committer| committer.is_none_or(Committer::is_alive))
    }

    /// Stores the queued requests and stops the committer. Blocks the thread until the last batch is stored.
    pub(crate) fn stop(&self) {
        let committer = self.committer.write().take();
        if let Some(committer) = committer {
            committer.stop();
        }
    }

    /// Commits a command in the next batch. If the command is refused because the session has ended or a key is
    /// inactive, removes this session or key from the cache. Caches a refusal by a rate limit per minute or day.
    async fn commit(&self, command: Command) -> Result<Decided, Error> {
        self.commit_group(command.into()).await?.pop().ok_or(Error::Lost)
    }

    /// Commits commands together, like [`commit`](Self::commit). Returns the decisions in the order of the commands.
    async fn commit_group(&self, group: CommandGroup) -> Result<Vec<Decided>, Error> {
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

    /// Calls `work` with the committer, or with `None` after the stop.
    fn with_committer<T>(&self, work: impl FnOnce(Option<&Committer>) -> T) -> T {
        work(self.committer.read().as_ref())
    }
}

impl Decided {
    /// Refuses the request: returns the refusal in this decision if there is one, and otherwise `refusal`.
    fn refused_by<T>(self, refusal: Refusal) -> Limited<T> {
        let refusal = match self.verdict {
            Verdict::Refused(earlier) => earlier,
            Verdict::Admitted | Verdict::Replayed(_) | Verdict::Stale | Verdict::Stored(_) => {
                refusal
            }
        };
        Limited { result: Err(refusal.into()), limits: self.limits }
    }
}
