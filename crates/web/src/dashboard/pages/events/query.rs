//! The query parameters of an event log: its filter and its position.

use sealpost_domain::{ApiKeyId, AttemptNumber, EventKind, FormatError, Timestamp, WebhookId};
use sealpost_service::{DeliveryState, EventLogCursor, ListEvents};
use serde::Deserialize;

use crate::dashboard::{session::SignedInUser, text::query_string};

/// The query parameters of the page. An empty or malformed parameter counts as absent.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct EventsQuery {
    /// Id of the event to search for.
    pub(super) id: String,
    /// The identity whose events are listed. Only for the event log of the account. Empty lists the events of all
    /// identities.
    pub(crate) identity: String,
    pub(super) webhook: String,
    pub(super) kind: String,
    pub(super) state: String,
    /// A time in UTC as browsers send it, such as `2027-01-31T12:00`.
    pub(super) before: String,
    pub(super) cursor: String,
    /// The number of the newest attempt that the page shows. Only the address of a live stream has this parameter.
    after: String,
}

impl EventsQuery {
    /// Converts the parameters to the query that the service runs for this page.
    pub(crate) fn list(&self) -> ListEvents {
        ListEvents {
            webhook_id: self.webhook.parse::<WebhookId>().ok(),
            kind: EventKind::from_name(&self.kind),
            state: DeliveryState::from_name(&self.state),
            before: self.before().ok().flatten(),
            limit: ENTRIES_PER_PAGE.into(),
            cursor: self.cursor.parse::<EventLogCursor>().ok(),
            with_unattempted: false,
        }
    }

    /// Returns the time in the field `before`. Returns `None` if the field is empty, and an error if its text is not a
    /// time.
    pub(super) fn before(&self) -> Result<Option<Timestamp>, FormatError> {
        match self.before.trim() {
            "" => Ok(None),
            // A browser sends seconds only if they are not zero.
            time if time.len() == "2027-01-31T12:00".len() => {
                format!("{time}:00Z").parse().map(Some)
            }
            time => format!("{time}Z").parse().map(Some),
        }
    }

    /// Returns the query string with the present filter, for links to other pages of the list.
    pub(super) fn filter(&self) -> String {
        self.filter_with("", "")
    }

    /// Returns the query string with the present filter and one more parameter.
    fn filter_with(&self, name: &str, value: &str) -> String {
        let kind = EventKind::from_name(&self.kind).map_or("", EventKind::as_str);
        self.query_string(kind, (name, value))
    }

    /// Returns the query string that keeps the filter, but selects another kind of event. An empty `kind` selects all
    /// kinds.
    pub(super) fn filter_of_kind(&self, kind: &str) -> String {
        self.query_string(kind, ("", ""))
    }

    fn query_string(&self, kind: &str, further: (&str, &str)) -> String {
        let ListEvents { webhook_id, state, before, .. } = self.list();
        let identity = self.identity.parse::<ApiKeyId>().map(|id| id.to_string());
        let webhook = webhook_id.map(|id| id.to_string()).unwrap_or_default();
        query_string(&[
            ("identity", identity.unwrap_or_default().as_str()),
            ("webhook", webhook.as_str()),
            ("kind", kind),
            ("state", state.map_or("", DeliveryState::as_str)),
            ("before", before.map_or("", |_| self.before.trim())),
            further,
        ])
    }

    /// Returns the query string of this page of the list: the present filter, and the position of the page.
    pub(super) fn position(&self) -> String {
        let cursor = self.list().cursor.map(|cursor| cursor.to_string());
        self.filter_with("cursor", &cursor.unwrap_or_default())
    }

    /// Returns true if the list begins with the newest attempt. Only such a list has a live stream.
    pub(crate) fn begins_with_newest_attempt(&self) -> bool {
        let ListEvents { state, before, cursor, .. } = self.list();
        cursor.is_none() && before.is_none() && !matches!(state, Some(DeliveryState::Pending))
    }

    /// Returns the URL of the live stream of this list. The stream begins after `newest`, the newest attempt on the
    /// page. Returns `None` if the list does not begin with the newest attempt, or if live streams are turned off.
    pub(super) fn live_stream(
        &self,
        user: &SignedInUser,
        path: &str,
        newest: Option<AttemptNumber>,
    ) -> Option<String> {
        let is_live = user.app.live.is_on() && self.begins_with_newest_attempt();
        let after = newest.map_or(0, |number| number.0).to_string();
        let query = self.filter_with("after", &after);
        is_live.then(|| format!("{}{path}/live{query}", user.base()))
    }

    /// Returns the number of the newest attempt that the browser shows, or 0 if it shows none. `last_event_id` is the
    /// header `Last-Event-ID`, which a browser sends when it opens a stream again.
    pub(crate) fn newest_shown(&self, last_event_id: Option<&str>) -> AttemptNumber {
        let number = last_event_id.unwrap_or(&self.after).parse::<i64>();
        AttemptNumber(number.unwrap_or_default())
    }
}

/// Number of log entries on one page.
pub(crate) const ENTRIES_PER_PAGE: u8 = 50;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_begins_after_the_newest_attempt_of_the_browser() {
        let query = EventsQuery { after: "7".to_owned(), ..EventsQuery::default() };
        assert_eq!(query.newest_shown(None), AttemptNumber(7));
        assert_eq!(query.newest_shown(Some("9")), AttemptNumber(9), "after a lost connection");
        assert_eq!(EventsQuery::default().newest_shown(None), AttemptNumber(0), "an empty log");
    }

    #[test]
    fn the_position_has_the_filter_and_the_cursor() {
        let query = |state: &str, cursor: &str| {
            let (state, cursor) = (state.to_owned(), cursor.to_owned());
            EventsQuery { state, cursor, ..EventsQuery::default() }.position()
        };
        assert_eq!(query("", ""), "");
        assert_eq!(query("failed", "rubbish"), "?state=failed");
        assert_eq!(query("", "7"), "?cursor=7");
        assert_eq!(query("failed", "7"), "?state=failed&cursor=7");
    }
}
