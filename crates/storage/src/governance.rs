//! What operators decided: as they write it, and as the send path reads it. What was lifted stays as history.

use std::collections::{BTreeSet, HashMap};

use diesel::{prelude::*, result::Error};
use sealpost_domain::{
    GovernanceDecision, GovernanceKind, GovernanceReason, GovernanceStanding, GovernanceStatus,
    GovernanceSubject, PartnerId, Timestamp,
    ports::{GovernanceRepo, StoreError},
};

use crate::{
    any_of::any_of,
    columns,
    connection::{AnyConnection, on_backend},
    fault::Fault,
    schema::{accounts, governance as g},
    unit::Unit,
};

impl GovernanceRepo for Unit {
    fn open_decisions(
        &mut self,
        subject: &GovernanceSubject,
    ) -> Result<Vec<GovernanceDecision>, StoreError> {
        let open = g::table
            .filter(g::subject.eq(subject.to_string()))
            .filter(g::status.ne(GovernanceStatus::Lifted.as_str()))
            .order((g::since, g::id))
            .select((g::id, REASON, g::by));
        self.run(|conn| {
            let rows = open.load::<(String, ReasonRow, String)>(conn)?.into_iter();
            rows.map(|(id, reason, by)| {
                let id = columns::id(&id, "decision")?;
                Ok(GovernanceDecision { id, subject: subject.clone(), reason: reason.read()?, by })
            })
            .collect()
        })
    }

    fn insert_decision(&mut self, decision: &GovernanceDecision) -> Result<(), StoreError> {
        let what = (
            g::id.eq(decision.id.to_string()),
            g::subject.eq(decision.subject.to_string()),
            g::kind.eq(decision.reason.kind.as_str()),
        );
        let insert = diesel::insert_into(g::table).values((
            what,
            g::status.eq(decision.reason.status.as_str()),
            g::reason.eq(&decision.reason.reason),
            g::since.eq(decision.reason.since.as_millis()),
            g::by.eq(&decision.by),
        ));
        self.run(|conn| Ok(insert.execute(conn).map(drop)?))
    }

    /// Only from where it has not ended: who lifted it meanwhile has won.
    fn update_decision(&mut self, decision: &GovernanceDecision) -> Result<(), StoreError> {
        let open = g::table
            .find(decision.id.to_string())
            .filter(g::status.ne(GovernanceStatus::Lifted.as_str()));
        let update = diesel::update(open).set((
            g::status.eq(decision.reason.status.as_str()),
            g::reason.eq(&decision.reason.reason),
            g::since.eq(decision.reason.since.as_millis()),
            g::by.eq(&decision.by),
        ));
        self.run(|conn| match update.execute(conn)? {
            1 => Ok(()),
            _ => Err(Fault::Contended(Error::NotFound)),
        })
    }

    fn count_accounts_of(&mut self, partner: &PartnerId) -> Result<u64, StoreError> {
        let of_partner = accounts::table.filter(accounts::partner_id.eq(partner.as_str()));
        self.run(|conn| {
            columns::number(of_partner.count().get_result::<i64>(conn)?, "number of accounts")
        })
    }
}

/// Every decision that was not lifted, by the key, account or partner that it is on.
pub(crate) struct Decisions(HashMap<String, Vec<GovernanceReason>>);

impl Decisions {
    pub(crate) fn on(conn: &mut AnyConnection, subjects: &BTreeSet<&str>) -> Result<Self, Fault> {
        let standing = g::table
            .filter(any_of(g::subject, subjects))
            .filter(g::status.ne(GovernanceStatus::Lifted.as_str()))
            .order((g::since, g::id))
            .select((g::subject, REASON));
        let mut decisions = HashMap::<_, Vec<_>>::new();
        for (subject, row) in on_backend!(conn, c => standing.load::<(String, ReasonRow)>(c))? {
            decisions.entry(subject).or_default().push(row.read()?);
        }
        Ok(Self(decisions))
    }

    /// Where somebody stands who is subject to the decisions on each of these.
    pub(crate) fn standing(&self, subjects: &[&str]) -> GovernanceStanding {
        let on = |subject: &&str| self.0.get(*subject).into_iter().flatten().cloned();
        GovernanceStanding(subjects.iter().flat_map(on).collect())
    }
}

const REASON: (g::kind, g::status, g::reason, g::since) = (g::kind, g::status, g::reason, g::since);

/// As [`REASON`] selects it.
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
