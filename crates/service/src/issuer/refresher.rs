//! A thread that loads new issuer keys (the service's own signing keys) every two seconds. Housekeeping does not do
//! this, because a housekeeping task can take longer than the delay after which a new key signs.

use std::{
    error::Error as _,
    io,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{RecvTimeoutError, Sender, channel},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use super::signer::Issuer;

/// The thread that loads new issuer keys. It runs until it is stopped or dropped.
pub struct Refresher(Mutex<Option<(Sender<()>, JoinHandle<()>)>>);

impl Refresher {
    /// Starts the thread.
    pub fn start(issuer: Arc<Issuer>) -> io::Result<Self> {
        let (stop, stopped) = channel();
        let thread = thread::Builder::new().name("issuer".to_owned()).spawn(move || {
            let mut has_failed = false;
            while stopped.recv_timeout(REFRESH_EVERY) == Err(RecvTimeoutError::Timeout) {
                has_failed = refresh(&issuer, has_failed);
            }
        })?;
        Ok(Self(Mutex::new(Some((stop, thread)))))
    }

    /// Stops the thread and waits for its end.
    pub fn stop(&self) {
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((stop, thread)) = running {
            drop(stop);
            if thread.join().is_err() {
                tracing::error!("the thread that loads issuer keys panicked");
            }
        }
    }
}

/// Loads new keys. Returns true if this failed. Logs only the first of consecutive failures.
fn refresh(issuer: &Issuer, had_failed: bool) -> bool {
    let Err(error) = issuer.refresh() else { return false };
    if !had_failed {
        let cause = error.source();
        tracing::warn!(%error, cause, "new issuer keys cannot be loaded; the loaded ones stay in use");
    }
    true
}

const REFRESH_EVERY: Duration = Duration::from_secs(2);
