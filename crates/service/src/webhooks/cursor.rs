//! The states of the entries in a list of deliveries, and the cursors of this list and of the event log. A cursor of
//! the list is opaque to callers, and valid only for the same webhook and filter.

use std::{fmt, str::FromStr};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use sealpost_domain::{AttemptNumber, AttemptOutcome, EventId, WebhookId};

/// The position after a page of deliveries. Its text form is base64url.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    pub(super) webhook_id: WebhookId,
    pub(super) state: Option<DeliveryState>,
    pub(super) below: EventLogCursor,
}

/// The last entry of a page of deliveries or of the event log, after which the next page begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventLogCursor {
    /// The last entry is an attempt.
    Attempt(AttemptNumber),
    /// The last entry is a pending delivery of this event. A list of deliveries shows all pending deliveries before the
    /// attempts.
    Event(EventId),
}

impl EventLogCursor {
    /// Returns the key by which entries are sorted. For an event, the sort key is the id without its prefix, because
    /// the rest of an id begins with the time.
    pub(crate) fn sort_key(&self) -> (i64, String) {
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

impl FromStr for EventLogCursor {
    type Err = CursorError;

    fn from_str(text: &str) -> Result<Self, CursorError> {
        match text.parse() {
            Ok(number) => Ok(Self::Attempt(AttemptNumber(number))),
            Err(_) => text.parse().map(Self::Event).map_err(|_malformed| CursorError),
        }
    }
}

/// The error for a text that is not a cursor of this list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a next_cursor of this listing; leave it out to begin again")]
pub struct CursorError;

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state.map_or(ANY, DeliveryState::as_str);
        let text = format!("{state} {} {}", self.webhook_id, self.below);
        f.write_str(&URL_SAFE_NO_PAD.encode(text))
    }
}

impl FromStr for Cursor {
    type Err = CursorError;

    fn from_str(text: &str) -> Result<Self, CursorError> {
        let cursor = URL_SAFE_NO_PAD
            .decode(text)
            .ok()
            .and_then(|bytes| String::from_utf8(bytes).ok())
            .and_then(|text| read(&text))
            .ok_or(CursorError)?;
        // Rejects other texts that decode to the same cursor, so that each cursor has exactly one text.
        if cursor.to_string() == text { Ok(cursor) } else { Err(CursorError) }
    }
}

fn read(text: &str) -> Option<Cursor> {
    let mut words = text.split(' ');
    let (state, webhook_id, below) = (words.next()?, words.next()?, words.next()?);
    let state = match state {
        ANY => None,
        name => Some(DeliveryState::from_name(name)?),
    };
    Some(Cursor { webhook_id: webhook_id.parse().ok()?, state, below: below.parse().ok()? })
}

/// The state of an entry in a list of deliveries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryState {
    /// A completed attempt, with its outcome.
    Attempted(AttemptOutcome),
    /// A delivery that waits for its next attempt.
    Pending,
}

impl DeliveryState {
    /// Returns the name of the state in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Attempted(outcome) => outcome.as_str(),
            Self::Pending => "pending",
        }
    }

    /// Parses the name of a state in JSON. Returns `None` for an unknown name.
    pub fn from_name(name: &str) -> Option<Self> {
        if name == Self::Pending.as_str() {
            return Some(Self::Pending);
        }
        AttemptOutcome::from_name(name).map(Self::Attempted)
    }
}

const ANY: &str = "any";

#[cfg(test)]
mod tests {
    use sealpost_domain::{AttemptOutcome, EnvelopeId, Timestamp};

    use super::*;

    #[test]
    fn only_the_text_of_a_cursor_is_parsed() {
        let now = Timestamp::from_millis(1_790_000_000_000);
        let webhook_id = WebhookId::new(now, [7; 10]);
        let attempt = EventLogCursor::Attempt(AttemptNumber(i64::MAX));
        let event = EventLogCursor::Event(EnvelopeId::new(now, [8; 10]).into());
        for state in [
            None,
            Some(DeliveryState::Pending),
            Some(DeliveryState::Attempted(AttemptOutcome::Failed)),
        ] {
            for below in [attempt, event] {
                let cursor = Cursor { webhook_id, state, below };
                let text = cursor.to_string();
                assert_eq!(text.parse(), Ok(cursor));
                let tail = text.get(1..).unwrap();
                for wrong in [tail, &format!("{text}A"), &format!("{text}="), "", "%"] {
                    assert_eq!(wrong.parse::<Cursor>(), Err(CursorError), "{wrong}");
                }
            }
        }
        for text in
            ["any", "any x 5", &format!("none {webhook_id} 5"), &format!("any {webhook_id} +5")]
        {
            assert_eq!(URL_SAFE_NO_PAD.encode(text).parse::<Cursor>(), Err(CursorError), "{text}");
        }
    }

    #[test]
    fn a_cursor_of_the_event_log_is_a_number_or_the_id_of_an_event() {
        let event = EnvelopeId::new(Timestamp::from_millis(1_790_000_000_000), [8; 10]).into();
        for cursor in [EventLogCursor::Attempt(AttemptNumber(7)), EventLogCursor::Event(event)] {
            assert_eq!(cursor.to_string().parse(), Ok(cursor));
        }
        assert_eq!("x".parse::<EventLogCursor>(), Err(CursorError));
    }
}
