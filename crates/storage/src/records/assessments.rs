//! Stores assessments (scores) and attestations (results of checks) of API keys. Database triggers keep both tables
//! append-only.

use std::collections::BTreeMap;

use diesel::{dsl::max, prelude::*};
use sealpost_domain::{
    ApiKeyId, Assessment, AssessmentMetrics, Attestation, CheckName, Score, Timestamp,
    ports::StoreError,
};

use crate::{
    connection::{
        query_error::QueryError,
        transaction::{Reader, Transaction},
    },
    rows::columns,
    schema::{assessments as s, attestations as t},
};

impl Transaction {
    /// Inserts an assessment, and returns its stored time. This is at least 1 ms after the key's newest assessment, so
    /// that the new assessment becomes the newest even if the clock of this node is behind.
    pub fn insert_assessment(&mut self, assessment: &Assessment) -> Result<Timestamp, StoreError> {
        let key = assessment.api_key_id.to_string();
        let newest = s::table.filter(s::api_key_id.eq(key)).select(max(s::at));
        self.run(|conn| {
            let mut row = AssessmentRow::new(assessment)?;
            row.at = later_than(newest.first(conn)?, row.at);
            let at = Timestamp::from_millis(row.at);
            diesel::insert_into(s::table).values(row).execute(conn)?;
            Ok(at)
        })
    }

    /// Reads the newest assessment of a key. `None` if the key was never assessed.
    pub fn newest_assessment(&mut self, key: &ApiKeyId) -> Result<Option<Assessment>, StoreError> {
        let newest =
            s::table.filter(s::api_key_id.eq(key.to_string())).order((s::at.desc(), s::id.desc()));
        self.first(newest, AssessmentRow::read)
    }

    /// Inserts an attestation, and returns its stored time. This is at least 1 ms after the key's newest attestation of
    /// the same check, so that the new attestation becomes the newest even if the clock of this node is behind.
    pub fn insert_attestation(
        &mut self,
        attestation: &Attestation,
    ) -> Result<Timestamp, StoreError> {
        let mut row = AttestationRow::new(attestation);
        let newest = t::table
            .filter(t::api_key_id.eq(row.api_key_id.clone()))
            .filter(t::name.eq(row.name.clone()))
            .select(max(t::at));
        self.run(|conn| {
            row.at = later_than(newest.first(conn)?, row.at);
            let at = Timestamp::from_millis(row.at);
            diesel::insert_into(t::table).values(row).execute(conn)?;
            Ok(at)
        })
    }

    /// Reads the key's newest attestation for each of the checks. The map has no entry for a check without attestation.
    pub fn newest_attestations(
        &mut self,
        key: &ApiKeyId,
        checks: &[CheckName],
    ) -> Result<BTreeMap<CheckName, Attestation>, StoreError> {
        let key = key.to_string();
        self.run(|conn| {
            let mut newest = BTreeMap::new();
            // Each check has its own query, which uses the index. The cost does not grow with the number of
            // attestations.
            for check in checks {
                let row = t::table
                    .filter(t::api_key_id.eq(&key))
                    .filter(t::name.eq(check.as_str()))
                    .order((t::at.desc(), t::id.desc()))
                    .first::<AttestationRow>(conn)
                    .optional()?;
                if let Some(row) = row {
                    newest.insert(check.clone(), row.read()?);
                }
            }
            Ok(newest)
        })
    }
}

impl Reader {
    /// Lists up to `limit` assessments of a key, newest first.
    pub fn assessments_of(
        &mut self,
        key: &ApiKeyId,
        limit: u32,
    ) -> Result<Vec<Assessment>, StoreError> {
        let newest = s::table
            .filter(s::api_key_id.eq(key.to_string()))
            .order((s::at.desc(), s::id.desc()))
            .limit(limit.into());
        self.load(newest, AssessmentRow::read)
    }

    /// Lists up to `limit` attestations of a key, newest first.
    pub fn attestations_of(
        &mut self,
        key: &ApiKeyId,
        limit: u32,
    ) -> Result<Vec<Attestation>, StoreError> {
        let newest = t::table
            .filter(t::api_key_id.eq(key.to_string()))
            .order((t::at.desc(), t::id.desc()))
            .limit(limit.into());
        self.load(newest, AttestationRow::read)
    }
}

/// Returns `at`, but at least the time 1 ms after `newest`.
fn later_than(newest: Option<i64>, at: i64) -> i64 {
    newest.map_or(at, |newest| at.max(newest.saturating_add(1)))
}

/// A row of the table `assessments`.
#[derive(Debug, Insertable, Queryable)]
#[diesel(table_name = s)]
pub(crate) struct AssessmentRow {
    id: String,
    api_key_id: String,
    clarity: i64,
    coherence: i64,
    confidence: i64,
    drift: i64,
    assessor: String,
    reason: String,
    at: i64,
}

impl AssessmentRow {
    fn new(assessment: &Assessment) -> Result<Self, QueryError> {
        let units = |score: Score| columns::number(score.units(), ROW);
        let metrics = &assessment.metrics;
        Ok(Self {
            id: assessment.id.to_string(),
            api_key_id: assessment.api_key_id.to_string(),
            clarity: units(metrics.clarity)?,
            coherence: units(metrics.coherence)?,
            confidence: units(metrics.confidence)?,
            drift: units(metrics.drift)?,
            assessor: assessment.assessor.clone(),
            reason: assessment.reason.clone(),
            at: assessment.at.as_millis(),
        })
    }

    pub(crate) fn read(self) -> Result<Assessment, QueryError> {
        let score = |units: i64| {
            Score::from_units(columns::number(units, ROW)?).ok_or(QueryError::Corrupt(ROW))
        };
        Ok(Assessment {
            id: columns::id(&self.id, ROW)?,
            api_key_id: columns::id(&self.api_key_id, ROW)?,
            metrics: AssessmentMetrics {
                clarity: score(self.clarity)?,
                coherence: score(self.coherence)?,
                confidence: score(self.confidence)?,
                drift: score(self.drift)?,
            },
            assessor: self.assessor,
            reason: self.reason,
            at: Timestamp::from_millis(self.at),
        })
    }
}

/// A row of the table `attestations`.
#[derive(Debug, Insertable, Queryable)]
#[diesel(table_name = t)]
struct AttestationRow {
    id: String,
    api_key_id: String,
    name: String,
    failed: bool,
    valid_until: Option<i64>,
    attester: String,
    reason: String,
    at: i64,
}

impl AttestationRow {
    fn new(attestation: &Attestation) -> Self {
        Self {
            id: attestation.id.to_string(),
            api_key_id: attestation.api_key_id.to_string(),
            name: attestation.check.as_str().to_owned(),
            failed: attestation.failed,
            valid_until: attestation.valid_until.map(Timestamp::as_millis),
            attester: attestation.attester.clone(),
            reason: attestation.reason.clone(),
            at: attestation.at.as_millis(),
        }
    }

    fn read(self) -> Result<Attestation, QueryError> {
        Ok(Attestation {
            id: columns::id(&self.id, "attestation")?,
            api_key_id: columns::id(&self.api_key_id, "attestation")?,
            check: CheckName::parse(&self.name).ok().ok_or(QueryError::Corrupt("attestation"))?,
            failed: self.failed,
            valid_until: columns::instant(self.valid_until),
            attester: self.attester,
            reason: self.reason,
            at: Timestamp::from_millis(self.at),
        })
    }
}

const ROW: &str = "assessment";
