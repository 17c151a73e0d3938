//! Governance decisions: council actions on keys and accounts, and suspensions of partners. A partner is a group of
//! accounts.

use schemars::JsonSchema;
use sealpost_domain::{
    AccountId, DecisionId, GovernanceDecision, GovernanceKind, GovernanceReason, GovernanceStatus,
    GovernanceSubject, PartnerId, Timestamp,
};
use sealpost_storage::{Abort, Transaction};
use sealpost_wallet::random;
use serde::Serialize;
use serde_json::json;

use super::lists::NO_OPEN_ACCOUNT;
use crate::acts::audited::{ActionRecord, Concerned, Operator, OperatorError};

/// A governance decision, as operators see it.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct DecisionView {
    /// The key, account or partner that the decision concerns.
    pub subject: String,
    /// Kind, status and reason of the decision.
    #[serde(flatten)]
    pub decision: GovernanceReason,
    /// The operator who made the last change.
    pub by: String,
}

/// An account and the partner that it was assigned to.
#[derive(Debug, Clone, JsonSchema, Serialize)]
pub struct PartnerAssigned {
    /// Id of the account.
    pub account_id: AccountId,
    /// Name of the partner.
    pub partner: String,
}

impl Operator {
    /// Proposes a council action, a decision against a key or an account. A proposed action blocks nothing. Fails if
    /// the key or account does not exist, or if an action against it is already proposed or enforced.
    pub fn propose(
        &self,
        subject: GovernanceSubject,
        reason: &str,
    ) -> Result<DecisionView, OperatorError> {
        self.decide(subject, GovernanceStatus::Proposed, reason, "governance.propose")
    }

    /// Enforces a council action, which blocks the key or account. An earlier proposal is not necessary. Fails if the
    /// key or account does not exist, or if an action against it is already enforced.
    pub fn enforce(
        &self,
        subject: GovernanceSubject,
        reason: &str,
    ) -> Result<DecisionView, OperatorError> {
        self.decide(subject, GovernanceStatus::Enforced, reason, "governance.enforce")
    }

    /// Lifts a council action that was proposed or enforced. Fails if there is no such action.
    pub fn lift(
        &self,
        subject: GovernanceSubject,
        reason: &str,
    ) -> Result<DecisionView, OperatorError> {
        self.decide(subject, GovernanceStatus::Lifted, reason, "governance.lift")
    }

    /// Suspends a partner, which blocks all keys of the accounts that are assigned to the partner. Fails if the partner
    /// has no account or is already suspended.
    pub fn suspend_partner(
        &self,
        partner: &PartnerId,
        reason: &str,
    ) -> Result<DecisionView, OperatorError> {
        let subject = GovernanceSubject::Partner(partner.clone());
        self.decide(subject, GovernanceStatus::Enforced, reason, "partner.suspend")
    }

    /// Ends the suspension of a partner. The suspension no longer blocks the keys of the partner's accounts. Fails if
    /// the partner is not suspended.
    pub fn restore_partner(
        &self,
        partner: &PartnerId,
        reason: &str,
    ) -> Result<DecisionView, OperatorError> {
        let subject = GovernanceSubject::Partner(partner.clone());
        self.decide(subject, GovernanceStatus::Lifted, reason, "partner.restore")
    }

    /// Assigns an account to a partner (a group of accounts that operators can suspend together). Replaces the previous
    /// partner of the account. Fails if the account is closed or does not exist.
    pub fn assign_partner(
        &self,
        account: &AccountId,
        partner: &PartnerId,
    ) -> Result<PartnerAssigned, OperatorError> {
        self.perform(|tx| {
            if !tx.lock_account(account)? {
                return Err(NO_OPEN_ACCOUNT.into());
            }
            tx.set_partner(account, Some(partner))?;
            let partner = partner.as_str().to_owned();
            let detail = json!({"partner": partner});
            let assigned = PartnerAssigned { account_id: *account, partner };
            let record = ActionRecord::of_account("partner.assign", account, detail);
            Ok((assigned, record))
        })
    }

