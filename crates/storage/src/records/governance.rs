//! Stores governance decisions, which can block a key, an account or a partner. Lifted decisions stay in the table as
//! history.

use std::collections::{BTreeSet, HashMap};

use diesel::{prelude::*, result::Error};
use sealpost_domain::{
    ApiKey, ApiKeyId, GovernanceDecision, GovernanceReason, GovernanceStanding, GovernanceStatus,
    GovernanceSubject, PartnerId, ports::StoreError,
};

use crate::{
    connection::{
        AnyConnection, on_backend,
        query_error::QueryError,
        transaction::{Reader, Transaction},
    },
    query::{any_of::any_of, row_types::columns_of},
    rows::{columns, policy::ReasonRow},
    schema::{accounts, governance as g},
};

impl Transaction {
    /// Inserts a new decision.
    pub fn insert_decision(&mut self, decision: &GovernanceDecision) -> Result<(), StoreError> {
        let insert = diesel::insert_into(g::table).values((
            g::id.eq(decision.id.to_string()),
            g::subject.eq(decision.subject.to_string()),
            g::kind.eq(decision.reason.kind.as_str()),
            g::status.eq(decision.reason.status.as_str()),
            g::reason.eq(&decision.reason.reason),
            g::since.eq(decision.reason.since.as_millis()),
            g::by.eq(&decision.by),
        ));
        self.execute(insert).map(drop)
    }

    /// Replaces the status, the reason, the time and the operator of a stored decision. Returns
    /// [`StoreError::Contended`] if another transaction has lifted the decision.
    pub fn update_decision(&mut self, decision: &GovernanceDecision) -> Result<(), StoreError> {
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
            _ => Err(QueryError::Contended(Error::NotFound)),
        })
    }

    /// Counts the accounts that are assigned to a partner.
    pub fn count_accounts_of(&mut self, partner: &PartnerId) -> Result<u64, StoreError> {
        let of_partner = accounts::table.filter(accounts::partner_id.eq(partner.as_str()));
        self.number(of_partner.count(), "number of accounts")
    }
}

impl Reader {
    /// Reads the open decisions on this key, account or partner. A decision is open until it is lifted. For a key,
    /// leaves out the decisions on its account and on the partner of the account.
    pub fn open_decisions(
        &mut self,
        subject: &GovernanceSubject,
    ) -> Result<Vec<GovernanceDecision>, StoreError> {
        let open = g::table
            .filter(g::subject.eq(subject.to_string()))
            .filter(g::status.ne(GovernanceStatus::Lifted.as_str()))
            .order((g::since, g::id))
            .select((g::id, columns_of::<ReasonRow>(), g::by));
        self.load(open, |(id, reason, by): (String, ReasonRow, String)| {
            let id = columns::id(&id, "decision")?;
            Ok(GovernanceDecision { id, subject: subject.clone(), reason: reason.read()?, by })
        })
    }

    /// Returns those of the given keys that an enforced decision blocks: a decision on the key, its account or the
    /// partner of the account.
    pub fn blocked_among(&mut self, keys: &[ApiKey]) -> Result<BTreeSet<ApiKeyId>, StoreError> {
        self.run(|conn| {
            let ids: BTreeSet<_> = keys.iter().map(|key| key.account_id.to_string()).collect();
            let partners = accounts::table
                .filter(any_of(accounts::id, ids))
                .select((accounts::id, accounts::partner_id));
            let partners: HashMap<_, _> =
                on_backend!(conn, c => partners.load::<(String, Option<String>)>(c))?
                    .into_iter()
                    .collect();
            let subjects_of = |key: &ApiKey| {
                let account = key.account_id.to_string();
                let partner = partners.get(&account).cloned().flatten();
                let subjects = [Some(key.id.to_string()), Some(account), partner];
                (key.id, subjects.into_iter().flatten().collect::<Vec<_>>())
            };
            let keys: Vec<_> = keys.iter().map(subjects_of).collect();
            let subjects = keys.iter().flat_map(|(_, subjects)| subjects).map(String::as_str);
            let decisions = OpenDecisions::on(conn, &subjects.collect())?;
            let is_blocked = |(_, subjects): &(ApiKeyId, Vec<String>)| {
                let subjects: Vec<_> = subjects.iter().map(String::as_str).collect();
                decisions.standing(&subjects).is_blocked()
            };
            Ok(keys.into_iter().filter(is_blocked).map(|(id, _)| id).collect())
        })
    }
}

/// Governance decisions that are not lifted, by their subject: a key, an account or a partner.
pub(crate) struct OpenDecisions(HashMap<String, Vec<GovernanceReason>>);

impl OpenDecisions {
    pub(crate) fn on(
        conn: &mut AnyConnection,
        subjects: &BTreeSet<&str>,
    ) -> Result<Self, QueryError> {
        let open = g::table
            .filter(any_of(g::subject, subjects.iter().copied()))
            .filter(g::status.ne(GovernanceStatus::Lifted.as_str()))
            .order((g::since, g::id))
            .select((g::subject, columns_of::<ReasonRow>()));
        let mut decisions = HashMap::<_, Vec<_>>::new();
        for (subject, row) in on_backend!(conn, c => open.load::<(String, ReasonRow)>(c))? {
            decisions.entry(subject).or_default().push(row.read()?);
        }
        Ok(Self(decisions))
    }

    /// Returns the governance state of a key: all open decisions on the given subjects, which are the key, its account
    /// and its partner.
    pub(crate) fn standing(&self, subjects: &[&str]) -> GovernanceStanding {
        let on = |subject: &&str| self.0.get(*subject).into_iter().flatten().cloned();
        GovernanceStanding(subjects.iter().flat_map(on).collect())
    }
}
