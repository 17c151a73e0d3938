//! The port for invites to open new accounts.

use crate::ports::error::StoreError;
use crate::{Invite, InviteId, Timestamp, TokenHash};

/// Reads and writes invites. If sign-up needs an invite, each new account uses one.
pub trait InviteRepo {
    /// Inserts an invite.
    fn insert_invite(&mut self, invite: &Invite) -> Result<(), StoreError>;

    /// Finds the invite with this secret, even if the invite is used up, expired or revoked. `None` if no invite has
    /// this secret.
    fn find_invite(&mut self, secret: &TokenHash) -> Result<Option<Invite>, StoreError>;

    /// Counts one use of an invite. If the invite is not active at `now`, counts nothing and returns `false`.
    /// Concurrent transactions cannot exceed the maximum number of uses.
    fn use_invite(&mut self, id: &InviteId, now: Timestamp) -> Result<bool, StoreError>;

    /// Reads up to `limit` invites, newest first.
    fn newest_invites(&mut self, limit: u32) -> Result<Vec<Invite>, StoreError>;

    /// Revokes an invite, and returns it. `None` if the invite does not exist or was already revoked.
    fn revoke_invite(&mut self, id: &InviteId, at: Timestamp)
    -> Result<Option<Invite>, StoreError>;
}
