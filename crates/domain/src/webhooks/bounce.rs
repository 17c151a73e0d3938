//! Bounces: if an envelope cannot be delivered to its recipient, the sender gets an `envelope.bounced` event.

use crate::{
    ApiKeyId, BounceReason, EnvelopeBounced, EnvelopeId, EventDetails, NewEvent, OwnEventId,
    Timestamp,
};

/// An envelope that may bounce (its sender gets an event), because one of its deliveries ended without success. The
/// envelope is not opened, none of its deliveries has succeeded, and it has not bounced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnopenedEnvelope {
    /// Id of the envelope.
    pub id: EnvelopeId,
    /// The key that sent the envelope.
    pub sender: ApiKeyId,
    /// The key that can open the envelope.
    pub recipient: ApiKeyId,
    /// True if the recipient's key is revoked.
    pub is_recipient_revoked: bool,
    /// True if at least one delivery of the envelope can still be attempted.
    pub is_pending: bool,
    /// True if at least one delivery of the envelope has failed in its last attempt.
    pub is_exhausted: bool,
}

/// The consequence of the ended deliveries of an envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnvelopeFate {
    /// The envelope bounces: its sender gets an event.
    Bounces(BounceReason),
    /// A delivery can still be attempted.
    Pending,
    /// All deliveries were deleted with their webhooks, so the envelope waits for a later webhook.
    Waits,
}

impl UnopenedEnvelope {
    /// Decides whether the envelope bounces or waits.
    pub const fn fate(&self) -> EnvelopeFate {
        if self.is_recipient_revoked {
            EnvelopeFate::Bounces(BounceReason::RecipientRevoked)
        } else if self.is_pending {
            EnvelopeFate::Pending
        } else if self.is_exhausted {
            EnvelopeFate::Bounces(BounceReason::Exhausted)
        } else {
            EnvelopeFate::Waits
        }
    }

    /// Creates the event for the sender. The id of the event contains the random bits of the envelope id. This makes
    /// the event id unique, because an envelope bounces at most once.
    pub fn bounced(&self, reason: BounceReason, now: Timestamp) -> NewEvent {
        let [_, _, _, _, _, _, random @ ..] = *self.id.as_bytes();
        NewEvent {
            id: OwnEventId::new(now, random),
            api_key_id: self.sender,
            created_at: now,
            details: EventDetails::EnvelopeBounced(EnvelopeBounced {
                envelope_id: self.id,
                recipient: self.recipient,
                reason,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn envelope(is_recipient_revoked: bool, is_pending: bool, exhausted: bool) -> UnopenedEnvelope {
        UnopenedEnvelope {
            id: "env_01h455vb4pex5vsknk084sn02q".parse().unwrap(),
            sender: "ak_01h455vb4pex5vsknk084sn02q".parse().unwrap(),
            recipient: "ak_00000000000000000000000001".parse().unwrap(),
            is_recipient_revoked,
            is_pending,
            is_exhausted: exhausted,
        }
    }

    #[test]
    fn an_envelope_bounces_once_nothing_can_deliver_it() {
        use {BounceReason as B, EnvelopeFate as F};
        for (revoked, pending, exhausted, fate) in [
            (false, false, false, F::Waits),
            (false, false, true, F::Bounces(B::Exhausted)),
            (false, true, false, F::Pending),
            (false, true, true, F::Pending),
            (true, false, false, F::Bounces(B::RecipientRevoked)),
            (true, false, true, F::Bounces(B::RecipientRevoked)),
            (true, true, false, F::Bounces(B::RecipientRevoked)),
            (true, true, true, F::Bounces(B::RecipientRevoked)),
        ] {
            let envelope = envelope(revoked, pending, exhausted);
            assert_eq!(envelope.fate(), fate, "{envelope:?}");
        }
    }

    #[test]
    fn the_body_has_the_members_of_the_contract() {
        let now = Timestamp::from_millis(1_767_225_600_007);
        let event = envelope(false, false, true).bounced(BounceReason::Exhausted, now);
        assert_eq!(event.api_key_id, envelope(false, false, true).sender);
        let body = serde_json::to_string(&event.body()).unwrap();
        assert_eq!(
            body,
            format!(
                concat!(
                    r#"{{"event":"envelope.bounced","event_id":"{}","#,
                    r#""envelope_id":"env_01h455vb4pex5vsknk084sn02q","#,
                    r#""recipient":"ak_00000000000000000000000001","reason":"exhausted","#,
                    r#""metadata":{{"timestamp":"2026-01-01T00:00:00.007Z"}}}}"#
                ),
                event.id
            )
        );
    }

    #[test]
    fn the_ids_of_bounces_differ_as_those_of_the_envelopes() {
        let now = Timestamp::from_millis(1_767_225_600_007);
        let mut other = envelope(false, false, true);
        other.id = "env_01h455vb4pex5vsknk084sn02r".parse().unwrap();
        let id = |envelope: &UnopenedEnvelope| envelope.bounced(BounceReason::Expired, now).id;
        assert_ne!(id(&envelope(false, false, true)), id(&other));
    }
}
