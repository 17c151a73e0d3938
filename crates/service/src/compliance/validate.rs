//! Checks the caller's API key against the compliance circuit (set of checks) of a jurisdiction.

use schemars::JsonSchema;
use sealpost_domain::{
    ApiKeyId, CheckName, CheckReport, CircuitReport, Circuits, Code, Jurisdiction, Refusal,
    Timestamp, UnmetThreshold,
    ports::{Durability, StoreError},
};
use sealpost_storage::Transaction;
use serde::Serialize;

use crate::{
    badges::Badges,
    caller::{
        admission::{Limited, Purpose},
        credentials::Caller,
    },
};

/// The jurisdiction to check, and the form of the response.
#[derive(Debug, Clone)]
pub struct Validate {
    /// The jurisdiction whose checks are evaluated.
    pub jurisdiction: String,
    /// If true, a check that has not passed is reported in a successful response, instead of a refusal.
    pub dry_run: bool,
}

/// The result of all checks of a jurisdiction.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Validated {
    /// The result of each check.
    #[serde(flatten)]
    pub report: CircuitReport,
    /// The refusals that the same request without `dry_run` could return. `None` unless this request is a dry run.
    #[serde(flatten)]
    pub tried: Option<Tried>,
}

/// The refusals that a dry run reports.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Tried {
    /// Always `true`.
    pub dry_run: bool,
    /// All refusals that the same request without `dry_run` could return.
    pub refusals: Vec<Explanation>,
}

impl Badges {
    /// Evaluates the checks of a jurisdiction with the newest [attestations](sealpost_domain::Attestation) (results of
    /// checks that operators recorded) of the caller's key. Refuses the request if a required check has not passed. A
    /// dry run is not refused, and only reports the result.
    pub async fn validate(&self, caller: &Caller, validate: Validate) -> Limited<Validated> {
        let validate =
            move |badges: &Self, caller: &Caller| badges.validate_blocking(caller, &validate);
        self.core.run_as(self, caller, validate).await
    }

    /// Returns the names of the [attestations](sealpost_domain::Attestation) (recorded results of checks) that the
    /// circuits of all jurisdictions accept, sorted.
    pub fn known_checks(&self) -> Vec<CheckName> {
        self.circuits().attestation_names()
    }

    /// Refuses a name of a jurisdiction for which no checks are defined.
    pub fn check_jurisdiction(&self, text: &str) -> Result<(), Refusal> {
        parse_jurisdiction(&self.circuits(), text).map(drop)
    }

    fn validate_blocking(&self, caller: &Caller, validate: &Validate) -> Limited<Validated> {
        self.core.admitted(caller, Purpose::Manage, Durability::Relaxed, |tx, _| {
            let circuits = self.circuits();
            let jurisdiction = parse_jurisdiction(&circuits, &validate.jurisdiction)?;
            let subject = (&caller.id.key, &jurisdiction);
            let report = evaluate(tx, &circuits, subject, self.core.clock.now())?;
            Ok(respond(report, validate.dry_run)?)
        })
    }
}

fn respond(report: CircuitReport, dry_run: bool) -> Result<Validated, Refusal> {
    if report.passed {
        let tried = dry_run.then(|| Tried { dry_run, refusals: Vec::new() });
        return Ok(Validated { report, tried });
    }
    let refusal = Refusal::ComplianceCircuitFailed(report.clone());
    if !dry_run {
        return Err(refusal);
    }
    let tried = Some(Tried { dry_run, refusals: vec![Explanation::new(&refusal)] });
    Ok(Validated { report, tried })
}

/// Parses the name of a jurisdiction. Refuses a name for which no checks are defined.
pub(crate) fn parse_jurisdiction(circuits: &Circuits, text: &str) -> Result<Jurisdiction, Refusal> {
    let named = Jurisdiction::parse(text.trim());
    named.filter(|name| circuits.circuits.contains_key(name)).ok_or_else(|| Refusal::InvalidField {
        field: "jurisdiction",
        problem: format!("must be one of {}", circuits.jurisdiction_names()),
    })
}

/// Evaluates the checks of a jurisdiction with the newest [attestations](sealpost_domain::Attestation) of a key. Fails
/// if the circuits lack the jurisdiction.
pub(crate) fn evaluate(
    tx: &mut Transaction,
    circuits: &Circuits,
    (key, jurisdiction): (&ApiKeyId, &Jurisdiction),
    now: Timestamp,
) -> Result<CircuitReport, StoreError> {
    let circuit = circuits.circuits.get(jurisdiction).ok_or(StoreError::Corrupt("circuit"))?;
    let newest = tx.newest_attestations(key, &circuit.attestation_names())?;
    Ok(circuit.evaluate(jurisdiction, &newest, now))
}

/// A refusal as JSON: the members of an error response that explain the reason.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct Explanation {
    /// The error code.
    pub code: Code,
    /// The reason, and advice for the caller.
    pub detail: String,
    /// Further members, which depend on the error code.
    #[serde(flatten)]
    pub members: Members,
}

/// The members of an error response that only some error codes have.
#[derive(Debug, Clone, Default, JsonSchema, Serialize)]
pub struct Members {
    /// The metrics that miss their threshold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unmet: Option<Vec<UnmetThreshold>>,
    /// The jurisdiction whose compliance checks did not pass.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jurisdiction: Option<Jurisdiction>,
    /// The compliance checks of the jurisdiction, with their results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checks: Option<Vec<CheckReport>>,
}

impl Explanation {
    pub(crate) fn new(refusal: &Refusal) -> Self {
        Self { code: refusal.code(), detail: refusal.to_string(), members: Members::new(refusal) }
    }
}

impl Members {
    /// Returns the members that describe a refusal in its error response.
    pub fn new(refusal: &Refusal) -> Self {
        let circuit = refusal.circuit();
        Self {
            unmet: refusal.unmet().map(<[_]>::to_vec),
            jurisdiction: circuit.map(|report| report.jurisdiction.clone()),
            checks: circuit.map(|report| report.checks.clone()),
        }
    }
}
