//! The queue statements for PostgreSQL: one statement for each batch, with an array for each column.

mod claims;
mod outcomes;
mod relays;

pub(super) use self::{
    claims::{
        delete, due_of, end_leases, expedite, lease, lock, oldest_due, park, release, targets_above,
    },
    outcomes::{
        insert_events, insert_outcomes, log_attempts, record_failed, remove_succeeded,
        restart_succeeded, set_health,
    },
    relays::{await_relay, awaiting_relay, leave_relays},
};
