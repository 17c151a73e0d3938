//! Governance, as the send path reads it.

use std::collections::{BTreeSet, HashMap};

use diesel::prelude::*;
use sealpost_domain::{GovernanceKind, GovernanceReason, GovernanceStatus, Standing, Timestamp};

use crate::{
    connection::{AnyConnection, on_backend},
    fault::Fault,
    schema::governance as g,
};

/// Every decision that was not lifted, by the key, account or partner that it is on.
pub(crate) struct Decisions(HashMap<String, Vec<GovernanceReason>>);

impl Decisions {
    pub(crate) fn on(conn: &mut AnyConnection, subjects: &BTreeSet<&str>) -> Result<Self, Fault> {
        let standing = g::table
            .filter(g::subject.eq_any(subjects))
            .filter(g::status.ne(GovernanceStatus::Lifted.as_str()))
            .order((g::since, g::id))
            .select((g::subject, (g::kind, g::status, g::reason, g::since)));
        let mut decisions = HashMap::<_, Vec<_>>::new();
        for (subject, row) in on_backend!(conn, c => standing.load::<(String, ReasonRow)>(c))? {
            decisions.entry(subject).or_default().push(row.read()?);
        }
        Ok(Self(decisions))
    }

    /// Where somebody stands who is subject to the decisions on each of these.
    pub(crate) fn standing(&self, subjects: &[&str]) -> Standing {
        let on = |subject: &&str| self.0.get(*subject).into_iter().flatten().cloned();
        Standing(subjects.iter().flat_map(on).collect())
    }
}

#[derive(Debug, Queryable)]
struct ReasonRow {
    kind: String,
    status: String,
    reason: String,
    since: i64,
}

impl ReasonRow {
    fn read(self) -> Result<GovernanceReason, Fault> {
        Ok(GovernanceReason {
            kind: GovernanceKind::from_name(&self.kind).ok_or(Fault::Corrupt("governance kind"))?,
            status: GovernanceStatus::from_name(&self.status)
                .ok_or(Fault::Corrupt("governance status"))?,
            reason: self.reason,
            since: Timestamp::from_millis(self.since),
        })
    }
}
