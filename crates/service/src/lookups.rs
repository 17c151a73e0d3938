//! Look-ups of sessions: those who ask at the same time share a statement. No timer: one turn after another takes all
//! that wait, asks, and looks again, so that a lone look-up waits for nobody. A send that is refused without a
//! transaction asks here, and may ask as often as it likes.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use sealpost_domain::{Refusal, Session, TokenHash, ports::StoreError};
use tokio::sync::oneshot;

use crate::{Error, Sealpost, Settings, sealpost::Core};

/// Who waits to be told of a session.
pub(crate) struct SessionLookups {
    queue: Mutex<Queue>,
    waiting_max: usize,
    together_max: usize,
}

#[derive(Default)]
struct Queue {
    waiting: Vec<Waiting>,
    /// Somebody has the turn, and will take what waits.
    is_served: bool,
}

struct Waiting {
    token: TokenHash,
    reply: oneshot::Sender<Found>,
}

/// `None` once the session was ended, and where there never was one.
type Found = Result<Option<Session>, Error>;

impl Sealpost {
    /// The session of this token as the store has it now: the statement begins after this was called.
    pub(crate) async fn find_session(&self, token: TokenHash) -> Found {
        let (reply, found) = oneshot::channel();
        if self.core.session_lookups.submit(Waiting { token, reply })? {
            let turn = Turn { core: Arc::clone(&self.core), is_over: false };
            // Nobody waits for its end: it answers before, and whom it leaves unanswered it drops.
            drop(tokio::task::spawn_blocking(move || turn.serve()));
        }
        // Nothing was done of it, so trying again is right.
        found.await.map_err(|_lost| Refusal::Unavailable)?
    }
}

impl SessionLookups {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            queue: Mutex::default(),
            waiting_max: settings.session_lookups_waiting_max,
            together_max: settings.session_lookups_together_max,
        }
    }

    /// Puts a look-up into the queue and says whether its caller has the turn. A full queue refuses at once.
    fn submit(&self, waiting: Waiting) -> Result<bool, Refusal> {
        let mut queue = self.lock();
        if queue.waiting.len() >= self.waiting_max {
            return Err(Refusal::Unavailable);
        }
        queue.waiting.push(waiting);
        Ok(!std::mem::replace(&mut queue.is_served, true))
    }

    /// What waits, as much of it as shares a statement. Where nothing does the turn is over.
    fn take(&self) -> Option<Vec<Waiting>> {
        let mut queue = self.lock();
        queue.is_served = !queue.waiting.is_empty();
        let count = queue.waiting.len().min(self.together_max);
        queue.is_served.then(|| queue.waiting.drain(..count).collect())
    }

    /// Leaves nobody waiting.
    fn abandon(&self) {
        let abandoned = std::mem::take(&mut *self.lock());
        drop(abandoned.waiting);
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves the queue for as long as there is one.
struct Turn {
    core: Arc<Core>,
    is_over: bool,
}

impl Turn {
    fn serve(mut self) {
        while let Some(batch) = self.core.session_lookups.take() {
            answer(&self.core, batch);
        }
        self.is_over = true;
    }
}

impl Drop for Turn {
    /// Broken off by a panic, or by a runtime that ends before it began: whoever waits is told so, and the next who asks
    /// has the turn.
    fn drop(&mut self) {
        if !self.is_over {
            self.core.session_lookups.abandon();
        }
    }
}

fn answer(core: &Core, batch: Vec<Waiting>) {
    match core.learn_sessions(batch.iter().map(|waiting| waiting.token).collect()) {
        Ok(sessions) => {
            let sessions: HashMap<_, _> =
                sessions.into_iter().map(|session| (session.token, session)).collect();
            for Waiting { token, reply } in batch {
                tell(reply, Ok(sessions.get(&token).cloned()));
            }
        }
        // A session that is at fault itself must not take those with it that are merely asked about together with it.
        Err(StoreError::Corrupt(_)) if batch.len() > 1 => {
            for waiting in batch {
                answer(core, vec![waiting]);
            }
        }
        Err(error) => fail(batch, &error),
    }
}

fn fail(batch: Vec<Waiting>, error: &StoreError) {
    let away = matches!(error, StoreError::Contended(_) | StoreError::Unavailable(_));
    tracing::error!(
        batch.len = batch.len(),
        error = %error,
        source = ?std::error::Error::source(error).map(ToString::to_string),
        "sessions were not looked up"
    );
    for Waiting { reply, .. } in batch {
        tell(reply, Err(if away { Refusal::Unavailable.into() } else { Error::NotRead }));
    }
}

fn tell(reply: oneshot::Sender<Found>, found: Found) {
    // A caller that hung up does not want its answer any more.
    drop(reply.send(found));
}
