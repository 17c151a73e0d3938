//! Governance: decisions of operators to block a key, all keys of an account, or all keys of a partner's accounts. Also
//! the audit trail of all changes by operators.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    AccountId, ApiKeyId, BadgeId, DecisionId, EnvelopeId, FormatError, RequestId, Timestamp,
    WebhookId, named_enum::named_enum,
};

named_enum! {
    /// The kind of a governance decision.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum GovernanceKind {
        /// A council action: an operator's decision that blocks one API key, or all API keys of one account.
        CouncilAction = "council_action",
        /// A suspension of a partner. Blocks all API keys of the partner's accounts.
        PartnerSuspension = "partner_suspension",
    }
}

named_enum! {
    /// The status of a governance decision.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum GovernanceStatus {
        /// In force: blocks all affected keys.
        Enforced = "enforced",
        /// No longer in force: the decision blocks nothing.
        Lifted = "lifted",
        /// Announced: the decision blocks nothing yet.
        Proposed = "proposed",
    }
}

/// A proposed or enforced governance decision (a block by an operator), as shown to the owner of the API key.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct GovernanceReason {
    /// Kind of the decision.
    pub kind: GovernanceKind,
    /// Status of the decision: `enforced` blocks the key, `proposed` only announces the block.
    pub status: GovernanceStatus,
    /// Reason for the decision, in the operator's words.
    pub reason: String,
    /// Time of the last status change.
    pub since: Timestamp,
}

/// The target of a governance decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GovernanceSubject {
    /// An account. The decision affects all its keys.
    Account(AccountId),
    /// One API key.
    Key(ApiKeyId),
    /// A partner. Operators assign accounts to partners, and the decision affects all keys of these accounts.
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

/// A governance decision, as stored in the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GovernanceDecision {
    /// Public id of the decision, with the prefix `gov_`.
    pub id: DecisionId,
    /// The affected key, account or partner.
    pub subject: GovernanceSubject,
    /// Kind and status of the decision, its reason, and the time of the last status change.
    pub reason: GovernanceReason,
    /// The operator who made the last status change.
    pub by: String,
}

/// An operator's name for a partner, a group of accounts that can be suspended together. The name has 1 to 64
/// characters of `A-Z a-z 0-9 . - _`, starts with a letter or a digit, and is case-sensitive.
///
/// The name must not start like the id of an account, key, badge, envelope, request or webhook, in upper or lower case.
/// The database stores the target of a governance decision as text, so a partner must not look like an id.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PartnerId(String);

impl PartnerId {
    /// Parses the name of a partner.
    pub fn parse(text: &str) -> Result<Self, FormatError> {
        let plain = |c: char| c.is_ascii_alphanumeric();
        let allowed = |c: char| plain(c) || matches!(c, '.' | '-' | '_');
        let fits = (1..=64).contains(&text.len()) && text.starts_with(plain);
        let lowered = text.to_ascii_lowercase();
        let is_like_an_id = ID_PREFIXES.iter().any(|prefix| lowered.starts_with(prefix));
        if fits && text.chars().all(allowed) && !is_like_an_id {
            Ok(Self(text.to_owned()))
        } else {
            Err(PARTNER_FAULT)
        }
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The proposed and enforced governance decisions (blocks by operators) that apply to one API key. Includes the
/// decisions on its account and on the partner of the account.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GovernanceStanding(pub Vec<GovernanceReason>);

impl GovernanceStanding {
    /// Returns true if a decision blocks the key. Only enforced decisions block.
    pub fn is_blocked(&self) -> bool {
        self.0.iter().any(|reason| reason.status == GovernanceStatus::Enforced)
    }
}

const PARTNER_FAULT: FormatError = FormatError(
    "must have 1 to 64 of A-Z, a-z, 0-9, ., - and _, start with a letter or a digit, and not start like an id, such as \
     ak_ or acct_",
);
/// Prefixes of ids. A partner name must not start with any of them.
const ID_PREFIXES: [&str; 6] = [
    AccountId::PREFIX,
    ApiKeyId::PREFIX,
    BadgeId::PREFIX,
    EnvelopeId::PREFIX,
    RequestId::PREFIX,
    WebhookId::PREFIX,
];

/// A change by an operator, before it is appended to the audit trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdminAction {
    /// The operator who made the change, such as `operator:root`.
    pub actor: String,
    /// The kind of change, such as `key.revoke`.
    pub action: String,
    /// The changed object, such as the id of a key or an account.
    pub subject: String,
    /// Further details of the change, as one line of JSON without secrets.
    pub detail: String,
}

/// One entry of the audit trail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    /// Sequence number of the entry, from 1 and without gaps.
    pub number: u64,
    /// Time at which the entry was appended.
    pub at: Timestamp,
    /// The recorded change.
    pub admin_action: AdminAction,
    /// Hash of the previous entry. All zeros in the first entry.
    pub previous: AuditHash,
    /// SHA-256 over the number, the time, the change and the previous hash.
    pub hash: AuditHash,
}

/// The SHA-256 hash of an entry in the audit trail.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AuditHash(pub [u8; 32]);

impl AuditHash {
    /// The value of `previous` in the first entry: all zeros.
    pub const NONE: Self = Self([0; 32]);
}

impl fmt::Display for AuditHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for AuditHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

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
            assert_eq!(PartnerId::parse(name), Err(PARTNER_FAULT), "{name:?}");
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
