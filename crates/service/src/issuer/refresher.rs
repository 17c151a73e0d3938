//! Looks for new issuer keys every other second. A thread of its own: housekeeping may be busy for longer than a new key
//! waits before it signs.

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

use super::Issuer;

/// Keeps an issuer's knowledge fresh until it is stopped or dropped.
pub struct Refresher(Mutex<Option<(Sender<()>, JoinHandle<()>)>>);

impl Refresher {
    /// Begins.
    pub fn start(issuer: Arc<Issuer>) -> io::Result<Self> {
        let (stop, stopped) = channel();
        let thread = thread::Builder::new().name("issuer".to_owned()).spawn(move || {
            let mut is_stale = false;
            while stopped.recv_timeout(REFRESH_EVERY) == Err(RecvTimeoutError::Timeout) {
                is_stale = look(&issuer, is_stale);
            }
        })?;
        Ok(Self(Mutex::new(Some((stop, thread)))))
    }

    /// Ends it.
    pub fn stop(&self) {
        let running = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some((stop, thread)) = running {
            drop(stop);
            if thread.join().is_err() {
                tracing::error!("the look for issuer keys had panicked");
            }
        }
    }
}

/// Whether it failed; that is logged when it begins, not at every look.
fn look(issuer: &Issuer, was_stale: bool) -> bool {
    let Err(error) = issuer.refresh() else { return false };
    if !was_stale {
        let cause = error.source();
        tracing::warn!(%error, cause, "issuer keys cannot be looked for; the known ones go on");
    }
    true
}

const REFRESH_EVERY: Duration = Duration::from_secs(2);
