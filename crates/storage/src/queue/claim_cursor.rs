//! The webhook at which the next claim continues its search.

use std::sync::{Mutex, PoisonError};

/// The last webhook that claims have visited in the order of ids.
///
/// A claim that is full of a long queue searches for webhooks with shorter queues, but visits only a limited number.
/// The next claim continues after the last visited webhook. Otherwise webhooks with high ids would wait as long as the
/// long queue lasts. All handles of a database share the cursor.
#[derive(Debug, Default)]
pub(crate) struct ClaimCursor(Mutex<String>);

impl ClaimCursor {
    pub(crate) fn position(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn move_to(&self, webhook_id: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = webhook_id;
    }
}
