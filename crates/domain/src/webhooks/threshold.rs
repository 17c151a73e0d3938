//! Events that inform the owner of a key that its usage has reached a threshold: a percentage of a limit. The owner can
//! react before requests are refused.

use crate::{EventDetails, NewEvent, OwnEventId, ThresholdWindow, Timestamp, UsageThreshold};

/// A threshold (a percentage of a usage limit) that a key has reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReachedThreshold {
    /// Start of the current day or month, the time window of the limit. A threshold gives at most one event per window.
    pub window_start: Timestamp,
    /// Time at which the threshold was reached.
    pub at: Timestamp,
    /// The JSON fields of the event.
    pub details: UsageThreshold,
}

impl ReachedThreshold {
    /// Creates the event for the webhooks of the key. Its id combines the time, the random bits of the key's id, the
    /// window and the threshold. So the id is unique, because a key reaches a threshold at most once in a millisecond.
    pub fn event(&self) -> NewEvent {
        let UsageThreshold { api_key_id, window, threshold, .. } = self.details;
        let [_, _, _, _, _, _, mut random @ ..] = *api_key_id.as_bytes();
        let [_, _, _, _, differing, ..] = &mut random;
        *differing ^= match window {
            ThresholdWindow::Day => threshold,
            ThresholdWindow::Month => !threshold,
        };
        NewEvent {
            id: OwnEventId::new(self.at, random),
            api_key_id,
            created_at: self.at,
            details: EventDetails::UsageThreshold(self.details.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn reached(window: ThresholdWindow, threshold: u8) -> ReachedThreshold {
        ReachedThreshold {
            window_start: Timestamp::from_millis(1_767_225_600_000),
            at: Timestamp::from_millis(1_767_225_600_007),
            details: UsageThreshold {
                api_key_id: "ak_01h455vb4pex5vsknk084sn02q".parse().unwrap(),
                window,
                threshold,
                used: 800,
                limit: 1000,
                resets_at: Timestamp::from_millis(1_767_312_000_000),
            },
        }
    }

    #[test]
    fn the_body_has_the_members_of_the_contract() {
        let event = reached(ThresholdWindow::Day, 80).event();
        let body = serde_json::to_string(&event.body()).unwrap();
        assert_eq!(
            body,
            format!(
                concat!(
                    r#"{{"event":"usage.threshold","event_id":"{}","#,
                    r#""api_key_id":"ak_01h455vb4pex5vsknk084sn02q","window":"day","threshold":80,"#,
                    r#""used":800,"limit":1000,"resets_at":"2026-01-02T00:00:00.000Z","#,
                    r#""metadata":{{"timestamp":"2026-01-01T00:00:00.007Z"}}}}"#
                ),
                event.id
            )
        );
    }

    #[test]
    fn the_thresholds_of_a_key_have_different_ids() {
        use ThresholdWindow as W;
        let all = [(W::Day, 80), (W::Day, 100), (W::Month, 80), (W::Month, 100)];
        let ids = all.map(|(window, threshold)| reached(window, threshold).event().id);
        assert_eq!(ids.into_iter().collect::<BTreeSet<_>>().len(), 4);
    }
}