    fn decide(
        &self,
        subject: GovernanceSubject,
        to: GovernanceStatus,
        reason: &str,
        action: &'static str,
    ) -> Result<DecisionView, OperatorError> {
        let change = StatusChange { subject, to, reason, action };
        let now = self.clock.now();
        let fresh_id = DecisionId::new(now, random()?);
        self.perform(|tx| {
            require_subject(tx, &change)?;
            let open = tx.open_decisions(&change.subject)?;
            let open = open.into_iter().find(|decision| decision.reason.kind == change.kind());
            let from = open.as_ref().map(|decision| decision.reason.status);
            change.check(from)?;
            let decision =
                change.decision(open.as_ref().map_or(fresh_id, |open| open.id), now, self);
            match open {
                Some(_) => tx.update_decision(&decision)?,
                None => tx.insert_decision(&decision)?,
            }
            let subject = change.subject.to_string();
            let detail = json!({"from": from, "reason": change.reason});
            let record = ActionRecord::new(change.action, &subject, change.concerned(), detail);
            let GovernanceDecision { reason, by, .. } = decision;
            Ok((DecisionView { subject, decision: reason, by }, record))
        })
    }
}

/// A requested change of the status of a decision.
struct StatusChange<'a> {
    subject: GovernanceSubject,
    to: GovernanceStatus,
    reason: &'a str,
    action: &'static str,
}

impl StatusChange<'_> {
    fn kind(&self) -> GovernanceKind {
        match &self.subject {
            GovernanceSubject::Account(_) | GovernanceSubject::Key(_) => {
                GovernanceKind::CouncilAction
            }
            GovernanceSubject::Partner(_) => GovernanceKind::PartnerSuspension,
        }
    }

    fn concerned(&self) -> Concerned {
        match &self.subject {
            GovernanceSubject::Account(account) => Concerned::Account(*account),
            GovernanceSubject::Key(key) => Concerned::Key(*key),
            GovernanceSubject::Partner(_) => Concerned::Service,
        }
    }

    fn check(&self, from: Option<GovernanceStatus>) -> Result<(), OperatorError> {
        use GovernanceStatus as S;
        match (from, self.to) {
            (None | Some(S::Lifted), S::Lifted) => {
                Err(OperatorError::NotFound("decision in force or proposed"))
            }
            (Some(S::Enforced), S::Enforced) => {
                Err(OperatorError::Pointless("this is enforced already; lift it first"))
            }
            (Some(S::Enforced), S::Proposed) => {
                Err(OperatorError::Pointless("this is enforced already, not merely proposed"))
            }
            (Some(S::Proposed), S::Proposed) => {
                Err(OperatorError::Pointless("this is proposed already; enforce or lift it"))
            }
            _ => Ok(()),
        }
    }

    fn decision(
        &self,
        id: DecisionId,
        since: Timestamp,
        operator: &Operator,
    ) -> GovernanceDecision {
        let reason = GovernanceReason {
            kind: self.kind(),
            status: self.to,
            reason: self.reason.to_owned(),
            since,
        };
        GovernanceDecision { id, subject: self.subject.clone(), reason, by: operator.actor.clone() }
    }
}

fn require_subject(
    tx: &mut Transaction,
    change: &StatusChange<'_>,
) -> Result<(), Abort<OperatorError>> {
    let (exists, what) = match &change.subject {
        GovernanceSubject::Account(id) => (tx.lock_account(id)?, "open account with this id"),
        GovernanceSubject::Key(id) => (tx.lock_key(id)?.is_some(), "such API key"),
        // A suspension can be lifted even if the partner has no account any more.
        GovernanceSubject::Partner(_) if change.to == GovernanceStatus::Lifted => {
            return Ok(());
        }
        GovernanceSubject::Partner(id) => {
            (tx.count_accounts_of(id)? > 0, "account of this partner")
        }
    };
    if exists { Ok(()) } else { Err(OperatorError::NotFound(what).into()) }
}
