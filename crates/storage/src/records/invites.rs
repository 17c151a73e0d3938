//! Stores invites to open an account, and counts their uses.

use diesel::prelude::*;
use sealpost_domain::{Invite, InviteId, Timestamp, TokenHash, ports::StoreError};

use crate::{
    connection::{
        query_error::QueryError,
        transaction::{Reader, Transaction},
    },
    rows::columns,
    schema::invites as i,
};

impl Reader {
    /// Finds the invite with this secret, even if the invite is used up, expired or revoked. `None` if no invite has
    /// this secret.
    pub fn find_invite(&mut self, secret: &TokenHash) -> Result<Option<Invite>, StoreError> {
        let of_secret = i::table.filter(i::secret.eq(&secret.0[..]));
        self.first(of_secret, InviteRow::read)
    }

    /// Reads up to `limit` invites that are older than the invite `below`, newest first. With `None`, begins with the
    /// newest invite.
    pub fn invites(
        &mut self,
        below: Option<&InviteId>,
        limit: u32,
    ) -> Result<Vec<Invite>, StoreError> {
        let mut page = i::table.order(i::id.desc()).limit(limit.into()).into_boxed();
        if let Some(below) = below {
            page = page.filter(i::id.lt(below.to_string()));
        }
        self.load(page, InviteRow::read)
    }
}

impl Transaction {
    /// Inserts an invite.
    pub fn insert_invite(&mut self, invite: &Invite) -> Result<(), StoreError> {
        self.execute(diesel::insert_into(i::table).values(InviteRow::new(invite))).map(drop)
    }

    /// Counts one use of an invite. If the invite is not active at `now`, counts nothing and returns `false`.
    /// Concurrent transactions cannot exceed the maximum number of uses.
    pub fn use_invite(&mut self, id: &InviteId, now: Timestamp) -> Result<bool, StoreError> {
        let active = i::table
            .find(id.to_string())
            .filter(i::used.lt(i::uses))
            .filter(i::expires_at.gt(now.as_millis()))
            .filter(i::revoked_at.is_null());
        Ok(self.execute(diesel::update(active).set(i::used.eq(i::used + 1)))? == 1)
    }

    /// Revokes an invite, and returns it. `None` if the invite does not exist or was already revoked.
    pub fn revoke_invite(
        &mut self,
        id: &InviteId,
        at: Timestamp,
    ) -> Result<Option<Invite>, StoreError> {
        let id = id.to_string();
        self.run(|conn| {
            let revoked = diesel::update(i::table.find(&id).filter(i::revoked_at.is_null()))
                .set(i::revoked_at.eq(at.as_millis()))
                .execute(conn)?;
            if revoked == 0 {
                return Ok(None);
            }
            i::table.find(&id).first::<InviteRow>(conn)?.read().map(Some)
        })
    }
}

/// A row of the table `invites`.
#[derive(Debug, Insertable, Queryable)]
#[diesel(table_name = i)]
struct InviteRow {
    id: String,
    secret: Vec<u8>,
    note: Option<String>,
    uses: i64,
    used: i64,
    created_at: i64,
    expires_at: i64,
    revoked_at: Option<i64>,
}

impl InviteRow {
    fn new(invite: &Invite) -> Self {
        Self {
            id: invite.id.to_string(),
            secret: invite.secret.0.to_vec(),
            note: invite.note.clone(),
            uses: invite.uses.into(),
            used: invite.used.into(),
            created_at: invite.created_at.as_millis(),
            expires_at: invite.expires_at.as_millis(),
            revoked_at: invite.revoked_at.map(Timestamp::as_millis),
        }
    }

    fn read(self) -> Result<Invite, QueryError> {
        Ok(Invite {
            id: columns::id(&self.id, "invite")?,
            secret: columns::token(self.secret, "invite")?,
            note: self.note,
            uses: columns::number(self.uses, "uses of an invite")?,
            used: columns::number(self.used, "uses of an invite")?,
            created_at: Timestamp::from_millis(self.created_at),
            expires_at: Timestamp::from_millis(self.expires_at),
            revoked_at: columns::instant(self.revoked_at),
        })
    }
}
