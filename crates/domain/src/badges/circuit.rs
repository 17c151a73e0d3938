//! Compliance circuits. A circuit is the set of checks that a jurisdiction requires. An API key passes a circuit if its
//! attestations (recorded results of checks) satisfy all required checks.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    time::Duration,
};

use schemars::JsonSchema;
use serde::Serialize;

use crate::{ApiKeyId, AttestationId, FormatError, Timestamp};

/// The name of a jurisdiction, such as `EU`: 2 to 16 characters of `A-Z 0-9 -`. Lower case is converted to upper case.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize)]
#[schemars(extend("pattern" = "^[A-Z0-9-]{2,16}$"))]
pub struct Jurisdiction(String);

impl Jurisdiction {
    /// Parses the name of a jurisdiction, in upper or lower case. `None` if the text is not a valid name.
    pub fn parse(text: &str) -> Option<Self> {
        let name = text.to_ascii_uppercase();
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        let is_name = (2..=16).contains(&name.len()) && name.bytes().all(allowed);
        is_name.then_some(Self(name))
    }

    /// Returns the name of the jurisdiction.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Jurisdiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of a compliance check, such as `identity_verified`: 1 to 64 characters of `a-z 0-9 _`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize)]
#[schemars(extend("pattern" = "^[a-z0-9_]{1,64}$"))]
pub struct CheckName(String);

impl CheckName {
    /// Parses the name of a check.
    pub fn parse(text: &str) -> Result<Self, FormatError> {
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        let is_name = (1..=64).contains(&text.len()) && text.bytes().all(allowed);
        let fault = FormatError("must have 1 to 64 of a-z, 0-9 and _");
        if is_name { Ok(Self(text.to_owned())) } else { Err(fault) }
    }

    /// Returns the name of the check.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An operator's statement that an API key passed or failed a check. A stored attestation is never changed: for each
/// key and check, only the newest attestation is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attestation {
    /// Public id of the attestation, with the prefix `att_`.
    pub id: AttestationId,
    /// The attested API key.
    pub api_key_id: ApiKeyId,
    /// The name of the check.
    pub check: CheckName,
    /// True if the key failed the check.
    pub failed: bool,
    /// End of the validity, exclusive. `None` if the attestation does not expire.
    pub valid_until: Option<Timestamp>,
    /// The operator who made the attestation.
    pub attester: String,
    /// Reason for the attestation, or the method of the check, in the operator's words.
    pub reason: String,
    /// Time at which the attestation was recorded.
    pub at: Timestamp,
}

/// The compliance circuits (sets of checks) of all jurisdictions, read from one circuits file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Circuits {
    /// Version of the circuits file. A badge with a jurisdiction records this version.
    pub version: u32,
    /// The circuit of each jurisdiction.
    pub circuits: BTreeMap<Jurisdiction, Circuit>,
}

/// The compliance circuit of one jurisdiction: its required and optional checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Circuit {
    /// The checks, in the order of the circuits file.
    pub checks: Vec<ComplianceCheck>,
}

/// One check of a compliance circuit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComplianceCheck {
    /// Name of the check.
    pub name: CheckName,
    /// Names of the attestations that satisfy the check. One valid attestation is enough. The default is the name of
    /// the check itself.
    pub any_of: Vec<CheckName>,
    /// Whether the circuit passes only if this check passes.
    pub required: bool,
    /// Maximum age of an attestation. `None` if an attestation of any age is accepted.
    pub valid_for: Option<Duration>,
}

/// The status of a compliance check for one API key, from best to worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckStatus {
    /// A valid attestation of success exists.
    Passed,
    /// An attestation of success exists, but is no longer valid.
    Expired,
    /// The newest attestation reports a failure.
    Failed,
    /// No attestation exists.
    Missing,
}

/// The result of one compliance check for one API key.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct CheckReport {
    /// Name of the check.
    pub name: CheckName,
    /// Status of the check for this key.
    pub status: CheckStatus,
    /// End of the attestation's validity, exclusive. Null if the attestation does not expire, or if the status is
    /// `failed` or `missing`.
    pub valid_until: Option<Timestamp>,
    /// Whether the circuit passes only if this check passes.
    pub required: bool,
    /// Names of the attestations that satisfy the check. One valid attestation is enough.
    pub any_of: Vec<CheckName>,
}

/// The result of a compliance circuit (a set of checks) for one API key.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct CircuitReport {
    /// The jurisdiction of the circuit.
    pub jurisdiction: Jurisdiction,
    /// True if all required checks passed.
    pub passed: bool,
    /// The results of all checks, in the order of the circuit.
    pub checks: Vec<CheckReport>,
}

impl Circuits {
    /// Returns the names of all jurisdictions with a circuit, separated by commas.
    pub fn jurisdiction_names(&self) -> String {
        let names: Vec<_> = self.circuits.keys().map(Jurisdiction::as_str).collect();
        names.join(", ")
    }

    /// Returns the names of all attestations that some circuit accepts, sorted and without duplicates.
    pub fn attestation_names(&self) -> Vec<CheckName> {
        let names = self.circuits.values().flat_map(Circuit::attestation_names);
        names.collect::<BTreeSet<_>>().into_iter().collect()
    }
}

impl Circuit {
    /// Returns the names of all attestations accepted by the checks of this circuit, sorted and without duplicates.
    pub fn attestation_names(&self) -> Vec<CheckName> {
        let names: BTreeSet<_> = self.checks.iter().flat_map(|check| &check.any_of).collect();
        names.into_iter().cloned().collect()
    }

    /// Evaluates the circuit for one API key at the time `now`. `newest` contains the newest attestation of this key
    /// for each check name.
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
    /// Evaluates each attestation that can satisfy this check, and returns the best status. If several attestations
    /// have the best status, reports the validity of the attestation that is valid longest.
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
