//! Events with an id of their own.

use super::error::StoreError;
use crate::NewEvent;

/// Stores events.
pub trait EventRepo {
    /// Stores each event with a delivery to each webhook of the key that subscribes to the kind. The
    /// deliveries are due at once. Stores nothing for an event without such a webhook.
    fn insert_events(&mut self, events: &[NewEvent]) -> Result<(), StoreError>;
}
