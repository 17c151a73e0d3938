//! The queue statements for SQLite: one prepared statement for each row.

mod claims;
mod events;
mod outcomes;
mod relays;

pub(super) use self::{
    claims::{
        delete, due_of, end_leases, expedite, lease, oldest_due, park, release, targets_above,
    },
    events::{insert_deliveries, insert_events, insert_outcomes, insert_waiting},
    outcomes::{log_attempts, record_failed, remove_succeeded, restart_succeeded, set_health},
    relays::{await_relay, awaiting_relay, leave_relays},
};
