//! Events that inform the correspondents of a changed key. The correspondents are the keys that sent to the changed key
//! or received from it.

use crate::{
    ApiKeyId, EventDetails, Handle, IdentityRotated, NewEvent, OwnEventId, RotationReason,
    Timestamp,
};

/// A change of a key that its correspondents are informed of: the key was revoked, lost its handle to another key, or
/// got a new sealing key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdentityRotation {
    /// The changed key.
    pub api_key_id: ApiKeyId,
    /// The handle of the key before the change; `None` if the key had no handle.
    pub handle: Option<Handle>,
    /// The key that now has the handle. `None` if the handle was not moved.
    pub replaced_by: Option<ApiKeyId>,
    /// The kind of change.
    pub reason: RotationReason,
    /// Time of the change.
    pub at: Timestamp,
}

impl IdentityRotation {
    /// Creates the event for the webhooks of a correspondent. The id of the event depends only on the change and the
    /// correspondent. Therefore the store recognises an event that is already stored.
    pub fn event_for(&self, correspondent: &ApiKeyId) -> NewEvent {
        let [_, _, _, _, _, _, mut random @ ..] = *correspondent.as_bytes();
        let [_, _, _, _, _, _, of_key @ ..] = *self.api_key_id.as_bytes();
        // Rotates the bytes of the changed key by three positions before the XOR. Without the rotation, two keys that
        // change in the same millisecond and are correspondents of each other would give the same event id.
        for (byte, other) in random.iter_mut().zip(of_key.iter().cycle().skip(3)) {
            *byte ^= other;
        }
        let [_, _, _, _, differing, ..] = &mut random;
        *differing ^= match self.reason {
            RotationReason::Replaced => 1,
            RotationReason::Revoked => 2,
            RotationReason::SealingKey => 3,
        };
        NewEvent {
            id: OwnEventId::new(self.at, random),
            api_key_id: *correspondent,
            created_at: self.at,
            details: EventDetails::IdentityRotated(IdentityRotated {
                api_key_id: self.api_key_id,
                handle: self.handle.clone(),
                replaced_by: self.replaced_by,
                reason: self.reason,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const AT: Timestamp = Timestamp::from_millis(1_767_225_600_007);

    fn key(last: u8) -> ApiKeyId {
        ApiKeyId::new(Timestamp::from_millis(1), [9, 1, 2, 3, 4, 5, 6, 7, 8, last])
    }

    fn rotation(of: u8, reason: RotationReason) -> IdentityRotation {
        let (handle, replaced_by) = (None, None);
        IdentityRotation { api_key_id: key(of), handle, replaced_by, reason, at: AT }
    }

    #[test]
    fn the_body_has_the_members_of_the_contract() {
        let rotation = IdentityRotation {
            api_key_id: "ak_01h455vb4pex5vsknk084sn02q".parse().unwrap(),
            handle: Some(Handle::parse("bob").unwrap()),
            replaced_by: Some("ak_00000000000000000000000001".parse().unwrap()),
            ..rotation(1, RotationReason::Replaced)
        };
        let event = rotation.event_for(&key(2));
        assert_eq!(event.api_key_id, key(2));
        let body = serde_json::to_string(&event.body()).unwrap();
        assert_eq!(
            body,
            format!(
                concat!(
                    r#"{{"event":"identity.rotated","event_id":"{}","#,
                    r#""api_key_id":"ak_01h455vb4pex5vsknk084sn02q","handle":"bob","#,
                    r#""replaced_by":"ak_00000000000000000000000001","reason":"replaced","#,
                    r#""metadata":{{"timestamp":"2026-01-01T00:00:00.007Z"}}}}"#
                ),
                event.id
            )
        );
    }

    #[test]
    fn simultaneous_changes_have_different_ids() {
        use RotationReason as R;
        let mut ids = BTreeSet::new();
        for of in 0..20 {
            for to in 0..20 {
                for reason in [R::Replaced, R::Revoked, R::SealingKey] {
                    ids.insert(rotation(of, reason).event_for(&key(to)).id);
                }
            }
        }
        assert_eq!(ids.len(), 20 * 20 * 3);
    }
}
