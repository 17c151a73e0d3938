//! The traits between the service, the database and the dispatcher, and the values that the database takes and returns.
//! All traits are synchronous.

mod closing;
mod delivery;
mod dispatching;
mod envelopes;
mod housekeeping;
mod journal;
mod keys;
mod ledger;
mod log;
mod overview;
mod relays;
mod store;

pub use self::{
    closing::*, delivery::*, dispatching::*, envelopes::*, housekeeping::*, journal::*, keys::*,
    ledger::*, log::*, overview::*, relays::*, store::*,
};
