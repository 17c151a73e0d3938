//! The events on one page of an event log. Each event has its deliveries, and each delivery has its attempts.

use std::cmp::Reverse;

use sealpost_service::EventLogEntry;

/// The entries of a page that belong to the delivery of one event to one webhook.
pub(super) struct LoggedDelivery {
    /// The newest attempt, or the pending delivery.
    pub(super) newest: EventLogEntry,
    /// The earlier attempts, newest first.
    pub(super) earlier: Vec<EventLogEntry>,
}

impl LoggedDelivery {
    /// Creates a delivery without earlier attempts.
    pub(super) fn new(newest: EventLogEntry) -> Self {
        Self { newest, earlier: Vec::new() }
    }
}

/// Groups the entries of a log by event, and the entries of an event by delivery. `entries` must begin with the newest.
/// Returns the events, newest first, each with its deliveries in the order of the webhook ids.
pub(super) fn events_of(entries: Vec<EventLogEntry>) -> Vec<Vec<LoggedDelivery>> {
    let mut events = Vec::<Vec<LoggedDelivery>>::new();
    for entry in entries {
        let id = entry.delivery.envelope_id;
        let is_same = |event: &Vec<LoggedDelivery>| {
            event.first().is_some_and(|delivery| delivery.newest.delivery.envelope_id == id)
        };
        match events.iter_mut().find(|event| is_same(event)) {
            Some(deliveries) => add(deliveries, entry),
            None => events.push(vec![LoggedDelivery::new(entry)]),
        }
    }
    for event in &mut events {
        event.sort_by_key(|delivery| delivery.newest.webhook.webhook_id);
    }
    events.sort_by_key(|event| Reverse(event.iter().map(|it| it.newest.delivery.at).max()));
    events
}

fn add(deliveries: &mut Vec<LoggedDelivery>, entry: EventLogEntry) {
    let webhook = entry.webhook.webhook_id;
    match deliveries.iter_mut().find(|it| it.newest.webhook.webhook_id == webhook) {
        Some(delivery) => delivery.earlier.push(entry),
        None => deliveries.push(LoggedDelivery::new(entry)),
    }
}
