//! Compliance circuits: which checks a jurisdiction asks for, and how a key's attestations stand to them.

use std::{collections::BTreeMap, fmt, time::Duration};

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use crate::{ApiKeyId, AttestationId, Timestamp};

/// A jurisdiction's name: 2 to 16 of `A-Z 0-9 -`. Lower case is raised.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(extend("pattern" = "^[A-Z0-9-]{2,16}$"))]
pub struct Jurisdiction(String);

impl Jurisdiction {
    /// Reads a name.
    pub fn parse(text: &str) -> Option<Self> {
        let name = text.to_ascii_uppercase();
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        let is_name = (2..=16).contains(&name.len()) && name.bytes().all(allowed);
        is_name.then_some(Self(name))
    }

    /// The name.
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

/// What is checked, such as `identity_verified`: 1 to 64 of `a-z 0-9 _`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(extend("pattern" = "^[a-z0-9_]{1,64}$"))]
pub struct CheckName(String);

/// A text that names no check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the name of a check is 1 to 64 of a-z, 0-9 and _")]
pub struct CheckNameFault;

impl CheckName {
    /// Reads a name.
    pub fn parse(text: &str) -> Result<Self, CheckNameFault> {
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let is_name = (1..=64).contains(&text.len()) && text.bytes().all(allowed);
        if is_name { Ok(Self(text.to_owned())) } else { Err(CheckNameFault) }
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Serialize for CheckName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// What an operator attests of a key. Never changed: a later one of the same check takes its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attestation {
    /// Its id.
    pub id: AttestationId,
    /// Whom it is about.
    pub api_key_id: ApiKeyId,
    /// What was checked.
    pub check: CheckName,
    /// Whether the check failed.
    pub failed: bool,
    /// From when on it no longer counts; never where there is none.
    pub valid_until: Option<Timestamp>,
    /// Who attests it.
    pub attester: String,
    /// Why, or how.
    pub reason: String,
    /// When it was written down.
    pub at: Timestamp,
}

/// The circuits of all jurisdictions, as one file gives them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Circuits {
    /// The file's version, which badges name.
    pub version: u32,
    /// By jurisdiction.
    pub circuits: BTreeMap<Jurisdiction, Circuit>,
}

/// What one jurisdiction asks for, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Circuit {
    /// The checks.
    pub checks: Vec<ComplianceCheck>,
}

/// One check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComplianceCheck {
    /// Its name.
    pub name: CheckName,
    /// The attestations any of which will do; its own name among them where the file says nothing else.
    pub any_of: Vec<CheckName>,
    /// Whether the circuit holds only with it.
    pub required: bool,
    /// How long an attestation counts at the most.
    pub valid_for: Option<Duration>,
}

/// How a check stands, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckStatus {
    /// An attestation counts.
    Passed,
    /// One did count.
    Expired,
    /// The newest says that the check failed.
    Failed,
    /// Nobody attested anything.
    Missing,
}

/// A check and how it stands.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct CheckReport {
    /// Its name.
    pub name: CheckName,
    /// How it stands.
    pub status: CheckStatus,
    /// Until when it counts, or counted; for ever where there is none and it passed.
    pub valid_until: Option<Timestamp>,
    /// Whether the circuit holds only with it.
    pub required: bool,
    /// The attestations any of which will do.
    pub any_of: Vec<CheckName>,
}

/// How a key stands to a circuit.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct CircuitReport {
    /// Whose circuit.
    pub jurisdiction: Jurisdiction,
    /// Whether every required check passed.
    pub passed: bool,
    /// Every check, in the circuit's order.
    pub checks: Vec<CheckReport>,
}

impl Circuits {
    /// The names of the jurisdictions, for people.
    pub fn jurisdiction_names(&self) -> String {
        let names: Vec<_> = self.circuits.keys().map(Jurisdiction::as_str).collect();
        names.join(", ")
    }
}

impl Circuit {
    /// Every attestation that it may look at.
    pub fn attestation_names(&self) -> Vec<CheckName> {
        let mut names: Vec<_> =
            self.checks.iter().flat_map(|check| &check.any_of).cloned().collect();
        names.sort();
        names.dedup();
        names
    }

    /// How a key stands at `now`, given the newest attestation of each check.
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
    /// The best of its alternatives; of equally good ones the one that counts longest.
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
#[path = "circuit_tests.rs"]
mod tests;
