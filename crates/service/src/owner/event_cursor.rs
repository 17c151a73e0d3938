//! The position in an event log at which the next page begins.

use std::{fmt, str::FromStr};

use sealpost_domain::{AttemptNumber, EventId};

/// The last entry of a page of the event log, after which the next page begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventLogCursor {
    /// The last entry is an attempt.
    Attempt(AttemptNumber),
    /// The last entry is a pending delivery of this event.
    Event(EventId),
}

impl EventLogCursor {
    /// Returns the key by which entries are sorted. For an event, the sort key is the id without its prefix, because
    /// the rest of an id begins with the time.
    pub(super) fn sort_key(&self) -> (i64, String) {
        match self {
            Self::Attempt(number) => (number.0, String::new()),
            Self::Event(id) => (0, id.to_string().split_off(4)),
        }
    }
}

impl fmt::Display for EventLogCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Attempt(number) => number.0.fmt(f),
            Self::Event(id) => id.fmt(f),
        }
    }
}

/// The error for a text that is not a cursor of the event log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be the cursor of a page of the event log")]
pub struct EventLogCursorFault;

impl FromStr for EventLogCursor {
    type Err = EventLogCursorFault;

    fn from_str(text: &str) -> Result<Self, EventLogCursorFault> {
        match text.parse() {
            Ok(number) => Ok(Self::Attempt(AttemptNumber(number))),
            Err(_) => text.parse().map(Self::Event).map_err(|_malformed| EventLogCursorFault),
        }
    }
}

#[cfg(test)]
mod tests {
    use sealpost_domain::{EnvelopeId, Timestamp};

    use super::*;

    #[test]
    fn a_cursor_is_a_number_or_the_id_of_an_event() {
        let event = EnvelopeId::new(Timestamp::from_millis(1_790_000_000_000), [8; 10]).into();
        for cursor in [EventLogCursor::Attempt(AttemptNumber(7)), EventLogCursor::Event(event)] {
            assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }
        assert_eq!("x".parse::<EventLogCursor>(), Err(EventLogCursorFault));
    }
}
