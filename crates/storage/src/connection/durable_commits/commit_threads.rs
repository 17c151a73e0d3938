//! Runs commits on separate threads, so that a caller can stop waiting after a timeout.
//!
//! The database driver blocks until the server responds, and no timeout of PostgreSQL ends a COMMIT that waits for a
//! standby or a disk.

use std::{
    io,
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread,
    time::Duration,
};

use parking_lot::Mutex;

/// A pool of idle threads for commits. A thread whose work exceeds the timeout ends after the work, instead of going
/// back to the pool. Probe writes and the ending of hung commits use these threads too.
#[derive(Debug, Default)]
pub(crate) struct CommitThreads(Mutex<Vec<Sender<Work>>>);

type Work = Box<dyn FnOnce() + Send>;

/// The reasons why [`CommitThreads::run`] returns no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoResult {
    #[error("no thread could be started")]
    NotRun(#[from] io::Error),
    #[error("the thread of the commit has panicked")]
    Panicked,
    #[error("no response to the commit within {0:?}")]
    TimedOut(Duration),
}

impl CommitThreads {
    /// Runs `work` on another thread, and waits for its result for at most `timeout`. The work continues after the
    /// timeout.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        timeout: Duration,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, NoResult> {
        let (reply, result) = mpsc::sync_channel(1);
        let thread = self.submit(Box::new(move || {
            if reply.send(work()).is_err() {
                tracing::warn!("a commit ended after its deadline");
            }
        }))?;
        match result.recv_timeout(timeout) {
            Ok(value) => {
                self.0.lock().push(thread);
                Ok(value)
            }
            Err(RecvTimeoutError::Timeout) => Err(NoResult::TimedOut(timeout)),
            Err(RecvTimeoutError::Disconnected) => Err(NoResult::Panicked),
        }
    }

    /// Passes the work to an idle thread, or to a new thread if none is idle. Does not wait for the work. The thread
    /// ends after its work when the returned sender is dropped.
    pub(crate) fn submit(&self, work: Work) -> Result<Sender<Work>, io::Error> {
        let idle = self.0.lock().pop();
        let thread = match idle {
            Some(thread) => thread,
            None => start()?,
        };
        match thread.send(work) {
            Ok(()) => Ok(thread),
            Err(_ended) => Err(io::Error::other("the thread has ended")),
        }
    }
}

/// Starts a thread that runs the work it receives. The thread ends when its sender is dropped.
fn start() -> Result<Sender<Work>, io::Error> {
    let (thread, works) = mpsc::channel::<Work>();
    thread::Builder::new().name("commit".to_owned()).spawn(move || {
        for work in works {
            work();
        }
    })?;
    Ok(thread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_runs_on_one_thread_until_work_exceeds_its_deadline() {
        let threads = CommitThreads::default();
        let id = |threads: &CommitThreads| {
            threads.run(Duration::from_mins(1), || thread::current().id()).unwrap()
        };
        let first = id(&threads);
        assert_eq!(id(&threads), first);
        let (release, released) = mpsc::channel::<()>();
        let hung = threads.run(Duration::from_millis(1), move || released.recv().is_ok());
        assert!(matches!(hung, Err(NoResult::TimedOut(_))), "{hung:?}");
        assert_ne!(id(&threads), first);
        drop(release);
    }

    #[test]
    fn a_panic_has_no_result() {
        let threads = CommitThreads::default();
        let work = || std::panic::resume_unwind(Box::new(()));
        let panicked = threads.run::<()>(Duration::from_mins(1), work);
        assert!(matches!(panicked, Err(NoResult::Panicked)), "{panicked:?}");
        assert_eq!(threads.run(Duration::from_mins(1), || 7).unwrap(), 7);
    }
}
