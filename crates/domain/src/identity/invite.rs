//! Invites to open a new account while sign-up is restricted.

use serde::Serialize;

use crate::{InviteId, Timestamp, TokenHash};

/// An invite to open accounts. It works until it is used up, expires or is revoked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invite {
    /// Public id of the invite, used by operators.
    pub id: InviteId,
    /// Hash of the invite's secret. The secret itself is shown only once, when the invite is created.
    pub secret: TokenHash,
    /// A note of the operator. `None` if the operator wrote no note.
    pub note: Option<String>,
    /// Maximum number of accounts to open with the invite.
    pub uses: u32,
    /// Number of accounts opened so far with the invite.
    pub used: u32,
    /// Time at which the invite was created.
    pub created_at: Timestamp,
    /// End of the invite's validity, exclusive.
    pub expires_at: Timestamp,
    /// Time of revocation; `None` if the invite was not revoked.
    pub revoked_at: Option<Timestamp>,
}

/// The state of an invite at some time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InviteStatus {
    /// The invite can be used to open an account.
    Active,
    /// The invite has expired.
    Expired,
    /// An operator revoked the invite.
    Revoked,
    /// The maximum number of accounts was opened with the invite.
    UsedUp,
}

impl Invite {
    /// Returns the state of the invite at `now`.
    pub fn status(&self, now: Timestamp) -> InviteStatus {
        if self.revoked_at.is_some() {
            InviteStatus::Revoked
        } else if self.used >= self.uses {
            InviteStatus::UsedUp
        } else if now >= self.expires_at {
            InviteStatus::Expired
        } else {
            InviteStatus::Active
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invite_is_active_until_it_is_used_up_expires_or_is_revoked() {
        let at = Timestamp::from_millis;
        let invite = Invite {
            id: InviteId::new(at(1), [1; 10]),
            secret: TokenHash([1; 32]),
            note: None,
            uses: 2,
            used: 1,
            created_at: at(1),
            expires_at: at(10),
            revoked_at: None,
        };
        assert_eq!(invite.status(at(9)), InviteStatus::Active);
        assert_eq!(invite.status(at(10)), InviteStatus::Expired);
        let used_up = Invite { used: 2, ..invite.clone() };
        assert_eq!(used_up.status(at(9)), InviteStatus::UsedUp);
        let revoked = Invite { revoked_at: Some(at(5)), ..used_up };
        assert_eq!(revoked.status(at(9)), InviteStatus::Revoked);
    }
}
