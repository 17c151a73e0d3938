//! The position at which the next claim continues its search for webhooks. A claim leases due deliveries.

use std::sync::{Mutex, PoisonError};

/// The last webhook that claims have visited in the order of ids.
///
/// If deliveries to one webhook would fill a claim, the claim searches for webhooks with shorter queues. A claim visits
/// only a limited number of webhooks, and the next claim continues after the last of them. Otherwise, webhooks with
/// high ids would wait until the long queue is empty. All clones of a database share the cursor.
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
