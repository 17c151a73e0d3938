//! The port for events that have an id of their own.

use super::error::StoreError;
use crate::NewEvent;

/// Stores events.
pub trait EventRepo {
    /// Stores each event, and a delivery to each webhook of its key that subscribes to its kind. The deliveries are due
    /// at once. Skips events without such a webhook.
    fn insert_events(&mut self, events: &[NewEvent]) -> Result<(), StoreError>;
}
