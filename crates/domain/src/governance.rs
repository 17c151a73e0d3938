//! Governance: what operators decided about a key, its account or its account's partner.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    AccountId, ApiKeyId, BadgeId, DecisionId, EnvelopeId, RequestId, Timestamp, WebhookId,
};

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
pub enum GovernanceSubject {
    /// An account, and so each of its keys.
    Account(AccountId),
    /// One key.
    Key(ApiKeyId),
    /// A partner, and so each key of its accounts.
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

/// A decision as it is written down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GovernanceDecision {
    /// Its own name.
    pub id: DecisionId,
    /// Whom it is about.
    pub subject: GovernanceSubject,
    /// What it says.
    pub reason: GovernanceReason,
    /// Who brought it to this status.
    pub by: String,
}

/// An operator's name for a partner: 1 to 64 of `A-Z a-z 0-9 . - _`, starting with a letter or a digit. Its case matters.
/// Decisions are found by the text of their subject alone, so it can never be mistaken for an id: it does not begin as
/// one does, in whatever case.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PartnerId(String);

/// A text that names no partner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a partner's name has 1 to 64 of A-Z, a-z, 0-9, ., - and _, starts with a letter or a digit, and not as an id does, \
     such as ak_ or acct_"
)]
pub struct PartnerFault;

impl PartnerId {
    /// Checks a name as an operator gave it.
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

    /// The name's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Where a key stands with governance: every decision on it, its account and its partner.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GovernanceStanding(pub Vec<GovernanceReason>);

impl GovernanceStanding {
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

/// Of the ids that people meet.
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
    fn a_partner_has_a_name_that_is_no_id() {
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
    fn only_what_is_enforced_blocks() {
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
