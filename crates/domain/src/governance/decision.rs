//! Governance: decisions of operators on a key, its account or the account's partner.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    AccountId, ApiKeyId, BadgeId, DecisionId, EnvelopeId, RequestId, Timestamp, WebhookId,
};

/// The kind of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GovernanceKind {
    /// A council action: blocks one key, or all keys of one account.
    CouncilAction,
    /// A suspension of the account's partner: blocks all keys of the partner's accounts.
    PartnerSuspension,
}

/// The status of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GovernanceStatus {
    /// In force. The decision blocks sends and opens.
    Enforced,
    /// No longer in force.
    Lifted,
    /// Announced. The decision does not block anything yet.
    Proposed,
}

/// One decision that is not lifted, as the owner sees it.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct GovernanceReason {
    /// Kind of the decision.
    pub kind: GovernanceKind,
    /// Status of the decision.
    pub status: GovernanceStatus,
    /// Reason, in the operator's words.
    pub reason: String,
    /// Time of the last status change.
    pub since: Timestamp,
}

/// The subject of a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GovernanceSubject {
    /// An account, including all its keys.
    Account(AccountId),
    /// One key.
    Key(ApiKeyId),
    /// A partner, including all keys of its accounts.
    Partner(PartnerId),
}

impl fmt::Display for GovernanceSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Account(id) => id.fmt(f),
            Self::Key(id) => id.fmt(f),
            Self::Partner(id) => f.write_str(id.as_str()),
        }
    }
}

/// A stored decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GovernanceDecision {
    /// Public id, prefix `gov_`.
    pub id: DecisionId,
    /// The affected key, account or partner.
    pub subject: GovernanceSubject,
    /// Kind, status, reason and time.
    pub reason: GovernanceReason,
    /// The operator of the last status change.
    pub by: String,
}

/// An operator's name for a partner: 1 to 64 of `A-Z a-z 0-9 . - _`, starting with a letter or a digit, case-sensitive.
///
/// Must not start with the prefix of an account, key, badge, envelope, request or webhook id, in any case. Decisions
/// are looked up by the text of their subject, so a name must not look like an id.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PartnerId(String);

/// The text is not a partner name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a partner's name must have 1 to 64 of A-Z, a-z, 0-9, ., - and _, start with a letter or a \
     digit, and not start like an id, such as ak_ or acct_"
)]
pub struct PartnerFault;

impl PartnerId {
    /// Parses a name.
    pub fn parse(text: &str) -> Result<Self, PartnerFault> {
        let plain = |c: char| c.is_ascii_alphanumeric();
        let allowed = |c: char| plain(c) || matches!(c, '.' | '-' | '_');
        let fits = (1..=64).contains(&text.len()) && text.starts_with(plain);
        let lowered = text.to_ascii_lowercase();
        let is_like_an_id = ID_PREFIXES.iter().any(|prefix| lowered.starts_with(prefix));
        if fits && text.chars().all(allowed) && !is_like_an_id {
            Ok(Self(text.to_owned()))
        } else {
            Err(PartnerFault)
        }
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// All decisions on a key, its account and its partner that are not lifted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GovernanceStanding(pub Vec<GovernanceReason>);

impl GovernanceStanding {
    /// Returns whether the key is blocked. Only enforced decisions block.
    pub fn is_blocked(&self) -> bool {
        self.0.iter().any(|reason| reason.status == GovernanceStatus::Enforced)
    }
}

impl GovernanceKind {
    /// Returns the name used in JSON and SQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::CouncilAction => "council_action",
            Self::PartnerSuspension => "partner_suspension",
        }
    }

    /// Parses the name used in JSON and SQL.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::CouncilAction, Self::PartnerSuspension]
            .into_iter()
            .find(|kind| kind.as_str() == name)
    }
}

impl GovernanceStatus {
    /// Returns the name used in JSON and SQL.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Enforced => "enforced",
            Self::Lifted => "lifted",
            Self::Proposed => "proposed",
        }
    }

    /// Parses the name used in JSON and SQL.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Enforced, Self::Lifted, Self::Proposed]
            .into_iter()
            .find(|status| status.as_str() == name)
    }
}

/// Prefixes that a partner's name must not start with.
const ID_PREFIXES: [&str; 6] = [
    AccountId::PREFIX,
    ApiKeyId::PREFIX,
    BadgeId::PREFIX,
    EnvelopeId::PREFIX,
    RequestId::PREFIX,
    WebhookId::PREFIX,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partner_name_never_looks_like_an_id() {
        for name in ["a", "7", "acme", "ACME_Corp", "acme_", "a-b.c_d", "GOV_UK", &"x".repeat(64)] {
            assert_eq!(PartnerId::parse(name).unwrap().as_str(), name);
        }
        assert_ne!(PartnerId::parse("Acme"), PartnerId::parse("acme"), "its case matters");
        let (account, key) = (
            AccountId::new(Timestamp::from_millis(0), [0; 10]).to_string(),
            ApiKeyId::new(Timestamp::from_millis(0), [0; 10]).to_string(),
        );
        for name in [
            "",
            "_acme",
            "-acme",
            ".acme",
            "acme corp",
            "acme/x",
            "acme:x",
            "acmé",
            "acme\n",
            &"x".repeat(65),
            &account,
            &key,
            &key.to_uppercase(),
            "ak_",
            "Acct_x",
            "env_x",
        ] {
            assert_eq!(PartnerId::parse(name), Err(PartnerFault), "{name:?}");
        }
    }

    #[test]
    fn only_enforced_decisions_block() {
        let reason = |status| GovernanceReason {
            kind: GovernanceKind::CouncilAction,
            status,
            reason: "spam".to_owned(),
            since: Timestamp::from_millis(0),
        };
        assert!(!GovernanceStanding::default().is_blocked());
        assert!(!GovernanceStanding(vec![reason(GovernanceStatus::Proposed)]).is_blocked());
        let both = GovernanceStanding(vec![
            reason(GovernanceStatus::Proposed),
            reason(GovernanceStatus::Enforced),
        ]);
        assert!(both.is_blocked());
    }
}
