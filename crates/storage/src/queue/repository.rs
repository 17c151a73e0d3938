//! Implements the port for events other than received envelopes. Such an event has its own id, while a received
//! envelope is identified by the id of the envelope.

use sealpost_domain::{
    IdentityRotation, NewEvent,
    ports::{EventRepo, StoreError},
};

use crate::{
    connection::transaction::Transaction,
    queue::{events, rotations},
};

impl EventRepo for Transaction {
    fn insert_events(&mut self, events: &[NewEvent]) -> Result<(), StoreError> {
        self.run(|conn| events::store(conn, events).map(drop))
    }

    fn record_rotation(&mut self, rotation: &IdentityRotation) -> Result<(), StoreError> {
        self.run(|conn| rotations::record(conn, rotation))
    }
}
