//! The rows of an event log: one row for each event and webhook on a page, with its newest attempt.

use sealpost_service::EventLogEntry;

/// The entries of a page that belong to the delivery of one event to one webhook.
pub(super) struct EventRow {
    /// The newest attempt, or the pending delivery.
    pub(super) newest: EventLogEntry,
    /// The earlier attempts, newest first.
    pub(super) earlier: Vec<EventLogEntry>,
}

/// Combines the entries of a log, newest first, to rows.
pub(super) fn rows_of(entries: Vec<EventLogEntry>) -> Vec<EventRow> {
    let mut rows = Vec::<EventRow>::new();
    for entry in entries {
        match rows.iter_mut().find(|row| is_same_delivery(&row.newest, &entry)) {
            Some(row) => row.earlier.push(entry),
            None => rows.push(EventRow { newest: entry, earlier: Vec::new() }),
        }
    }
    rows
}

fn is_same_delivery(one: &EventLogEntry, other: &EventLogEntry) -> bool {
    one.webhook.webhook_id == other.webhook.webhook_id
        && one.delivery.envelope_id == other.delivery.envelope_id
}
