//! The rows of an event log: one row for each event and webhook on a page, with its newest attempt.

use sealpost_service::{DeliveryView, EventLogEntry};

/// An entry of an event log, and the number of its earlier attempts on the same page.
pub(super) struct LogRow<Entry> {
    /// The pending delivery, or the newest attempt.
    pub(super) newest: Entry,
    /// The number of earlier attempts on the page. The page of the event lists them.
    pub(super) earlier: usize,
}

/// A row in the log of one webhook.
pub(super) type EventRow = LogRow<DeliveryView>;
/// A row in the log of all webhooks.
pub(super) type EventLogRow = LogRow<EventLogEntry>;

/// An entry of an event log.
pub(super) trait LogEntry {
    /// Returns true if both entries belong to the delivery of one event to one webhook.
    fn is_same_delivery(&self, other: &Self) -> bool;
}

impl LogEntry for DeliveryView {
    fn is_same_delivery(&self, other: &Self) -> bool {
        self.envelope_id == other.envelope_id
    }
}

impl LogEntry for EventLogEntry {
    fn is_same_delivery(&self, other: &Self) -> bool {
        self.webhook == other.webhook && self.delivery.is_same_delivery(&other.delivery)
    }
}

/// Combines the entries of a log, newest first, to rows.
pub(super) fn rows_of<Entry: LogEntry>(entries: Vec<Entry>) -> Vec<LogRow<Entry>> {
    let mut rows = Vec::<LogRow<Entry>>::new();
    for entry in entries {
        match rows.iter_mut().find(|row| row.newest.is_same_delivery(&entry)) {
            Some(row) => row.earlier += 1,
            None => rows.push(LogRow { newest: entry, earlier: 0 }),
        }
    }
    rows
}
