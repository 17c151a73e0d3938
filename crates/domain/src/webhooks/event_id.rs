//! Ids of events. The id of an event is the value of the header `webhook-id`. The id of an event and the id of a
//! webhook together identify a delivery.

use std::{fmt, str::FromStr};

use crate::{EnvelopeId, FormatError, OwnEventId, Timestamp};

/// Identifies an event. The database and the API use the same text form.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventId {
    /// Id of an `envelope.received` event: the id of the envelope.
    Envelope(EnvelopeId),
    /// Id of any other event.
    Own(OwnEventId),
}

impl EventId {
    /// The regular expression for an id as text.
    pub const PATTERN: &'static str = "^(env|evt)_[0-7][0-9a-hjkmnp-tv-z]{25}$";

    /// Returns whether this is the id of an `envelope.received` event.
    pub const fn is_envelope(&self) -> bool {
        matches!(self, Self::Envelope(_))
    }

    /// Returns the time of the event.
    pub fn timestamp(&self) -> Timestamp {
        match self {
            Self::Envelope(id) => id.timestamp(),
            Self::Own(id) => id.timestamp(),
        }
    }
}

impl From<EnvelopeId> for EventId {
    fn from(id: EnvelopeId) -> Self {
        Self::Envelope(id)
    }
}

impl From<OwnEventId> for EventId {
    fn from(id: OwnEventId) -> Self {
        Self::Own(id)
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Envelope(id) => id.fmt(f),
            Self::Own(id) => id.fmt(f),
        }
    }
}

impl fmt::Debug for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for EventId {
    type Err = FormatError;

    fn from_str(text: &str) -> Result<Self, FormatError> {
        if text.starts_with(OwnEventId::PREFIX) {
            text.parse().map(Self::Own)
        } else {
            text.parse().map(Self::Envelope)
        }
    }
}

impl serde::Serialize for EventId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_ids_are_parsed_and_written() {
        let envelope = "env_01h455vb4pex5vsknk084sn02q";
        let own = "evt_01h455vb4pex5vsknk084sn02q";
        assert_eq!(envelope.parse(), Ok(EventId::Envelope(envelope.parse().unwrap())));
        assert_eq!(own.parse(), Ok(EventId::Own(own.parse().unwrap())));
        for text in [envelope, own] {
            let id = text.parse::<EventId>().unwrap();
            assert_eq!(id.to_string(), text);
            assert_eq!(serde_json::to_string(&id).unwrap(), format!("\"{text}\""));
        }
        for text in ["", "evt_", "wh_01h455vb4pex5vsknk084sn02q", "EVT_01h455vb4pex5vsknk084sn02q"]
        {
            assert!(text.parse::<EventId>().is_err(), "{text}");
        }
    }

    #[test]
    fn event_ids_sort_as_their_text() {
        let ids = ["env_7zzzzzzzzzzzzzzzzzzzzzzzzz", "evt_00000000000000000000000000"];
        let [earlier, later] = ids.map(|text| text.parse::<EventId>().unwrap());
        assert!(earlier < later && earlier.to_string() < later.to_string());
    }
}
