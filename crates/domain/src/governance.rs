//! Governance: what operators decided about a key, its account or its account's partner.

use serde::Serialize;

use crate::Timestamp;

/// What sort of decision it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GovernanceKind {
    /// By the council, on a key or an account.
    CouncilAction,
    /// Of the partner that the account belongs to.
    PartnerSuspension,
}

/// How far it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GovernanceStatus {
    /// In force: it blocks.
    Enforced,
    /// Over.
    Lifted,
    /// Announced; it does not block.
    Proposed,
}

/// One decision that has not been lifted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GovernanceReason {
    /// What sort of decision.
    pub kind: GovernanceKind,
    /// How far it has come.
    pub status: GovernanceStatus,
    /// Why, in the operator's words.
    pub reason: String,
    /// Since when it has this status.
    pub since: Timestamp,
}

/// Where a key stands with governance: every decision on it, its account and its partner.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Standing(pub Vec<GovernanceReason>);

impl Standing {
    /// Whether execution is blocked: only what is enforced blocks.
    pub fn is_blocked(&self) -> bool {
        self.0.iter().any(|reason| reason.status == GovernanceStatus::Enforced)
    }
}

impl GovernanceKind {
    /// The kind's name in JSON and SQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CouncilAction => "council_action",
            Self::PartnerSuspension => "partner_suspension",
        }
    }

    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::CouncilAction, Self::PartnerSuspension]
            .into_iter()
            .find(|kind| kind.as_str() == name)
    }
}

impl GovernanceStatus {
    /// The status's name in JSON and SQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Enforced => "enforced",
            Self::Lifted => "lifted",
            Self::Proposed => "proposed",
        }
    }

    /// The status of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Enforced, Self::Lifted, Self::Proposed]
            .into_iter()
            .find(|status| status.as_str() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_enforced_blocks() {
        let reason = |status| GovernanceReason {
            kind: GovernanceKind::CouncilAction,
            status,
            reason: "spam".to_owned(),
            since: Timestamp::from_millis(0),
        };
        assert!(!Standing::default().is_blocked());
        assert!(!Standing(vec![reason(GovernanceStatus::Proposed)]).is_blocked());
        let both =
            Standing(vec![reason(GovernanceStatus::Proposed), reason(GovernanceStatus::Enforced)]);
        assert!(both.is_blocked());
    }
}
