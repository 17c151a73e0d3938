//! Governance: what operators decided about a key, its account or its account's partner.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use crate::{AccountId, ApiKeyId, DecisionId, Timestamp};

/// What sort of decision it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GovernanceKind {
    /// By the council, on a key or an account.
    CouncilAction,
    /// Of the partner that the account belongs to.
    PartnerSuspension,
}

/// How far it has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
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

/// Whom a decision is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// An account, and so each of its keys.
    Account(AccountId),
    /// One key.
    Key(ApiKeyId),
    /// A partner, and so each key of its accounts.
    Partner(PartnerId),
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Account(id) => id.fmt(f),
            Self::Key(id) => id.fmt(f),
            Self::Partner(id) => f.write_str(id.as_str()),
        }
    }
}

/// A decision as it is written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Its own name.
    pub id: DecisionId,
    /// Whom it is about.
    pub subject: Subject,
    /// What it says.
    pub reason: GovernanceReason,
    /// Who brought it to this status.
    pub by: String,
}

/// An operator's name for a partner: 1 to 64 of `a-z 0-9 . -`, starting with a letter or a digit. It can never be
/// mistaken for an id, which has an underscore.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PartnerId(String);

/// A text that names no partner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a partner's name has 1 to 64 of a-z, 0-9, . and -, and starts with a letter or a digit")]
pub struct PartnerFault;

impl PartnerId {
    /// Checks a name as an operator gave it.
    pub fn parse(text: &str) -> Result<Self, PartnerFault> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let allowed = |c: char| plain(c) || c == '.' || c == '-';
        let fits = (1..=64).contains(&text.len()) && text.starts_with(plain);
        if fits && text.chars().all(allowed) {
            Ok(Self(text.to_owned()))
        } else {
            Err(PartnerFault)
        }
    }

    /// The name's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
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
