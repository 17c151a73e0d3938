//! Validate: how the caller's key stands to a jurisdiction's compliance circuit.

use std::sync::{Arc, PoisonError};

use schemars::JsonSchema;
use sealpost_domain::{
    ApiKeyId, CircuitReport, Circuits, Jurisdiction, Refusal, Timestamp,
    ports::{Durability, StoreError, Tx},
};
use serde::Serialize;

use crate::{
    Body, Credentials, Limited, Sealpost, admission::Act, explanation::Explanation, sealpost::Core,
};

/// What the caller wants to know.
#[derive(Debug, Clone, JsonSchema)]
pub struct Validate {
    /// Whose circuit.
    #[schemars(extend("pattern" = "^[A-Za-z0-9-]{2,16}$"))]
    pub jurisdiction: String,
    /// Whether a circuit that does not hold is an answer and no refusal.
    #[schemars(with = "Option<bool>")]
    pub dry_run: bool,
}

/// How the key stands.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Validated {
    /// The circuit and its checks.
    #[serde(flatten)]
    pub report: CircuitReport,
    /// Of a dry run, what would be refused.
    #[serde(flatten)]
    pub tried: Option<Tried>,
}

/// What validating would come to.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Tried {
    /// Always `true`.
    pub dry_run: bool,
    /// Everything that would be refused.
    pub refusals: Vec<Explanation>,
}

impl Sealpost {
    /// Holds the key's attestations against a circuit.
    pub fn validate(&self, credentials: &Credentials, body: &Body<Validate>) -> Limited<Validated> {
        let caller = match self.identify(credentials) {
            Ok(caller) => caller,
            Err(error) => return Limited::unasked(error),
        };
        self.admitted(&caller, Act::Manage, Durability::Relaxed, |tx, _| {
            let circuits = self.core.circuits();
            let asked = body.as_ref().map_err(Refusal::clone);
            let named = asked.and_then(|asked| Ok((asked, known(&circuits, &asked.jurisdiction)?)));
            let (asked, jurisdiction) = match named {
                Ok(named) => named,
                Err(fault) => return Ok(Err(fault)),
            };
            let now = self.core.clock.now();
            let report = stand(tx, &circuits, (&caller.key, &jurisdiction), now)?;
            Ok(answer(report, asked.dry_run))
        })
    }

    /// From now on these circuits count; gives back those that did until now.
    pub fn use_circuits(&self, circuits: Arc<Circuits>) -> Arc<Circuits> {
        let mut counting = self.core.circuits.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut counting, circuits)
    }
}

impl Core {
    pub(crate) fn circuits(&self) -> Arc<Circuits> {
        Arc::clone(&self.circuits.read().unwrap_or_else(PoisonError::into_inner))
    }
}

fn answer(report: CircuitReport, dry_run: bool) -> Result<Validated, Refusal> {
    if report.passed {
        let tried = dry_run.then(|| Tried { dry_run, refusals: Vec::new() });
        return Ok(Validated { report, tried });
    }
    let refusal = Refusal::ComplianceCircuitFailed(report.clone());
    if !dry_run {
        return Err(refusal);
    }
    let tried = Some(Tried { dry_run, refusals: vec![Explanation::of(&refusal)] });
    Ok(Validated { report, tried })
}

/// A jurisdiction that there is a circuit for.
pub(crate) fn known(circuits: &Circuits, text: &str) -> Result<Jurisdiction, Refusal> {
    let named = Jurisdiction::parse(text.trim());
    named.filter(|name| circuits.circuits.contains_key(name)).ok_or_else(|| Refusal::InvalidField {
        field: "jurisdiction",
        problem: format!("must be one of {}", circuits.jurisdiction_names()),
    })
}

/// How a key stands to a circuit that is known.
pub(crate) fn stand(
    tx: &mut dyn Tx,
    circuits: &Circuits,
    (key, jurisdiction): (&ApiKeyId, &Jurisdiction),
    now: Timestamp,
) -> Result<CircuitReport, StoreError> {
    let circuit = circuits.circuits.get(jurisdiction).ok_or(StoreError::Corrupt("circuit"))?;
    let newest = tx.newest_attestations(key, &circuit.attestation_names())?;
    Ok(circuit.evaluate(jurisdiction, &newest, now))
}
