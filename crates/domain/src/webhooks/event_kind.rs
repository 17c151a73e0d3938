//! Kinds of events. The setting `--events` selects a version of the events, which decides which kinds exist.

use schemars::JsonSchema;
use serde::Serialize;

use crate::named_enum::named_enum;

named_enum! {
    /// A kind of event. A webhook subscribes to one or more kinds.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, JsonSchema, Serialize)]
    pub enum EventKind {
        /// An envelope that the webhook's key sent could not be delivered to its recipient. Needs `--events v1.1`.
        #[serde(rename = "envelope.bounced")]
        EnvelopeBounced = "envelope.bounced",
        /// An envelope for the webhook's key was stored and can be opened.
        #[serde(rename = "envelope.received")]
        EnvelopeReceived = "envelope.received",
        /// A correspondent (a key that has exchanged envelopes with the webhook's key) got a new sealing key, lost its
        /// handle to another key, or was revoked. Needs `--events v1.1`.
        #[serde(rename = "identity.rotated")]
        IdentityRotated = "identity.rotated",
        /// The webhook's key has used 80 % or 100 % of a limit. Needs `--events v1.1`.
        #[serde(rename = "usage.threshold")]
        UsageThreshold = "usage.threshold",
        /// Another webhook of the account was disabled. Needs `--events v1.1`.
        #[serde(rename = "webhook.disabled")]
        WebhookDisabled = "webhook.disabled",
        /// All attempts at another webhook of the account have failed for an hour. Needs `--events v1.1`.
        #[serde(rename = "webhook.failing")]
        WebhookFailing = "webhook.failing",
    }
}

impl EventKind {
    /// Returns the first version of the events that contains this kind.
    const fn since(self) -> EventsVersion {
        match self {
            Self::EnvelopeReceived => EventsVersion::V1_0,
            Self::EnvelopeBounced
            | Self::IdentityRotated
            | Self::UsageThreshold
            | Self::WebhookDisabled
            | Self::WebhookFailing => EventsVersion::V1_1,
        }
    }
}

/// A version of the events, chosen by the setting `--events`. The version limits the kinds of events to which a new
/// webhook can subscribe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventsVersion {
    /// Only `envelope.received`.
    #[default]
    V1_0,
    /// All kinds of events.
    V1_1,
}

impl EventsVersion {
    /// Finds the kind of event with this name. Fails if the event version does not have the kind. The error is a clause
    /// that follows the name of the field in the error text.
    pub fn find(self, name: &str) -> Result<EventKind, String> {
        match EventKind::from_name(name) {
            Some(kind) if kind.since() <= self => Ok(kind),
            Some(_) => Err(format!(
                "must not name {name}: this server offers v1.0 events; its operator can enable v1.1"
            )),
            None => Err(match self {
                Self::V1_0 => "must name envelope.received, the only available event".to_owned(),
                Self::V1_1 => {
                    let names: Vec<_> = self.kinds().map(EventKind::as_str).collect();
                    format!("must name available events: {}", names.join(", "))
                }
            }),
        }
    }

    /// Returns the kinds to which a webhook can subscribe under this event version.
    pub fn kinds(self) -> impl Iterator<Item = EventKind> {
        EventKind::ALL.into_iter().filter(move |kind| kind.since() <= self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn v1_0_has_received_envelopes_only() {
        let events = EventsVersion::default();
        assert_eq!(events.find("envelope.received"), Ok(EventKind::EnvelopeReceived));
        for kind in EventKind::ALL.into_iter().filter(|kind| *kind != EventKind::EnvelopeReceived) {
            let name = kind.as_str();
            let problem = format!(
                "must not name {name}: this server offers v1.0 events; its operator can enable v1.1"
            );
            assert_eq!(events.find(name), Err(problem));
        }
        let problem = "must name envelope.received, the only available event";
        assert_eq!(events.find("envelope.sent"), Err(problem.to_owned()));
    }

    #[test]
    fn v1_1_has_all_kinds() {
        let events = EventsVersion::V1_1;
        for kind in EventKind::ALL {
            assert_eq!(events.find(kind.as_str()), Ok(kind));
        }
        let unknown = events.find("envelope.sent").unwrap_err();
        assert!(unknown.contains("envelope.bounced, envelope.received"), "{unknown}");
    }
}
