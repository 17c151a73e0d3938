//! Incidents: a webhook has failed for a long time or was disabled. The other webhooks of the account get an event
//! about each incident.

use crate::{
    ApiKeyId, Description, DisablingCause, EventDetails, FailingCause, LastFailure, NewEvent,
    OwnEventId, Timestamp, WebhookDisabled, WebhookFailing, WebhookId,
};

/// A failure of a webhook that is reported to the other webhooks of its account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookIncident {
    /// The webhook.
    pub webhook_id: WebhookId,
    /// The API key of the webhook.
    pub api_key_id: ApiKeyId,
    /// The owner's note about the webhook.
    pub description: Option<Description>,
    /// The newest failed attempt.
    pub last_failure: Option<LastFailure>,
    /// The kind of incident.
    pub kind: IncidentKind,
    /// Time of the incident.
    pub at: Timestamp,
}

/// A kind of incident.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IncidentKind {
    /// The webhook was disabled.
    Disabled(DisablingCause),
    /// All attempts have failed since this time.
    Failing(Timestamp),
}

impl WebhookIncident {
    /// Creates the event for the webhooks of one key of the account. Its id combines the time, the kind of incident,
    /// and the random bits of the webhook and of the key, so the event of each key has its own id.
    pub fn event_for(&self, key: ApiKeyId) -> NewEvent {
        let Self { webhook_id, api_key_id, last_failure, at, .. } = self.clone();
        let description = self.description.clone();
        let (tag, details) = match self.kind {
            IncidentKind::Disabled(reason) => (
                0,
                EventDetails::WebhookDisabled(WebhookDisabled {
                    webhook_id,
                    api_key_id,
                    description,
                    reason,
                    since: at,
                    last_failure,
                }),
            ),
            IncidentKind::Failing(since) => (
                1,
                EventDetails::WebhookFailing(WebhookFailing {
                    webhook_id,
                    api_key_id,
                    description,
                    reason: FailingCause::AllAttemptsFailed,
                    since,
                    last_failure,
                }),
            ),
        };
        let [_, _, _, _, _, _, mut random @ ..] = *webhook_id.as_bytes();
        let [_, _, _, _, _, _, of_key @ ..] = *key.as_bytes();
        for (byte, other) in random.iter_mut().zip(of_key) {
            *byte ^= other;
        }
        if let Some(byte) = random.get_mut(1) {
            *byte ^= tag;
        }
        NewEvent { id: OwnEventId::new(at, random), api_key_id: key, created_at: at, details }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn incident(kind: IncidentKind) -> WebhookIncident {
        let at = Timestamp::from_millis(1_767_225_600_007);
        let error = "connect".to_owned();
        WebhookIncident {
            webhook_id: "wh_01h455vb4pex5vsknk084sn02q".parse().unwrap(),
            api_key_id: "ak_01h455vb4pex5vsknk084sn02q".parse().unwrap(),
            description: Description::parse("orders").unwrap(),
            last_failure: Some(LastFailure { at, error, error_detail: None }),
            kind,
            at,
        }
    }

    #[test]
    fn the_bodies_have_exactly_the_members_of_the_contract() {
        let since = Timestamp::from_millis(1_767_222_000_007);
        for (kind, event, reason, since) in [
            (
                IncidentKind::Failing(since),
                "webhook.failing",
                "all_attempts_failed",
                "2025-12-31T23:00:00.007Z",
            ),
            (
                IncidentKind::Disabled(DisablingCause::Operator),
                "webhook.disabled",
                "operator",
                "2026-01-01T00:00:00.007Z",
            ),
        ] {
            let new = incident(kind).event_for("ak_01h455vb4pex5vsknk084sn02r".parse().unwrap());
            let body = serde_json::to_string(&new.body()).unwrap();
            let expected = format!(
                concat!(
                    r#"{{"event":"{}","event_id":"{}","webhook_id":"wh_01h455vb4pex5vsknk084sn02q","#,
                    r#""api_key_id":"ak_01h455vb4pex5vsknk084sn02q","description":"orders","#,
                    r#""reason":"{}","since":"{}","last_failure":{{"at":"2026-01-01T00:00:00.007Z","#,
                    r#""error":"connect","error_detail":null}},"#,
                    r#""metadata":{{"timestamp":"2026-01-01T00:00:00.007Z"}}}}"#
                ),
                event, new.id, reason, since
            );
            assert_eq!(body, expected);
        }
    }

    #[test]
    fn each_key_and_each_kind_has_its_own_event() {
        let keys = ["ak_01h455vb4pex5vsknk084sn02r", "ak_01h455vb4pex5vsknk084sn02s"];
        let since = Timestamp::from_millis(7);
        let kinds = [IncidentKind::Disabled(DisablingCause::Gone), IncidentKind::Failing(since)];
        let mut ids = Vec::new();
        for kind in kinds {
            ids.extend(keys.map(|key| incident(kind).event_for(key.parse().unwrap()).id));
        }
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 4);
    }
}
