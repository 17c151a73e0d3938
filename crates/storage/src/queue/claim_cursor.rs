//! The position of claims among the webhooks.

use std::sync::{Mutex, PoisonError};

/// The last webhook that a claim looked at for a fair share.
///
/// Kept because a claim looks at a bounded number of webhooks: without a position, webhooks with great ids would
/// never be reached while a long queue lasts. All handles of a database share the cursor.
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
