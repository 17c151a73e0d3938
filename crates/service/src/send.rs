//! The send path: reads the request, seals the message, and commits envelopes in batches.

pub(crate) mod batch;
pub(crate) mod command;
mod commit;
mod commit_metrics;
mod committer;
pub(crate) mod message;
mod prepare;
pub(crate) mod send_batch;
mod send_message;
mod storage_room;

use std::{io, sync::Arc};

use parking_lot::RwLock;

use self::committer::Committer;
use crate::sealpost::core::Core;

/// Sends messages: seals them, and passes them to the committer, the thread that stores messages in batches.
pub struct Sending {
    core: Arc<Core>,
    /// `None` after the stop.
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

    /// Returns true if the committer runs.
    pub(crate) fn is_running(&self) -> bool {
        self.with_committer(|committer| committer.is_some_and(Committer::is_alive))
    }

    /// Returns true if the committer runs, or if it was stopped.
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

    /// Calls `work` with the committer, or with `None` after the stop.
    fn with_committer<T>(&self, work: impl FnOnce(Option<&Committer>) -> T) -> T {
        work(self.committer.read().as_ref())
    }
}
