//! The port for stored events. The event `envelope.received` has no row of its own, so it does not use this port.

use crate::ports::error::StoreError;
use crate::{IdentityRotation, NewEvent};

/// Stores events and their deliveries to webhooks.
pub trait EventRepo {
    /// Stores events and their deliveries. An event gets one delivery to each webhook that belongs to the key of the
    /// event and subscribes to the kind of the event. The deliveries are due at once. Skips an event in two cases:
    /// - The key of the event has no such webhook.
    /// - The event is already stored.
    fn insert_events(&mut self, events: &[NewEvent]) -> Result<(), StoreError>;

    /// Records that a key was revoked, lost its handle to another key, or got a new sealing key. Housekeeping later
    /// stores events for the key's correspondents (the keys that sent to this key or received from it): see
    /// [`HousekeepingRepo::inform_correspondents`].
    ///
    /// [`HousekeepingRepo::inform_correspondents`]: crate::ports::HousekeepingRepo::inform_correspondents
    fn record_rotation(&mut self, rotation: &IdentityRotation) -> Result<(), StoreError>;
}
