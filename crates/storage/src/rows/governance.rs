//! Rows of governance decisions, which can block a key, an account or a partner.

use diesel::prelude::*;
use sealpost_domain::{GovernanceKind, GovernanceReason, GovernanceStatus, Timestamp};

use crate::{connection::fault::Fault, schema::governance};

/// The columns of `governance` that form a [`GovernanceReason`].
#[derive(Debug, Clone, Queryable, Selectable)]
#[diesel(table_name = governance)]
pub(crate) struct ReasonRow {
    pub(crate) kind: String,
    pub(crate) status: String,
    pub(crate) reason: String,
    pub(crate) since: i64,
}

impl ReasonRow {
    pub(crate) fn read(self) -> Result<GovernanceReason, Fault> {
        Ok(GovernanceReason {
            kind: GovernanceKind::from_name(&self.kind).ok_or(Fault::Corrupt("governance kind"))?,
            status: GovernanceStatus::from_name(&self.status)
                .ok_or(Fault::Corrupt("governance status"))?,
            reason: self.reason,
            since: Timestamp::from_millis(self.since),
        })
    }
}
