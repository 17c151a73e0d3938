//! The queue of deliveries. A delivery is one event for one webhook. Leases due deliveries, records attempts, makes
//! deliveries due again, and informs the senders of undeliverable envelopes.

pub(crate) mod bounces;
pub(crate) mod claim_cursor;
pub(crate) mod claims;
pub(crate) mod delivery_log;
pub(crate) mod events;
pub(crate) mod incidents;
pub(crate) mod outbox;
pub(crate) mod outcomes;
pub(crate) mod receipts;
pub(crate) mod redelivery;
pub(crate) mod relays;
pub(crate) mod rotations;
pub(crate) mod statements;
pub(crate) mod success_throttle;
pub(crate) mod waiting;
pub(crate) mod waiting_transfers;
