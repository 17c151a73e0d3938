//! Compliance circuits: the checks that a jurisdiction requires, and their evaluation against the
//! attestations of a key.

use std::{collections::BTreeMap, fmt, time::Duration};

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::{ApiKeyId, AttestationId, Timestamp};

/// The name of a jurisdiction: 2 to 16 of `A-Z 0-9 -`. Lower case is converted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(extend("pattern" = "^[A-Z0-9-]{2,16}$"))]
pub struct Jurisdiction(String);

impl Jurisdiction {
    /// Parses a name; `None` if the text is not a name.
    pub fn parse(text: &str) -> Option<Self> {
        let name = text.to_ascii_uppercase();
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        let is_name = (2..=16).contains(&name.len()) && name.bytes().all(allowed);
        is_name.then_some(Self(name))
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Jurisdiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Jurisdiction {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// The name of a check, such as `identity_verified`: 1 to 64 of `a-z 0-9 _`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(extend("pattern" = "^[a-z0-9_]{1,64}$"))]
pub struct CheckName(String);

/// The text is not a check name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the name of a check must have 1 to 64 of a-z, 0-9 and _")]
pub struct CheckNameFault;

impl CheckName {
    /// Parses a name.
    pub fn parse(text: &str) -> Result<Self, CheckNameFault> {
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let is_name = (1..=64).contains(&text.len()) && text.bytes().all(allowed);
        if is_name { Ok(Self(text.to_owned())) } else { Err(CheckNameFault) }
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Serialize for CheckName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// An operator's attestation that a key passed or failed a check. Rows are immutable: a later
/// attestation of the same check replaces an earlier one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attestation {
    /// Public id, prefix `att_`.
    pub id: AttestationId,
    /// The attested key.
    pub api_key_id: ApiKeyId,
    /// The name of the check.
    pub check: CheckName,
    /// Whether the check failed.
    pub failed: bool,
    /// End of validity, exclusive; `None` means unlimited.
    pub valid_until: Option<Timestamp>,
    /// The operator who attests.
    pub attester: String,
    /// Reason or method, in the operator's words.
    pub reason: String,
    /// Time at which the attestation was recorded.
    pub at: Timestamp,
}

/// The compliance circuits of all jurisdictions, as one circuits file defines them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Circuits {
    /// Version of the circuits file. Each badge records the version that it was checked against.
    pub version: u32,
    /// The circuits by jurisdiction.
    pub circuits: BTreeMap<Jurisdiction, Circuit>,
}

/// The compliance circuit of one jurisdiction: its required and optional checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Circuit {
    /// The checks, in the order of the file.
    pub checks: Vec<ComplianceCheck>,
}

/// One check of a circuit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComplianceCheck {
    /// Name of the check.
    pub name: CheckName,
    /// Names of the attestations that satisfy the check; one of them suffices. Defaults to the name of the check.
    pub any_of: Vec<CheckName>,
    /// Whether the circuit passes only if this check passes.
    pub required: bool,
    /// Maximum age of an attestation; `None` means unlimited.
    pub valid_for: Option<Duration>,
}

/// The status of a check, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckStatus {
    /// A valid attestation exists.
    Passed,
    /// The attestation is no longer valid.
    Expired,
    /// The newest attestation reports a failure.
    Failed,
    /// No attestation exists.
    Missing,
}

/// The result of one check.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct CheckReport {
    /// Name of the check.
    pub name: CheckName,
    /// Status of the check.
    pub status: CheckStatus,
    /// End of validity of the attestation; `None` with status `passed` means unlimited.
    pub valid_until: Option<Timestamp>,
    /// Whether the circuit passes only if this check passes.
    pub required: bool,
    /// Names of the attestations that satisfy the check; one of them suffices.
    pub any_of: Vec<CheckName>,
}

/// The result of a circuit for one key.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct CircuitReport {
    /// The jurisdiction of the circuit.
    pub jurisdiction: Jurisdiction,
    /// Whether every required check passed.
    pub passed: bool,
    /// Every check, in the order of the circuit.
    pub checks: Vec<CheckReport>,
}

impl Circuits {
    /// Returns the names of all jurisdictions, separated by commas.
    pub fn jurisdiction_names(&self) -> String {
        let names: Vec<_> = self.circuits.keys().map(Jurisdiction::as_str).collect();
        names.join(", ")
    }
}

impl Circuit {
    /// Returns the names of all attestations that the checks accept, sorted.
    pub fn attestation_names(&self) -> Vec<CheckName> {
        let mut names: Vec<_> =
            self.checks.iter().flat_map(|check| &check.any_of).cloned().collect();
        names.sort();
        names.dedup();
        names
    }

    /// Evaluates the circuit at `now` against the newest attestation of each name.
    pub fn evaluate(
        &self,
        jurisdiction: &Jurisdiction,
        newest: &BTreeMap<CheckName, Attestation>,
        now: Timestamp,
    ) -> CircuitReport {
        let checks: Vec<_> = self.checks.iter().map(|check| check.report(newest, now)).collect();
        let holds = |check: &CheckReport| !check.required || check.status == CheckStatus::Passed;
        let passed = checks.iter().all(holds);
        CircuitReport { jurisdiction: jurisdiction.clone(), passed, checks }
    }
}

impl ComplianceCheck {
    /// Evaluates every attestation that satisfies the check, and reports the best status. Among attestations with the
    /// same status, reports the one that is valid longest.
    fn report(&self, newest: &BTreeMap<CheckName, Attestation>, now: Timestamp) -> CheckReport {
        let found = self.any_of.iter().map(|name| self.standing(newest.get(name), now));
        let longest = |until: Option<Timestamp>| until.map_or(i64::MAX, Timestamp::as_millis);
        let best = found.min_by(|a, b| a.0.cmp(&b.0).then(longest(b.1).cmp(&longest(a.1))));
        let (status, valid_until) = best.unwrap_or((CheckStatus::Missing, None));
        CheckReport {
            name: self.name.clone(),
            status,
            valid_until,
            required: self.required,
            any_of: self.any_of.clone(),
        }
    }

    fn standing(
        &self,
        attestation: Option<&Attestation>,
        now: Timestamp,
    ) -> (CheckStatus, Option<Timestamp>) {
        let Some(attestation) = attestation else { return (CheckStatus::Missing, None) };
        if attestation.failed {
            return (CheckStatus::Failed, None);
        }
        let by_circuit = self.valid_for.map(|span| attestation.at.plus(span));
        let until = [by_circuit, attestation.valid_until].into_iter().flatten().min();
        match until {
            Some(end) if end <= now => (CheckStatus::Expired, until),
            _ => (CheckStatus::Passed, until),
        }
    }
}

#[cfg(test)]
mod tests;
