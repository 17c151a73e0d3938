//! A prepared statement for each row of a batch.

mod queue;
mod send;
mod settle;

pub(super) use self::{
    queue::{
        discard, due_of, expedite, lease, oldest_due, park, purge_envelopes, release, targets_above,
    },
    send::{
        add_overages, forget_stale, lock_usage_and_facts, open_channels, recall, remember, store,
    },
    settle::{keep, log, remove, set_health},
};
