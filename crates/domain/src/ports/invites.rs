//! The port for invites to open an account.

use super::error::StoreError;
use crate::{Invite, InviteId, Timestamp, TokenHash};

/// Reads and writes invites to open an account.
pub trait InviteRepo {
    /// Inserts an invite.
    fn insert_invite(&mut self, invite: &Invite) -> Result<(), StoreError>;

    /// Finds the invite of a secret, in any state.
    fn find_invite(&mut self, secret: &TokenHash) -> Result<Option<Invite>, StoreError>;

    /// Counts one use of an invite. Returns `false`, and counts nothing, if the invite is not
    /// active at `now`. Concurrent transactions never exceed the number of uses.
    fn use_invite(&mut self, id: &InviteId, now: Timestamp) -> Result<bool, StoreError>;

    /// Reads the newest invites, at most `limit`, newest first.
    fn newest_invites(&mut self, limit: u32) -> Result<Vec<Invite>, StoreError>;

    /// Revokes an invite. Returns `None` if the invite does not exist or is already revoked.
    fn revoke_invite(&mut self, id: &InviteId, at: Timestamp)
    -> Result<Option<Invite>, StoreError>;
}
