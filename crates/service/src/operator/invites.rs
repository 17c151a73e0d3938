//! Creates, lists and revokes invites. An invite is a secret that can open new accounts.

use std::time::Duration;

use sealpost_domain::{Invite, InviteId, InviteStatus, Timestamp};
use sealpost_wallet::{InviteSecret, random};
use serde::Serialize;
use serde_json::json;

use crate::{
    acts::audited::{ActionRecord, Concerned, Operator, OperatorError},
    operator::lists::{ListPage, page},
};

/// The terms of a new invite.
#[derive(Debug, Clone)]
pub struct InviteTerms {
    /// Number of accounts that the invite can open.
    pub uses: u32,
    /// Time until the invite expires.
    pub expires_in: Duration,
    /// A note that only operators see.
    pub note: Option<String>,
}

/// A new invite.
#[derive(Serialize)]
#[expect(missing_docs, reason = "the contract describes the fields")]
pub struct InviteCreated {
    /// The secret of the invite, shown only in this result.
    pub invite: String,
    pub invite_id: InviteId,
    pub uses: u32,
    pub expires_at: Timestamp,
}

/// An invite without its secret, as operators see it.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "the names describe the fields")]
pub struct InviteView {
    pub invite_id: InviteId,
    pub status: InviteStatus,
    pub uses: u32,
    pub used: u32,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    pub note: Option<String>,
}

impl Operator {
    /// Creates an invite. Only the hash of its secret is stored.
    pub fn create_invite(&self, terms: &InviteTerms) -> Result<InviteCreated, OperatorError> {
        let now = self.clock.now();
        let secret = InviteSecret::generate()?;
        let invite = Invite {
            id: InviteId::new(now, random()?),
            secret: secret.hash(),
            note: terms.note.clone(),
            uses: terms.uses,
            used: 0,
            created_at: now,
            expires_at: now.plus(terms.expires_in),
            revoked_at: None,
        };
        self.perform(|tx| {
            tx.insert_invite(&invite)?;
            let detail = json!({
                "uses": invite.uses,
                "expires_at": invite.expires_at,
                "note": invite.note,
            });
            Ok(((), ActionRecord::new("invite.create", &invite.id, Concerned::Service, detail)))
        })?;
        Ok(InviteCreated {
            invite: secret.expose().to_owned(),
            invite_id: invite.id,
            uses: invite.uses,
            expires_at: invite.expires_at,
        })
    }

    /// Lists the invites that are older than the invite `below`. With `None`, begins with the newest invite.
    pub fn invites(
        &self,
        below: Option<&InviteId>,
        limit: u32,
    ) -> Result<ListPage<InviteView>, OperatorError> {
        let now = self.clock.now();
        let found = self.store.read(|reader| reader.invites(below, limit.saturating_add(1)))?;
        Ok(page(found.into_iter().map(|invite| shown(invite, now)).collect(), limit))
    }

    /// Revokes an invite. Accounts that were opened with the invite stay. Fails if the invite does not exist or is
    /// already revoked.
    pub fn revoke_invite(&self, id: &InviteId) -> Result<InviteView, OperatorError> {
        let now = self.clock.now();
        self.perform(|tx| {
            let invite = tx.revoke_invite(id, now)?.ok_or(NO_INVITE)?;
            let detail = json!({"uses": invite.uses, "used": invite.used});
            let record = ActionRecord::new("invite.revoke", id, Concerned::Service, detail);
            Ok((shown(invite, now), record))
        })
    }
}

fn shown(invite: Invite, now: Timestamp) -> InviteView {
    InviteView {
        status: invite.status(now),
        invite_id: invite.id,
        uses: invite.uses,
        used: invite.used,
        created_at: invite.created_at,
        expires_at: invite.expires_at,
        note: invite.note,
    }
}

const NO_INVITE: OperatorError = OperatorError::NotFound("such invite that is not revoked");
