//! The port for stored events. The event `envelope.received` has no row of its own, so it does not use this port.

use super::error::StoreError;
use crate::{IdentityRotation, NewEvent};

/// Stores events and their deliveries to webhooks.
pub trait EventRepo {
    /// Stores each event, and a delivery to each webhook of its key that subscribes to its kind. The deliveries are due
    /// at once. Skips events without such a webhook, and events that are already stored.
    fn insert_events(&mut self, events: &[NewEvent]) -> Result<(), StoreError>;

    /// Records a change of a key. Housekeeping stores the events for the key's correspondents: see
    /// [`HousekeepingRepo::inform_correspondents`].
    ///
    /// [`HousekeepingRepo::inform_correspondents`]: super::HousekeepingRepo::inform_correspondents
    fn record_rotation(&mut self, rotation: &IdentityRotation) -> Result<(), StoreError>;
}
